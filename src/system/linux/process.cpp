// SPDX-License-Identifier: Apache-2.0
#include "system/linux/process.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace rdmacfg::system::detail {

bool catches(std::int64_t pid, int signal) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view kName = "SigCgt:";
    if (!line.starts_with(kName)) continue;
    const auto digits = base::trim(std::string_view(line).substr(kName.size()));
    std::uint64_t mask = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), mask, 16);
    return signal > 0 && signal <= 64 && (mask >> static_cast<unsigned>(signal - 1) & 1U) != 0;
  }
  return false;
}

}  // namespace rdmacfg::system::detail
