// SPDX-License-Identifier: Apache-2.0
// JSON files of ours: a schema number, and every exception of the library ends here.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "system/files.hpp"

namespace rdmacfg::core {

/// Why the library could not read a record. Its own words quote the text that it read last, which may be
/// private, and as long as the record.
inline std::string damage_in(const nlohmann::ordered_json::exception& error) {
  constexpr int kNumberOverflow = 406;
  if (const auto* syntax = dynamic_cast<const nlohmann::ordered_json::parse_error*>(&error))
    return fmt::format("no JSON from byte {} on", syntax->byte);
  return error.id == kNumberOverflow ? std::string("a number is too large") : std::string(error.what());
}

/// Nothing when the file is not there; a damaged one, or one of another schema, is an error (is_damage()).
template <class T>
base::Result<std::optional<T>> load_json(system::Files& files, const std::string& path, int schema,
                                         const std::function<T(const nlohmann::ordered_json&)>& decode) {
  auto text = files.read(path);
  if (!text) return base::fail(text.error());
  if (!*text) return std::optional<T>{};
  try {
    const auto json = nlohmann::ordered_json::parse(**text);
    if (const auto found = json.at("schema").get<int>(); found != schema) {
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
