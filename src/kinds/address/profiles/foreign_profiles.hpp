// SPDX-License-Identifier: Apache-2.0
// Other people's configuration of interfaces that we configure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// Whether a file of another tool speaks of an interface, other than as the parent of a P_Key interface.
bool is_about(const std::string& text, const std::string& interface);

/// The value of `key` in a file of shell assignments, without quotes; the last one counts.
std::string assigned(const std::string& text, std::string_view key);

/// Whether a keyfile, unless NetworkManager leaves it alone (autoconnect=false), is for the interface `id`
/// (GUID, or GUID/P_Key), now called `name`. `parents`: the names that a profile may use for the port of a
/// P_Key interface, the name of its interface and UUIDs of its profiles.
bool profile_is_for(const std::string& text, const std::string& id, const std::string& name,
                    const std::set<std::string>& parents = {});

/// The names that profiles may use for the port of an interface `id`: the name of its interface, and UUIDs of
/// profiles for it, ours among them.
std::set<std::string> names_of_port(const std::string& id, World& world);

/// A file of somebody else's.
struct ForeignFile {
  std::string file;
  std::string text;
};

/// The profiles of others that NetworkManager reads, in all its folders; one of the distribution counts
/// unless another has its UUID or it was deleted. Read once for a world: each P_Key interface asks for them.
const std::vector<ForeignFile>& profiles_of_others(World& world);

/// A profile of somebody else's.
struct ForeignProfile {
  std::string file;
  std::string id;  ///< its name for people, which nmcli takes
};

ForeignProfile foreign_profile(const ForeignFile& file);

/// How NetworkManager is kept from activating a profile, for an administrator.
std::string how_to_keep_off(const ForeignProfile& profile);

/// The one for which NetworkManager makes this P_Key interface, under this very name, whenever it starts. It
/// names such interfaces by the P_Key as it is written, without the membership bit too.
std::optional<ForeignProfile> profile_that_makes(const system::Link& child, World& world);

/// The remedy for an administrator.
std::string how_to_stop(const ForeignProfile& profile, std::string_view interface);

/// Warns of other profiles of NetworkManager for the interfaces of our profiles, with their files.
void warn_of_foreign_profiles(const std::vector<model::Desired>& desired, World& world,
                              model::Diagnostics& diagnostics);

/// Warns where an interface with the direct backend is configured by somebody else's files too: profiles of
/// NetworkManager, ifcfg files, ifupdown, netplan and cloud-init.
void warn_of_other_configurations(const std::vector<model::Desired>& desired, World& world,
                                  model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
