// SPDX-License-Identifier: Apache-2.0
// /proc/net/tcp and tcp6 as the kernel of this machine prints them. Source: get_tcp4_sock(), get_tcp6_sock().
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "model/types/inet_types.hpp"

namespace rdmacfg::fakes {

inline constexpr std::string_view kEstablished = "01", kListening = "0A";

/// "192.0.2.7", 22 as "070200C0:0016": each 32 bits of the address are a number in the machine's byte order.
inline std::string proc_tcp_end(std::string_view address, unsigned port) {
  const auto parsed = model::IpAddress::parse(address).value();
  std::string out;
  for (std::size_t at = 0; at < parsed.size(); at += sizeof(std::uint32_t)) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, parsed.bytes.data() + at, sizeof bits);
    out += fmt::format("{:08X}", bits);
  }
  return out + fmt::format(":{:04X}", port);
}

/// The table with one socket, both ends of which are of proc_tcp_end().
inline std::string proc_tcp(std::string_view local, std::string_view remote,
                            std::string_view state = kEstablished) {
  return fmt::format(
      "  sl  local_address rem_address   st\n"
      "   0: {} {} {} 00000000:00000000 00:00000000 00000000     0        0 1 1 0\n",
      local, remote, state);
}

}  // namespace rdmacfg::fakes
