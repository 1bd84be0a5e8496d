// SPDX-License-Identifier: Apache-2.0
// Numbered lines, GUIDs and addresses, of which the documents and files of any size consist.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>

namespace rdmacfg::bench {

using Line = std::function<std::string(int i)>;

inline std::string lines(int n, const Line& line) {
  std::string out;
  for (int i = 0; i < n; ++i) out += line(i);
  return out;
}

inline std::string guid(int i) {
  return fmt::format("00:02:c9:03:{:02x}:{:02x}:{:02x}:{:02x}", i >> 24 & 0xff, i >> 16 & 0xff, i >> 8 & 0xff,
                     i & 0xff);
}
inline std::string guid_number(int i) { return fmt::format("0x0002c903{:08x}", i); }
inline std::string pci(int i) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{}", i >> 13, i >> 8 & 0x1f, i >> 3 & 0x1f, i & 7);
}
inline std::string address(int i) {
  return fmt::format("10.{}.{}.{}", i >> 14 & 0x7f, i >> 7 & 0x7f, (i & 0x7f) + 1);
}

}  // namespace rdmacfg::bench
