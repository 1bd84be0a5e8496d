// SPDX-License-Identifier: Apache-2.0
// What other people's configuration says about interfaces that we configure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// Whether a keyfile, unless NetworkManager leaves it alone (autoconnect=false), is for the interface `id`
/// (GUID, or GUID/P_Key), now called `name`. `parents`: what a profile may call the port of a P_Key
/// interface, the name of its interface and UUIDs of its profiles.
bool profile_is_for(const std::string& text, const std::string& id, const std::string& name,
                    const std::set<std::string>& parents = {});

/// Warns of other profiles of NetworkManager for the interfaces of our profiles, with their files.
void warn_of_foreign_profiles(const std::vector<model::Desired>& desired, World& world,
                              model::Diagnostics& diagnostics);

/// Warns where an interface with the direct backend is configured by somebody else's files too: profiles of
/// NetworkManager, ifcfg files, ifupdown, netplan and cloud-init.
void warn_of_other_configurations(const std::vector<model::Desired>& desired, World& world,
                                  model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
