// SPDX-License-Identifier: Apache-2.0
// The kind "pkey": P_Key interfaces. Source: drivers/infiniband/ulp/ipoib/ipoib_netlink.c, ipoib_vlan.c.
#pragma once

#include <span>
#include <string_view>

#include "kinds/kind.hpp"
#include "kinds/ports/pkey_link.hpp"

namespace rdmacfg::kinds {

const Kind& pkey();

namespace detail {

/// In Desired::policy: NetworkManager makes the interface, once its profile is active.
inline constexpr std::string_view kMadeWhenActive = "made_when_active";

/// The interface that a change is about, never one beside it; for a deletion only under the name that it had.
const system::Link* child_of(const model::Change& change, const World& world);

/// Kind::parse().
void parse_children(const Bound& bound, std::vector<model::Desired>& out, model::Diagnostics& diagnostics);

/// Kind::check(), with what `prune` implies added.
void check_children(std::vector<model::Desired>& desired, const std::vector<model::Observed>& observed,
                    World& world, model::Diagnostics& diagnostics);

base::Result<void> create_children(std::span<const model::Change> changes, system::Host& host);
base::Result<void> update_children(std::span<const model::Change> changes, system::Host& host);
/// The same as update_children(), but interfaces that NetworkManager is to make are deleted, and those that
/// it had made for somebody else's profile are made by it again when that is taken back.
base::Result<void> update_or_hand_over(std::span<const model::Change> changes, system::Host& host);

/// Has the changes that hand an interface over carry the profile of somebody else's that NetworkManager has
/// it for.
base::Result<void> carry_profiles(std::span<model::Change*> changes, const World& world);

/// ClearsAway::clear_away(): the carried profiles that are not active, after undoing.
std::vector<std::string> profiles_not_back(std::span<const model::Change> changes, system::Host& host);

/// Whether the change leaves it to NetworkManager to make the interface, or takes it away from it.
bool hands_over(const model::Change& change);
bool changes_hands(const model::Change& change);

/// NetworkManager deletes only P_Key interfaces that it has made: one that is there goes before it is made
/// from its profile.
void hand_to_network_manager(std::vector<model::Desired>& desired,
                             const std::vector<model::Observed>& observed, World& world);

base::Result<void> delete_children(std::span<const model::Change> changes, system::Host& host);

}  // namespace detail

}  // namespace rdmacfg::kinds
