// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "kinds/kind.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kPkeyKind = "pkey";

/// A P_Key interface (a child of a port's IPoIB interface).
struct PkeyLink {
  std::optional<model::Pkey> pkey;
  std::optional<model::InterfaceName> name;
  std::optional<model::IpoibMode> mode;
  std::optional<model::Mtu> mtu;
  std::optional<bool> umcast;
  std::optional<model::State> state;
  std::optional<model::OnUnsupported> on_unsupported;
  std::optional<std::string> managed_by;
  std::optional<bool> carrier;
  std::optional<std::string> membership;
  std::optional<std::string> parent;

  static constexpr auto kFields = std::tuple{
      model::field("pkey", &PkeyLink::pkey, model::Role::kIdentity,
                   "Partition key; 0x0002 and 0x8002 are the same partition. Membership is the subnet "
                   "manager's matter.",
                   "-"),
      model::field("name", &PkeyLink::name, model::Role::kSetting,
                   "Name of the interface, at most 15 characters.",
                   "PARENT.%04x of the P_Key with the membership bit: mlx4_ib0.8002"),
      model::field("mode", &PkeyLink::mode, model::Role::kSetting,
                   "Transport: datagram or connected, whatever the parent has.",
                   "left as it is; new ones are datagram"),
      model::field("mtu", &PkeyLink::mtu, model::Role::kSetting,
                   "MTU in bytes: at most the IB link's less 4 in datagram mode (2044, 4092), 65520 in "
                   "connected mode."),
      model::field("umcast", &PkeyLink::umcast, model::Role::kSetting,
                   "Whether user space handles multicast group membership (IFLA_IPOIB_UMCAST)."),
      model::field(
          "state", &PkeyLink::state, model::Role::kSetting,
          "up or down (administratively); absent removes the interface; ignore leaves all of it alone.",
          "that of the parent"),
      model::field(
          "on_unsupported", &PkeyLink::on_unsupported, model::Role::kPolicy,
          "What to do where the adapter cannot do connected mode: fail, or use datagram mode instead.",
          "fail"),
      model::field("managed_by", &PkeyLink::managed_by, model::Role::kDerived,
                   "Who has set the interface up, where it is not rdma-configd: networkmanager.", "-"),
      model::field("carrier", &PkeyLink::carrier, model::Role::kFact,
                   "Whether the interface has joined its partition.", "-"),
      model::field("membership", &PkeyLink::membership, model::Role::kFact,
                   "Membership as the port's P_Key table has it: full, limited or none.", "-"),
      model::field("parent", &PkeyLink::parent, model::Role::kFact, "Interface of the port.", "-")};
};

const Kind& pkey();

namespace detail {

/// In Desired::policy: NetworkManager makes the interface, once its profile is active.
inline constexpr std::string_view kMadeWhenActive = "made_when_active";

/// What a key of this kind means: "<port GUID>/0x8002", and "#name" behind it for a second child of one
/// partition.
struct PkeyId {
  model::Guid guid;
  model::Pkey pkey;
  std::string name;
};

std::optional<PkeyId> pkey_id(const model::Key& key);

/// The interfaces of a key's partition over its port, in the order of their indexes.
const std::vector<const system::Link*>& siblings_of(const PkeyId& id, const World& world);

/// The child that a key means now; nullptr without one. Of several the one called `name`, else the one that
/// the clues of the world speak of (ours, the one named as wanted), else the first.
const system::Link* child_of(const PkeyId& id, const World& world, std::string_view name = {});

/// The one that a change is about, never one beside it; for a deletion only under the name that it had.
const system::Link* child_of(const model::Change& change, const World& world);

/// What the kernel calls a child that is made by sysfs: PARENT.%04x, cut to what fits.
std::string kernel_name(std::string_view parent, model::Pkey pkey);

/// Kind::parse().
void parse_children(const Bound& bound, std::vector<model::Desired>& out, model::Diagnostics& diagnostics);

/// Kind::check(), with what `prune` implies added.
void check_children(std::vector<model::Desired>& desired, const std::vector<model::Observed>& observed,
                    World& world, model::Diagnostics& diagnostics);

/// Indexes of the P_Key interfaces that the plan will delete: absent, pruned, or ours and dropped.
std::set<int> leaving(const std::vector<model::Desired>& desired,
                      const std::vector<model::Observed>& observed, const World& world);

base::Result<void> create_children(std::span<const model::Change> changes, system::Host& host);
base::Result<void> update_children(std::span<const model::Change> changes, system::Host& host);
/// The same as update_children(), but interfaces that NetworkManager is to make are deleted, and those that
/// it had made for somebody else's profile are made by it again when that is taken back.
base::Result<void> update_or_hand_over(std::span<const model::Change> changes, system::Host& host);

/// Has the changes that hand an interface over carry the profile of somebody else's that NetworkManager has
/// it for.
base::Result<void> carry_profiles(std::span<model::Change*> changes, const World& world);

/// Kind::clear_away(): the carried profiles that are not active, after undoing.
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
