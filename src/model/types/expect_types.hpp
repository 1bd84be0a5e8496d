// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "model/field.hpp"

namespace rdmacfg::model {

/// A number that is expected: 1 to 10^15.
struct Amount {
  std::int64_t number = 0;
  auto operator<=>(const Amount&) const = default;
};

/// An amount of something of which no hardware has more than `kMost`, which the message about a wrong value
/// says. Larger ones are parsed, so that theirs can say the unit.
template <std::int64_t kMost>
struct AmountUpTo {
  std::int64_t number = 0;
  auto operator<=>(const AmountUpTo&) const = default;
};

/// @param most  as the message has it: "8192"
base::Result<std::int64_t> parse_amount(const Value& written, std::string_view most);

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
template <std::int64_t kMost>
struct Codec<AmountUpTo<kMost>> {
  static constexpr std::string_view kType = "integer";
  static constexpr std::string_view kSchema = Codec<Amount>::kSchema;
  static base::Result<AmountUpTo<kMost>> parse(const Value& written) {
    const auto number = parse_amount(written, std::to_string(kMost));
    if (!number) return base::fail(number.error());
    return AmountUpTo<kMost>{*number};
  }
  static Value value(const AmountUpTo<kMost>& parsed) { return parsed.number; }
};
RDMACFG_CODEC(Most, "integer", R"({"type":"integer","minimum":0,"maximum":1000000000000000})");
RDMACFG_CODEC(
    Window, "seconds, or \"10m\", \"1h\", \"7d\"",
    R"({"oneOf":[{"type":"integer","minimum":60,"maximum":2592000},{"type":"string","pattern":"^[0-9]+[smhd]$"}]})");

}  // namespace rdmacfg::model
