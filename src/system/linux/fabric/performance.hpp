// SPDX-License-Identifier: Apache-2.0
// Counters of a port, asked for by performance management datagrams. Source: InfiniBand architecture 16.1.
#pragma once

#include <cstdint>
#include <optional>

#include "fabric/counters.hpp"
#include "system/linux/fabric/libraries.hpp"

namespace rdmacfg::system::detail {

/// The abilities of the performance agent of a node: the CapabilityMask of its ClassPortInfo. Nothing without
/// an answer.
std::optional<std::uint16_t> counter_abilities(const FabricLibraries& libraries, ibmad_port& port, int lid,
                                               int number);

/// 64 bits wide where the agent has such, and else as wide as PortCounters, where a counter stops at its end.
std::optional<fabric::PortCounters> read_counters(const FabricLibraries& libraries, ibmad_port& port, int lid,
                                                  int number, std::uint16_t abilities);

/// Sets all but those of traffic to 0. @return whether the agent answered
bool clear_counters(const FabricLibraries& libraries, ibmad_port& port, int lid, int number);

}  // namespace rdmacfg::system::detail
