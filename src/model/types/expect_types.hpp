// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "model/field.hpp"

namespace rdmacfg::model {

/// A number that is expected: 1 to 10^15.
struct Amount {
  std::int64_t number = 0;
  auto operator<=>(const Amount&) const = default;
};

/// The most that a counter may have or grow by: 0 to 10^15.
struct Most {
  std::int64_t number = 0;
  auto operator<=>(const Most&) const = default;
};

/// A time over which something is counted. Read as seconds or as "90s", "10m", "1h", "7d"; 60 s to 30 d.
struct Window {
  std::int64_t seconds = 0;
  auto operator<=>(const Window&) const = default;
};

RDMACFG_CODEC(Amount, "integer", R"({"type":"integer","minimum":1,"maximum":1000000000000000})");
RDMACFG_CODEC(Most, "integer", R"({"type":"integer","minimum":0,"maximum":1000000000000000})");
RDMACFG_CODEC(
    Window, "seconds, or \"10m\", \"1h\", \"7d\"",
    R"({"oneOf":[{"type":"integer","minimum":60,"maximum":2592000},{"type":"string","pattern":"^[0-9]+[smhd]$"}]})");

}  // namespace rdmacfg::model
