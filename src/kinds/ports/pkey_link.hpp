// SPDX-License-Identifier: Apache-2.0
// A P_Key interface: its settings, and which interface of the host a key means.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kinds/world.hpp"
#include "model/field.hpp"

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
                   "Partition key; 0x0002 and 0x8002 are the same partition. The subnet manager decides the "
                   "membership.",
                   "-"),
      model::field("name", &PkeyLink::name, model::Role::kSetting,
                   "Name of the interface, at most 15 characters.",
                   "PARENT.%04x of the P_Key with the membership bit: mlx4_ib0.8002"),
      model::field("mode", &PkeyLink::mode, model::Role::kSetting,
                   "Transport mode: datagram or connected, independent of the parent's.",
                   "left unchanged; new ones are datagram"),
      model::field("mtu", &PkeyLink::mtu, model::Role::kSetting,
                   "MTU in bytes: at most the IB link MTU minus 4 in datagram mode (2044, 4092), 65520 in "
                   "connected mode."),
      model::field("umcast", &PkeyLink::umcast, model::Role::kSetting,
                   "Whether user space handles multicast group membership (IFLA_IPOIB_UMCAST)."),
      model::field(
          "state", &PkeyLink::state, model::Role::kSetting,
          "up or down (administratively); absent removes the interface; ignore leaves all of it alone.",
          "that of the parent"),
      model::field(
          "on_unsupported", &PkeyLink::on_unsupported, model::Role::kPolicy,
          "Action if the adapter does not support connected mode: fail, or use datagram mode instead.",
          "fail"),
      model::field("managed_by", &PkeyLink::managed_by, model::Role::kDerived,
                   "Program that configured the interface, if not rdma-configd: networkmanager.", "-"),
      model::field("carrier", &PkeyLink::carrier, model::Role::kFact,
                   "Whether the interface has joined its partition.", "-"),
      model::field("membership", &PkeyLink::membership, model::Role::kFact,
                   "Membership according to the port's P_Key table: full, limited or none.", "-"),
      model::field("parent", &PkeyLink::parent, model::Role::kFact, "Interface of the port.", "-")};
};

namespace detail {

/// The meaning of a key of this kind: "<port GUID>/0x8002", and "#name" behind it for a second child of one
/// partition.
struct PkeyId {
  model::Guid guid;
  model::Pkey pkey;
  std::string name;
};

std::optional<PkeyId> pkey_id(const model::Key& key);

/// The interfaces of a key's partition over its port, in the order of their indexes.
const std::vector<const system::Link*>& siblings_of(const PkeyId& id, const World& world);

/// That of `links` with this name; nullptr without one.
const system::Link* called(const std::vector<const system::Link*>& links, std::string_view name);

/// The child that a key means now; nullptr without one. Of several the one called `name`, else the one that
/// the clues of the world speak of (ours, the one named as wanted), else the first.
const system::Link* child_of(const PkeyId& id, const World& world, std::string_view name = {});

/// The names that the kernel may give a child that is made by sysfs (ipoib_vlan_add()): PARENT.%04x as a
/// whole, or of at most 10 characters of PARENT. One name where the two are the same.
std::vector<std::string> first_names(std::string_view parent, model::Pkey pkey);

/// Those that the running kernel may give: from Linux 6.10 on the one with 10 characters of PARENT alone.
/// Earlier releases do not tell by their numbers whether they have that change.
std::vector<std::string> first_names(std::string_view parent, model::Pkey pkey, const World& world);

}  // namespace detail

}  // namespace rdmacfg::kinds
