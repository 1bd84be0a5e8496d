// SPDX-License-Identifier: Apache-2.0
// The way of packets from the local port to another one, by the forwarding tables of the switches between.
// Source: InfiniBand architecture 14.2.5.6 (LinearForwardingTable).
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "fabric/fabric.hpp"
#include "system/linux/fabric/libraries.hpp"

namespace rdmacfg::system::detail {

using Smp = std::array<std::uint8_t, IB_SMP_DATA_SIZE>;

/// Reads a block of 64 LIDs of a switch's forwarding table. @return whether the switch answered
using ReadForwarding = std::function<bool(const ibnd_node_t& node, unsigned block, Smp& table)>;

/// Hops to a port that has a LID, in a fabric that libibnetdisc has discovered; `broken` says why the last
/// hop leads no further.
fabric::Route trace_route(const ibnd_fabric_t& discovered, const ibnd_port_t& target,
                          const ReadForwarding& read_block);

}  // namespace rdmacfg::system::detail
