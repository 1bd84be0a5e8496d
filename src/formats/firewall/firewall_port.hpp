// SPDX-License-Identifier: Apache-2.0
// A port of the host that a firewall accepts packets to, or does not.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace rdmacfg::kinds {

struct FirewallPort {
  std::string_view protocol;  ///< "tcp", "udp"
  std::uint16_t number = 0;

  /// As firewall-cmd takes it: "4791/udp".
  [[nodiscard]] std::string text() const { return fmt::format("{}/{}", number, protocol); }

  /// Whether "4791" or a range such as "4000-5000" includes the number.
  [[nodiscard]] bool in(std::string_view range) const {
    const auto dash = range.find('-');
    const auto first = base::parse_number(base::trim(range.substr(0, dash)));
    const auto last =
        dash == std::string_view::npos ? first : base::parse_number(base::trim(range.substr(dash + 1)));
    const std::uint64_t wanted = number;
    return first && last && *first <= wanted && wanted <= *last;
  }
};

}  // namespace rdmacfg::kinds
