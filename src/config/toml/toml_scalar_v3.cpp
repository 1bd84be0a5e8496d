// SPDX-License-Identifier: Apache-2.0
// toml11 3.
#include <fmt/format.h>

#include <exception>
#include <sstream>
#include <toml.hpp>

#include "config/toml/toml_scalar.hpp"

namespace rdmacfg::config {

std::optional<TomlScalar> decode_toml(std::string_view token) {
  // "08.5.2024" stops toml11 after a part of the word, and it rejects the rest.
  try {
    std::istringstream line(fmt::format("x = {}\n", token));
    const auto document = toml::parse<toml::discard_comments>(line, "");
    const auto& value = document.at("x");
    switch (value.type()) {
      case toml::value_t::boolean:
        return value.as_boolean();
      case toml::value_t::integer:
        return std::int64_t{value.as_integer()};
      case toml::value_t::string:
        return value.as_string().str;
      case toml::value_t::floating:
        return Foreign{"a floating-point number"};
      case toml::value_t::local_time:
        return Foreign{"a time"};
      case toml::value_t::local_date:
      case toml::value_t::local_datetime:
      case toml::value_t::offset_datetime:
        return Foreign{"a date"};
      default:
        return std::nullopt;
    }
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace rdmacfg::config
