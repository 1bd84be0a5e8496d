// SPDX-License-Identifier: Apache-2.0
// I/O controllers behind a port, asked for by device management datagrams. Source: InfiniBand architecture
// 16.3. Only asks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/targets.hpp"
#include "system/linux/fabric/libraries.hpp"

namespace rdmacfg::system::detail {

struct SrpTargets {
  std::vector<fabric::Target> targets;
  bool complete = true;  ///< every controller has answered, and none came or went while they were read
};

/// The SRP targets that the port with this LID offers; those of a controller that does not answer are left
/// out. Nothing where the port does not answer at all.
std::optional<SrpTargets> read_srp_targets(const FabricLibraries& libraries, ibmad_port& port, int lid,
                                           std::uint64_t port_guid);

}  // namespace rdmacfg::system::detail
