// SPDX-License-Identifier: Apache-2.0
#include "config/other_values.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/text.hpp"

namespace rdmacfg::config {

namespace {

/// A value that people bring, and ours: of the verbs, cma_roce_mode, nmstate, data sheets, rt_tables.
struct OtherValue {
  std::string_view key, elsewhere, here;
};
constexpr auto kOtherValues = std::to_array<OtherValue>({
    {"mode", "cm", "connected"},    {"mode", "rc", "connected"},   {"mode", "ud", "datagram"},
    {"mode", "dg", "datagram"},     {"mode", "dgram", "datagram"}, {"mode", "rocev1", "v1"},
    {"mode", "roce v1", "v1"},      {"mode", "ib/roce v1", "v1"},  {"mode", "1", "v1"},
    {"mode", "rocev2", "v2"},       {"mode", "roce v2", "v2"},     {"mode", "2", "v2"},
    {"state", "on", "up"},          {"state", "yes", "up"},        {"state", "true", "up"},
    {"state", "enable", "up"},      {"state", "enabled", "up"},    {"state", "present", "up"},
    {"state", "off", "down"},       {"state", "no", "down"},       {"state", "false", "down"},
    {"state", "disable", "down"},   {"state", "disabled", "down"}, {"state", "removed", "absent"},
    {"state", "deleted", "absent"}, {"mtu", "2k", "2044"},         {"mtu", "4k", "4092"},
    {"mtu", "64k", "65520"},        {"table", "main", "254"},      {"table", "default", "253"},
    {"width", "1x", "1"},           {"width", "2x", "2"},          {"width", "4x", "4"},
    {"width", "8x", "8"},           {"width", "12x", "12"},        {"type", "roce", "rxe"},
    {"type", "soft-roce", "rxe"},   {"type", "iwarp", "siw"},      {"netns", "private", "exclusive"},
});

/// The value in a word, in lower case; empty for values that are never hinted at.
std::string word_in(const model::Value& written) {
  if (const auto* text = std::get_if<std::string>(&written)) return base::lower(base::trim(*text));
  if (const auto* number = std::get_if<std::int64_t>(&written)) return std::to_string(*number);
  const auto* choice = std::get_if<bool>(&written);
  return choice == nullptr ? "" : *choice ? "true" : "false";
}

}  // namespace

std::string value_hint(const model::Value& written, const model::FieldSpec& field) {
  const auto* number = std::get_if<std::int64_t>(&written);
  if (number != nullptr && (*number == 0 || *number == 1) && field.parse(model::Value(*number == 1)))
    return fmt::format("write {} = {}", field.name, *number == 1);
  const auto word = word_in(written);
  for (const auto& [key, elsewhere, here] : kOtherValues) {
    if (key != field.name || elsewhere != word) continue;
    const auto digits = base::parse_number(here);
    if (digits && field.parse(model::Value(static_cast<std::int64_t>(*digits))))
      return fmt::format("write {} = {}", field.name, here);
    if (field.parse(model::Value(std::string(here))))
      return fmt::format("write {} = \"{}\"", field.name, here);
  }
  return {};
}

}  // namespace rdmacfg::config
