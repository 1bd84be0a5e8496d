// SPDX-License-Identifier: Apache-2.0
#include "model/types/fabric_types.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/text.hpp"

namespace rdmacfg::model {

using base::Code;
using base::fail;
using base::Result;

Result<Scopes> Codec<Scopes>::parse(const Value& written) {
  std::vector<std::string> list;
  if (const auto* number = std::get_if<std::int64_t>(&written)) {
    list.push_back(std::to_string(*number));
  } else if (const auto* several = std::get_if<std::vector<std::string>>(&written)) {
    list = *several;
  } else {
    return fail(Code::kInvalid, "must be a scope from 1 to 14, such as 5, or a list such as [2, 5]");
  }
  if (list.empty()) return fail(Code::kInvalid, "names no scope; leave it out for OpenSM's default");
  Scopes out;
  for (const auto& text : list) {
    const auto number = base::parse_number(text);
    if (!number || *number < 1 || *number > kScopeMost)
      return fail(Code::kInvalid, fmt::format("{} is out of range; must be from 1 to {}",
                                              text.empty() ? "\"\"" : text, kScopeMost));
    out.mask |= 1U << *number;
  }
  return out;
}

Value Codec<Scopes>::value(const Scopes& parsed) {
  std::vector<std::string> out;
  for (unsigned scope = 1; scope <= kScopeMost; ++scope) {
    if (parsed.has(scope)) out.push_back(std::to_string(scope));
  }
  if (out.size() != 1) return out;
  return static_cast<std::int64_t>(*base::parse_number(out.front()));
}

}  // namespace rdmacfg::model
