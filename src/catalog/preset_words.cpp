// SPDX-License-Identifier: Apache-2.0
#include "catalog/preset_words.hpp"

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace rdmacfg::kinds {

namespace {

/// The key of [[lossless]] that a key of [[pfc]] or [[roce]] follows from; empty: none alone.
std::string_view key_of_preset(std::string_view key) {
  if (key == "interface" || key == "dscp") return key;
  return key == "priorities" ? std::string_view("priority") : std::string_view();
}

/// "[[pfc]] dscp: listed twice" as an entry of [[lossless]] has it. A key that it does not have stays in the
/// message, as the key that is meant.
void rename_subject(model::Diagnostic& diagnostic) {
  const auto made = *diagnostic.subject;
  const model::Subject written{.section = "lossless", .key = std::string(key_of_preset(made.key))};
  auto message = written.text();
  if (!made.key.empty() && written.key.empty()) message += made.key + ": ";
  message += std::string_view(diagnostic.message).substr(made.text().size());
  diagnostic.message = std::move(message);
  diagnostic.subject = written;
}

}  // namespace

void name_presets(std::span<const model::Section> sections, model::Diagnostics& diagnostics) {
  std::set<model::Location> places;
  for (const auto& section : sections) {
    if (section.path != "lossless") continue;
    places.insert(section.where);
    for (const auto& [key, entry] : section.entries)
      entry.each_place([&](const model::Location& place) { places.insert(place); });
  }
  if (places.empty()) return;
  for (auto& diagnostic : diagnostics) {
    const auto& subject = diagnostic.subject;
    if (!subject || (subject->section != "pfc" && subject->section != "roce")) continue;
    if (places.contains(diagnostic.where)) rename_subject(diagnostic);
  }
}

}  // namespace rdmacfg::kinds
