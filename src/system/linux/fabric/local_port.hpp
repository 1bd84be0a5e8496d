// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "system/linux/fabric/libraries.hpp"

namespace rdmacfg::system::detail {

/// A port of this host, as libibumad sees it.
struct LocalPort {
  std::string device;
  int number = 0;
  std::uint64_t guid = 0;
  std::uint64_t prefix = 0;
  int lid = 0, sm_lid = 0, sm_sl = 0;
  int state = 0, physical = 0;
  /// Of a port with several planes, another device with the same port GUID: the one has subnet management,
  /// the other all other management classes (Linux 6.12, `rdma dev add NAME type SMI parent DEVICE`).
  std::string twin{};
  int twin_number = 0;

  [[nodiscard]] std::string name() const;
};

/// The InfiniBand port "mlx5_0/1", or with "" the first active one, else the first with a link. Fails in
/// words for an administrator where there is none.
base::Result<LocalPort> find_local_port(const FabricLibraries& libraries, const std::string& wanted);

/// A port, open for subnet management and for the other classes: both the same, but for one with several
/// planes.
struct ManagementPorts {
  ibmad_port* subnet = nullptr;
  ibmad_port* services = nullptr;
};

/// @param targets  with device management, which tells of SRP targets
/// @return null pointers when it cannot be opened
ManagementPorts open_management(const FabricLibraries& libraries, const LocalPort& port, bool targets);

/// Why the umad device of a port cannot be opened.
base::Error why_not_open(const LocalPort& port);

}  // namespace rdmacfg::system::detail
