// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>

#include "formats/mlx4_conf.hpp"
#include "kinds/kind.hpp"
#include "model/types/port_types.hpp"

namespace rdmacfg::kinds {

/// Whether the ports of a ConnectX-3 adapter are InfiniBand or Ethernet.
struct Mlx4PortTypes {
  std::optional<model::PciAddress> pci;
  std::optional<model::PortTypes> ports;
  std::optional<model::PortTypes> at_boot;
  std::optional<std::vector<std::string>> now;

  static constexpr auto kFields = std::tuple{
      model::field("pci", &Mlx4PortTypes::pci, model::Role::kIdentity,
                   "PCI address of the adapter, such as \"0000:10:00.0\".", "-"),
      model::field(
          "ports", &Mlx4PortTypes::ports, model::Role::kSetting,
          "Type of port 1 and port 2: ib, eth or auto. An Ethernet port 1 needs an Ethernet port 2."),
      model::field("at_boot", &Mlx4PortTypes::at_boot, model::Role::kDerived,
                   "Our line in /etc/rdma/mlx4.conf."),
      model::field("now", &Mlx4PortTypes::now, model::Role::kFact, "The driver's type of each port.", "-")};
};

model::SectionSpec mlx4_port_section();
const Kind& mlx4_port();

}  // namespace rdmacfg::kinds
