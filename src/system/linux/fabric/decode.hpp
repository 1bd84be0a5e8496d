// SPDX-License-Identifier: Apache-2.0
// Answers of ports, as values of ours. Source: InfiniBand architecture 14.2.5.6 (PortInfo), 15.2.5.17
// (MCMemberRecord), 16.3.3 (device management).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fabric/fabric.hpp"

namespace rdmacfg::system::detail {

/// A set of LinkWidth bits (1X, 4X, 8X, 12X, 2X) in the order of fabric::Width.
std::uint16_t widths_of(unsigned bits);

/// LinkSpeedExtActive2, LinkSpeedExtSupported2 and LinkSpeedExtEnabled2 of a PortInfo.
struct SecondSpeeds {
  unsigned active = 0, supported = 0, enabled = 0;
};
/// Those of `info` if the CapabilityMask2 of `able` announces them; else, and of data that is too short,
/// none. Debian 12's libibmad has no names for them.
SecondSpeeds second_speeds_in(std::span<const std::uint8_t> info, std::span<const std::uint8_t> able);

/// The speeds of a port as its PortInfo has them.
struct SpeedBits {
  unsigned first = 0;     ///< LinkSpeed: SDR, DDR, QDR
  unsigned extended = 0;  ///< LinkSpeedExt: FDR, EDR, HDR, NDR; 30: disabled
  bool fdr10 = false;     ///< Mellanox' FDR10 is among them
  unsigned second = 0;    ///< LinkSpeedExt2: XDR
};
std::uint16_t speeds_of(const SpeedBits& bits);

/// Bytes of an MTU code (1: 256 to 5: 4096); 0 for another.
int mtu_of(unsigned code);

/// Tenths of Gbit/s of a rate code; 0 for one that is not known.
int rate_of(unsigned code);

/// The P_Keys of a block of the table that are not empty.
void add_pkeys(std::span<const std::uint8_t> block, std::vector<std::uint16_t>& out);

/// Numbers of the slots of an I/O unit that have a controller, from 1 on. `info`: data of an IOUnitInfo.
std::vector<unsigned> controllers_in(std::span<const std::uint8_t> info);

/// The part of an IOControllerProfile that SRP needs.
struct ControllerProfile {
  std::uint64_t guid = 0;
  std::uint16_t io_class = 0;
  unsigned services = 0;  ///< number of its ServiceEntries
  std::string name;       ///< up to a 0; not yet without control characters
};
/// Nothing of data that is too short.
std::optional<ControllerProfile> profile_in(std::span<const std::uint8_t> data);

/// Services that an answer of ServiceEntries has.
inline constexpr unsigned kServicesOfAnswer = 4;

/// Appends the SRP targets among the first `count` services of such an answer about the controller: those
/// whose name is "SRP.T10:" with an identifier extension.
void add_srp_targets(std::span<const std::uint8_t> data, unsigned count, std::uint64_t port_guid,
                     const ControllerProfile& profile, std::vector<fabric::Target>& out);

/// The groups of an answer of the subnet administrator (a whole datagram, its data behind byte 56), each
/// once, at most `most`. Nothing where it says that it failed.
std::optional<std::vector<fabric::Group>> groups_in(std::span<const std::uint8_t> answer, std::size_t most);

}  // namespace rdmacfg::system::detail
