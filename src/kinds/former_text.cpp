// SPDX-License-Identifier: Apache-2.0
#include "kinds/former_text.hpp"

#include <algorithm>

#include "model/value.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::string_view kTextBefore = "file ";  // in Change::carried, before the text

}  // namespace

void carry_text(model::Change& change, std::string_view text) {
  change.carried.push_back(std::string(kTextBefore).append(text));
}

std::optional<std::string> former_text(
    const model::Change& change, std::span<const std::string_view> fields,
    const std::function<model::Attributes(const std::string& text)>& settings_of) {
  if (change.operation == model::Operation::kDelete) return std::nullopt;
  for (const auto& carried : change.carried) {
    if (!carried.starts_with(kTextBefore)) continue;
    auto text = carried.substr(kTextBefore.size());
    const auto then = settings_of(text);
    const bool same = std::all_of(fields.begin(), fields.end(), [&](std::string_view field) {
      return model::value_of(then, field) == model::value_of(change.after, field);
    });
    if (same) return text;
  }
  return std::nullopt;
}

}  // namespace rdmacfg::kinds
