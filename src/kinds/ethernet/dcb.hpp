// SPDX-License-Identifier: Apache-2.0
// The kind "dcb": data center bridging of Ethernet interfaces.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include "kinds/kind.hpp"
#include "model/types/dcb_types.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kDcbKind = "dcb";

/// Data center bridging of an Ethernet interface: flow control by priority (PFC, IEEE 802.1Qbb), traffic
/// classes (ETS, 802.1Qaz) and the priority of each DSCP.
struct InterfaceDcb {
  std::optional<model::InterfaceName> interface;
  std::optional<model::Priorities> priorities;
  std::optional<model::TrafficClasses> traffic_classes;
  std::optional<model::Bandwidth> bandwidth;
  std::optional<model::ClassSet> strict;
  std::optional<std::vector<std::string>> algorithms;
  std::optional<model::DscpMap> dscp;
  std::optional<model::TrustOrder> trust;
  std::optional<model::Dcbx> dcbx;
  std::optional<std::string> classified_by;
  std::optional<std::string> switch_port;
  std::optional<std::int64_t> pfc_capability;
  std::optional<std::int64_t> class_count;
  std::optional<bool> willing;

  static constexpr auto kFields = std::tuple{
      model::field("interface", &InterfaceDcb::interface, model::Role::kIdentity,
                   "Ethernet interface, by its name after all renames.", "-"),
      model::field("priorities", &InterfaceDcb::priorities, model::Role::kSetting,
                   "Priorities that are lossless, such as [3]; [] switches PFC off."),
      model::field("traffic_classes", &InterfaceDcb::traffic_classes, model::Role::kSetting,
                   "Traffic class of each priority 0 to 7, such as [0, 0, 0, 1, 0, 0, 0, 0]."),
      model::field("bandwidth", &InterfaceDcb::bandwidth, model::Role::kSetting,
                   "Percent of the bandwidth for each traffic class, such as [50, 50]; together 100."),
      model::field("strict", &InterfaceDcb::strict, model::Role::kPolicy,
                   "Traffic classes with strict priority; the others share the bandwidth (ETS).",
                   "none if bandwidth is written; else left unchanged"),
      model::field("algorithms", &InterfaceDcb::algorithms, model::Role::kDerived,
                   "How each traffic class is served: strict, ets, shaper or vendor; idle where no priority "
                   "maps to it and it has no share. Follows from strict and bandwidth."),
      model::field("dscp", &InterfaceDcb::dscp, model::Role::kSetting,
                   "Priority of each DSCP, such as [\"26:3\", \"48:6\"]; others that the interface has are "
                   "removed. Which "
                   "priority those have depends on the driver (docs/HARDWARE.md)."),
      model::field(
          "trust", &InterfaceDcb::trust, model::Role::kSetting,
          "Selectors that the adapter trusts, in order of precedence, such as [\"dscp\", \"pcp\"]; [] "
          "trusts none. "
          "Needs Linux 6.2 and a driver that supports it (docs/HARDWARE.md)."),
      model::field(
          "dcbx", &InterfaceDcb::dcbx, model::Role::kSetting,
          "Side that negotiates with the switch: \"host\", which leaves the settings as written here, or the "
          "\"firmware\" of the adapter."),
      model::field(
          "classified_by", &InterfaceDcb::classified_by, model::Role::kDerived,
          "Source of a packet's priority: its DSCP, its VLAN tag, the port's default, or the adapter's "
          "firmware. Follows from dscp, trust and the driver."),
      model::field("switch_port", &InterfaceDcb::switch_port, model::Role::kDerived,
                   "Settings that the switch port needs to match."),
      model::field("pfc_capability", &InterfaceDcb::pfc_capability, model::Role::kFact,
                   "Maximum number of lossless traffic classes.", "-"),
      model::field("class_count", &InterfaceDcb::class_count, model::Role::kFact,
                   "Number of traffic classes of the adapter.", "-"),
      model::field("willing", &InterfaceDcb::willing, model::Role::kDerived,
                   "Whether the port accepts the traffic classes that the switch recommends. Follows from "
                   "traffic_classes and bandwidth where the driver keeps it (ice): off.")};
};

const Kind& dcb();

/// An interface's DCB, settings and facts.
InterfaceDcb describe_dcb(const system::DcbState& state);

}  // namespace rdmacfg::kinds
