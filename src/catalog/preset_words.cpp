// SPDX-License-Identifier: Apache-2.0
#include "catalog/preset_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace rdmacfg::kinds {

namespace {

/// "[[pfc]] dscp: listed twice" as an entry with these keys would have it.
std::string as_preset(std::string_view message, std::string_view label) {
  auto rest = message.substr(label.size());
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest.starts_with(':')) return fmt::format("[[lossless]]{}", rest);
  const auto key = rest.substr(0, rest.find(':'));
  if (key == "interface" || key == "dscp") return fmt::format("[[lossless]] {}", rest);
  if (key == "priorities") return fmt::format("[[lossless]] priority{}", rest.substr(key.size()));
  return fmt::format("[[lossless]]: {}", rest);
}

}  // namespace

void name_presets(std::span<const model::Section> sections, model::Diagnostics& diagnostics) {
  std::set<model::Location> places;
  for (const auto& section : sections) {
    if (section.path != "lossless") continue;
    places.insert(section.where);
    for (const auto& [key, entry] : section.entries) places.insert(entry.where);
  }
  if (places.empty()) return;
  for (auto& diagnostic : diagnostics) {
    if (!places.contains(diagnostic.where)) continue;
    for (const std::string_view label : {"[[pfc]]", "[[roce]]"}) {
      if (diagnostic.message.starts_with(label)) diagnostic.message = as_preset(diagnostic.message, label);
    }
  }
}

}  // namespace rdmacfg::kinds
