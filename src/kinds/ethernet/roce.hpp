// SPDX-License-Identifier: Apache-2.0
// The kind "roce": defaults of rdma_cm.
#pragma once

#include <optional>
#include <tuple>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/types/port_types.hpp"

namespace rdmacfg::kinds {

/// Defaults of a RoCE port for connections made by rdma_cm. Programs that choose a GID index themselves
/// (NCCL, UCX) do not look at them.
struct Roce {
  std::optional<model::RdmaName> device;
  std::optional<model::PortNumber> port;
  std::optional<model::InterfaceName> interface;
  std::optional<model::RoceMode> mode;
  std::optional<model::Tos> tos;
  std::optional<model::Dscp> dscp;

  static constexpr auto kFields = std::tuple{
      model::field("device", &Roce::device, model::Role::kIdentity,
                   "RDMA device, by its name after [[rdma_device]]; together with port.", "-"),
      model::field("port", &Roce::port, model::Role::kIdentity, "Port of the device, counted from 1.", "-"),
      model::field(
          "interface", &Roce::interface, model::Role::kIdentity,
          "The port's Ethernet interface, or a bond, which means every port in it, in place of device "
          "and port.",
          "-"),
      model::field(
          "mode", &Roce::mode, model::Role::kSetting,
          "Default RoCE version of connections made by rdma_cm: v1 (one broadcast domain) or v2 (UDP, "
          "routable). Both ends need the same."),
      model::field("tos", &Roce::tos, model::Role::kSetting,
                   "Default IP type of service, 0 to 255: the DSCP times 4 plus the two ECN bits."),
      model::field(
          "dscp", &Roce::dscp, model::Role::kPolicy,
          "Default DSCP, 0 to 63, in place of tos: 26 sets the ToS to 106, ECN-capable as RoCE's congestion "
          "control needs it.")};
};

const Kind& roce();
model::SectionSpec roce_section();

}  // namespace rdmacfg::kinds
