// SPDX-License-Identifier: Apache-2.0
// Port types of ConnectX-3 adapters. Source: drivers/net/ethernet/mellanox/mlx4/main.c (set_port_type).
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::system {

/// An adapter whose ports can be InfiniBand or Ethernet.
struct Mlx4Device {
  std::string pci;                 ///< "0000:10:00.0"
  std::vector<std::string> types;  ///< of port 1 and 2, as the driver has them: "ib", "eth", "auto (ib)"
  bool fixed = false;              ///< the driver takes no other: SR-IOV is on, or it is a virtual function
};

class Mlx4Ports {
 public:
  virtual ~Mlx4Ports() = default;

  /// All adapters of that sort, by PCI address.
  virtual base::Result<std::vector<Mlx4Device>> observe_mlx4() = 0;

  /// Writes the type of a port: "ib", "eth" or "auto". The whole RDMA device goes away and comes back.
  virtual base::Result<void> set_type(const std::string& pci, int port, const std::string& type) = 0;
};

}  // namespace rdmacfg::system
