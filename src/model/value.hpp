// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rdmacfg::model {

/// One attribute's value, as the document, the journal and JSON carry it. monostate: not there, or unknown.
using Value = std::variant<std::monostate, bool, std::int64_t, std::string, std::vector<std::string>>;

/// Attributes by field name. Only fields that are set (or known) are in it.
using Attributes = std::map<std::string, Value, std::less<>>;

/// For people: "65520", "connected", "yes", "a, b", "-" for nothing.
std::string text_of(const Value& value);

/// The value of `name`, or monostate.
const Value& value_of(const Attributes& attributes, std::string_view name);

/// The text that an attribute has; empty when it is missing or is none.
std::string text_at(const Attributes& attributes, std::string_view name);

/// A place in a file of the document; line and column count from 1, columns in characters. line 0: no place
/// in a file.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
  int length = 1;  ///< characters to underline

  [[nodiscard]] std::string text() const;  ///< "/etc/rdma-configd/config.toml:12:3"
  auto operator<=>(const Location&) const = default;
};

}  // namespace rdmacfg::model
