// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/rdma/lio_defaults.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace rdmacfg::foreign {

namespace {

bool is_lio_default(std::string_view values, std::string_view text) {
  if (values == kAnyLioValue) return true;
  const auto all = base::split(values, '|');
  return std::find(all.begin(), all.end(), text) != all.end();
}

}  // namespace

void tell_lio_values(YamlKeys& keys, std::span<const LioDefault> defaults, const std::string& owner,
                     std::string_view implied) {
  for (const auto& known : defaults) {
    const auto* value = keys.take(known.key);
    if (value == nullptr || known.key == implied) continue;
    if (value->is_scalar() && is_lio_default(known.values, value->text)) continue;
    keys.wrong(*value, fmt::format("{}: {}: {}: cannot be expressed in the document", owner, known.key,
                                   value->is_scalar() ? value->text : std::string("a list")));
  }
}

void tell_lio_values(const YamlNode* node, std::span<const LioDefault> defaults, const std::string& owner,
                     Claims& claims, std::string_view implied) {
  if (node == nullptr) return;
  YamlKeys keys(*node, claims);
  tell_lio_values(keys, defaults, owner, implied);
  keys.finish(owner);
}

}  // namespace rdmacfg::foreign
