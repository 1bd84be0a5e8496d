// SPDX-License-Identifier: Apache-2.0
// JSON that others have written, read with bounds: the parts of an answer that are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "config/document.hpp"

namespace rdmacfg::fleet {

using Json = nlohmann::json;

/// The member of an object; null where it is missing, or `json` is not an object.
const Json& at(const Json& json, const char* key);
/// The members of a list; none of anything else.
const Json::array_t& list_at(const Json& json, const char* key);
/// A text; empty for anything else.
std::string text_at(const Json& json, const char* key);
/// A count, a port, an MTU: nothing of what is larger than any of them.
std::optional<std::int64_t> number_at(const Json& json, const char* key);
/// Whether it is there, and false.
bool is_false_at(const Json& json, const char* key);

/// Parses a whole text. Only the values of keys that `is_read` names are built, and nothing that nests deeper
/// than any answer; the rest is checked all the same.
/// @return what is wrong with the text, with its place; `hint` is how to get another one
std::optional<model::Diagnostic> parse_answer(const config::Text& json, bool (*is_read)(std::string_view key),
                                              const char* hint, Json& out);

/// An error about a file.
model::Diagnostic faulty(model::Location where, std::string message, std::string hint);

}  // namespace rdmacfg::fleet
