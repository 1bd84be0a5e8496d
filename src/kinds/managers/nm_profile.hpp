// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kinds/address/duplicate_check.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"
#include "kinds/kind.hpp"

namespace rdmacfg::kinds {

/// Profiles of NetworkManager. Key: "GUID", "GUID/0x8002".
const Kind& nm_profile();

namespace detail {

/// Writes, loads and activates profiles, under a checkpoint of NetworkManager's while it runs.
base::Result<void> apply_profiles(std::span<const model::Change> changes, system::Host& host);

/// An interface's state of a profile that is up on it: live_mode, live_mtu, missing. Nothing while it is
/// down, or called otherwise than the profile says: then none of it can be in effect.
NmProfile effect_of(const NmProfile& profile, const system::Link& link,
                    const std::vector<system::InetAddress>& addresses);

/// Addresses of the profile that the interface has, and that do not work.
AddressCheck unusable_of(const NmProfile& profile, const system::Link& link,
                         const std::vector<system::InetAddress>& addresses);

/// Whether that is all that the profile says: name, mode, MTU, and every address that is written in it.
bool in_effect(const NmProfile& profile, const NmProfile& effect);

/// Whether a profile that was up was not all in effect.
bool was_disturbed(const NmProfile& then);

/// Undoing a repair: gives the interface of `id` the mode and MTU that it had and the profile has not, and
/// takes what was missing.
base::Result<void> disturb_again(const NmProfile& then, const std::string& id, system::Host& host);

/// For Kind::prepare(): packs keyfiles that are not as rdma-configd writes them.
void carry_keyfiles(std::span<model::Change*> changes, const World& world);

/// For Kind::prepare(): packs mode and MTU of the interface, as they are before a change.
void carry_transport(std::span<model::Change*> changes, const World& world);

/// ClearsAway::clear_away(): sets mode and MTU as they were, where no profile of ours says what they are.
std::vector<std::string> bring_transport_back(std::span<const model::Change> changes, system::Host& host);

}  // namespace detail

}  // namespace rdmacfg::kinds
