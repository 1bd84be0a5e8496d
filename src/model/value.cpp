// SPDX-License-Identifier: Apache-2.0
#include "model/value.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace rdmacfg::model {

std::string text_of(const Value& value) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "-"; }
    std::string operator()(bool flag) const { return flag ? "yes" : "no"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<std::string>& list) const { return base::join(list, ", "); }
  };
  return std::visit(Visitor{}, value);
}

const Value& value_of(const Attributes& attributes, std::string_view name) {
  static const Value kNothing;
  const auto at = attributes.find(name);
  return at == attributes.end() ? kNothing : at->second;
}

std::string text_at(const Attributes& attributes, std::string_view name) {
  const auto* text = std::get_if<std::string>(&value_of(attributes, name));
  return text == nullptr ? std::string() : *text;
}

std::string Location::text() const {
  if (line == 0) return file;
  return fmt::format("{}:{}:{}", file, line, column);
}

}  // namespace rdmacfg::model
