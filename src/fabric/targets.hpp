// SPDX-License-Identifier: Apache-2.0
// SRP targets that I/O controllers of a fabric offer, as device management tells of them. Sources: InfiniBand
// architecture 16.3.3 (IOUnitInfo, IOControllerProfile, ServiceEntries); T10 SRP, annex B (service names).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rdmacfg::fabric {

/// IOControllerProfile's IO_class of SRP as T10 has it; 0xff00 of its revision 10.
inline constexpr std::uint16_t kSrpIoClass = 0x0100;

struct Target {
  std::uint64_t port_guid = 0;  ///< of the port behind which its controller is
  std::uint64_t id_ext = 0, ioc_guid = 0, service_id = 0;
  std::uint16_t io_class = kSrpIoClass;
  std::string controller;  ///< how the controller calls itself; without control characters, may be empty
  bool operator==(const Target&) const = default;
};

/// A target seen over a partition, as `ibsrpdm -c` prints it and ib_srp takes it to log in.
/// @param prefix  subnet prefix, "fe80:0000:0000:0000"
/// @param pkey  of the local port's table; 0: unknown
std::string text_of(const Target& target, std::string_view prefix, std::uint16_t pkey);

}  // namespace rdmacfg::fabric
