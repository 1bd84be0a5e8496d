// SPDX-License-Identifier: Apache-2.0
// JSON files of ours: a schema number, and every exception of the library ends here.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "system/files.hpp"

namespace rdmacfg::core {

/// Why the library could not read a record. Its own words quote the text that it read last, which may be
/// private, and as long as the record.
inline std::string damage_in(const nlohmann::ordered_json::exception& error) {
  constexpr int kNumberOverflow = 406, kOurs = 501;
  if (const auto* syntax = dynamic_cast<const nlohmann::ordered_json::parse_error*>(&error))
    return fmt::format("no JSON from byte {} on", syntax->byte);
  const std::string_view words = error.what();
  if (error.id == kOurs) return std::string(words.substr(std::min(words.find("] ") + 2, words.size())));
  return error.id == kNumberOverflow ? std::string("a number is too large") : std::string(words);
}

/// JSON of ours, which has whole numbers of at most 64 bits alone: the library would turn others to any.
/// @throws nlohmann::ordered_json::exception: it is not
inline nlohmann::ordered_json parse_record(std::string_view text) {
  using Json = nlohmann::ordered_json;
  return Json::parse(text, [](int /*depth*/, Json::parse_event_t event, const Json& value) {
    if (event == Json::parse_event_t::value && value.is_number_float())
      throw Json::other_error::create(501, "a number is not whole", static_cast<const Json*>(nullptr));
    return true;
  });
}

/// A whole number of a record. get<Number>() takes a boolean for 0 or 1, and cuts or wraps what is out of
/// range.
/// @throws nlohmann::ordered_json::exception: it is another value, or out of the range of Number
template <class Number, class Json>
Number number_in(const Json& json) {
  static_assert(std::is_integral_v<Number> && !std::is_same_v<Number, bool>);
  const auto reject = [](const char* why) {
    throw nlohmann::ordered_json::other_error::create(501, why,
                                                      static_cast<const nlohmann::ordered_json*>(nullptr));
  };
  if (!json.is_number_integer()) reject("a value is not a number");
  if (json.is_number_unsigned()) {
    const auto number = json.template get<std::uint64_t>();
    if (!std::in_range<Number>(number)) reject("a number is too large");
    return static_cast<Number>(number);
  }
  const auto number = json.template get<std::int64_t>();
  if (!std::in_range<Number>(number)) reject(number < 0 ? "a number is too small" : "a number is too large");
  return static_cast<Number>(number);
}

/// Of generations and times in milliseconds, so that there is room to count on and to subtract.
inline constexpr std::int64_t kMostInRecords = std::int64_t{1} << 53U;

/// number_in() for the range from 0 to `most`.
/// @throws nlohmann::ordered_json::exception: it is another value, or out of that range
template <class Json>
std::int64_t number_up_to(const Json& json, std::int64_t most) {
  const bool fits = json.is_number_unsigned()
                        ? std::cmp_less_equal(json.template get<std::uint64_t>(), most)
                        : json.is_number_integer() && json.template get<std::int64_t>() >= 0 &&
                              json.template get<std::int64_t>() <= most;
  if (!fits) {
    throw nlohmann::ordered_json::other_error::create(501, fmt::format("not a number from 0 to {}", most),
                                                      static_cast<const nlohmann::ordered_json*>(nullptr));
  }
  return json.template get<std::int64_t>();
}

/// An enumerator by its number; get<int>() would cut a larger one to another.
/// @throws nlohmann::ordered_json::exception: it is another value, or none of 0 to `last`
template <class Enum, class Json>
Enum enumerator_in(const Json& json, Enum last) {
  return static_cast<Enum>(number_up_to(json, static_cast<std::int64_t>(last)));
}

/// Nothing when the file is not there; a damaged one, or one of another schema, is an error (is_damage()).
template <class T>
base::Result<std::optional<T>> load_json(system::Files& files, const std::string& path, int schema,
                                         const std::function<T(const nlohmann::ordered_json&)>& decode) {
  auto text = files.read(path);
  if (!text) return base::fail(text.error());
  if (!*text) return std::optional<T>{};
  try {
    const auto json = parse_record(**text);
    // Neither cut to an int nor taken from a boolean, as get<int>() does.
    const auto& written = json.at("schema");
    if (!written.is_number_integer())
      throw nlohmann::ordered_json::other_error::create(501, "the schema is not a number",
                                                        static_cast<const nlohmann::ordered_json*>(nullptr));
    // As text: one beyond 63 bits would turn into a negative one.
    if (const auto found = written.dump(); found != fmt::to_string(schema)) {
      return base::fail(base::Code::kInvalid,
                        fmt::format("{}: schema {}, this program reads {}; it was written by another version "
                                    "of rdma-configd",
                                    path, found, schema));
    }
    return std::optional<T>(decode(json));
  } catch (const nlohmann::ordered_json::exception& e) {
    return base::fail(base::Code::kInvalid, fmt::format("{}: damaged ({})", path, damage_in(e)));
  }
}

}  // namespace rdmacfg::core
