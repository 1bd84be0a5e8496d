// SPDX-License-Identifier: Apache-2.0
// Answers of ports, as values of ours. Source: InfiniBand architecture 14.2.5.6 (PortInfo), 15.2.5.17
// (MCMemberRecord).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/fabric.hpp"

namespace rdmacfg::system::detail {

/// A set of LinkWidth bits (1X, 4X, 8X, 12X, 2X) in the order of fabric::Width.
std::uint16_t widths_of(unsigned bits);

/// The speeds of a port: LinkSpeed bits (SDR, DDR, QDR), LinkSpeedExt bits (FDR, EDR, HDR, NDR; 30:
/// disabled), and whether Mellanox' FDR10 is among them.
std::uint16_t speeds_of(unsigned bits, unsigned extended, bool fdr10);

/// Bytes of an MTU code (1: 256 to 5: 4096); 0 for another.
int mtu_of(unsigned code);

/// Tenths of Gbit/s of a rate code; 0 for one that is not known.
int rate_of(unsigned code);

/// The P_Keys of a block of the table that are not empty.
void add_pkeys(std::span<const std::uint8_t> block, std::vector<std::uint16_t>& out);

/// The groups of an answer of the subnet administrator (a whole datagram, its data behind byte 56), each
/// once, at most `most`. Nothing where it says that it failed.
std::optional<std::vector<fabric::Group>> groups_in(std::span<const std::uint8_t> answer, std::size_t most);

}  // namespace rdmacfg::system::detail
