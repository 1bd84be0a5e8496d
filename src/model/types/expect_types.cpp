// SPDX-License-Identifier: Apache-2.0
#include "model/types/expect_types.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/text.hpp"

namespace rdmacfg::model {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr std::int64_t kLargestAmount = 1'000'000'000'000'000;
constexpr std::string_view kLargestText = "10^15";
constexpr std::int64_t kShortestWindow = 60, kLongestWindow = 30LL * 24 * 3600;

std::optional<std::int64_t> within(const Value& written, std::int64_t least) {
  const auto* number = std::get_if<std::int64_t>(&written);
  if (number == nullptr || *number < least || *number > kLargestAmount) return std::nullopt;
  return *number;
}

std::int64_t unit_seconds(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 24 * 3600;
    default:
      return 0;
  }
}

std::optional<std::int64_t> seconds_of(const Value& written) {
  if (const auto* number = std::get_if<std::int64_t>(&written)) return *number;
  const auto* text = std::get_if<std::string>(&written);
  if (text == nullptr || text->empty()) return std::nullopt;
  const auto number = base::parse_number(std::string_view(*text).substr(0, text->size() - 1));
  const auto unit = unit_seconds(text->back());
  if (!number || unit == 0 || *number > static_cast<std::uint64_t>(kLongestWindow)) return std::nullopt;
  return static_cast<std::int64_t>(*number) * unit;
}

std::string range_error(const Value& written, int least, std::string_view most) {
  if (const auto* number = std::get_if<std::int64_t>(&written))
    return fmt::format("{} is out of range; must be from {} to {}", *number, least, most);
  return fmt::format("must be an integer from {} to {}{}", least, most,
                     std::holds_alternative<std::string>(written) ? ", without quotes or a unit" : "");
}

}  // namespace

Result<std::int64_t> parse_amount(const Value& written, std::string_view most) {
  if (const auto number = within(written, 1)) return *number;
  return fail(Code::kInvalid, range_error(written, 1, most));
}

Result<Amount> Codec<Amount>::parse(const Value& written) {
  const auto number = parse_amount(written, kLargestText);
  if (!number) return fail(number.error());
  return Amount{*number};
}
Value Codec<Amount>::value(const Amount& parsed) { return parsed.number; }

Result<Most> Codec<Most>::parse(const Value& written) {
  if (const auto number = within(written, 0)) return Most{*number};
  return fail(Code::kInvalid, range_error(written, 0, kLargestText));
}
Value Codec<Most>::value(const Most& parsed) { return parsed.number; }

Result<Window> Codec<Window>::parse(const Value& written) {
  const auto seconds = seconds_of(written);
  if (seconds && *seconds >= kShortestWindow && *seconds <= kLongestWindow) return Window{*seconds};
  const auto* text = std::get_if<std::string>(&written);
  const auto* number = std::get_if<std::int64_t>(&written);
  const auto found = text != nullptr     ? fmt::format("is \"{}\"; ", *text)
                     : number != nullptr ? fmt::format("is {}; ", *number)
                                         : std::string();
  return fail(Code::kInvalid,
              found + "must be a time from \"60s\" to \"30d\", such as \"10m\" or \"1h\", or its seconds");
}
Value Codec<Window>::value(const Window& parsed) { return parsed.seconds; }

}  // namespace rdmacfg::model
