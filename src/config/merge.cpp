// SPDX-License-Identifier: Apache-2.0
#include "config/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace rdmacfg::config {

namespace {

using model::Section;
using model::SectionSpec;

/// The meaning of an entry, as text that is equal for equal objects. `key` is the first key of the set that
/// says so.
struct Identity {
  std::string text;
  model::Location where;
  std::string words;  ///< for people: "pkey 0x8002"
};

void add(std::string& text, std::string_view name, const model::Value& value) {
  text += fmt::format("{}\x1f{}\x1f{}\x1e", name, value.index(), model::text_of(value));
}

/// Nothing when the section has no identity, or a part of it was wrong.
std::optional<Identity> identity_of(const Section& section, const SectionSpec& spec, const Faulty& faulty) {
  if (!spec.repeated) return Identity{section.path, section.where, ""};
  const auto child = [&](std::string_view name) { return section.child(path_of(section.path, name)); };
  for (const auto& set : spec.identities) {
    if (!std::all_of(set.begin(), set.end(), [&](auto key) { return section.find(key) || child(key); }))
      continue;
    Identity out{section.path + '\x1e', section.where, ""};
    for (const auto& key : set) {
      const auto* entry = section.find(key);
      if (!entry && faulty.contains(child(key)->where)) return std::nullopt;
      if (!out.words.empty()) out.words += ", ";
      out.words += key;
      if (entry) {
        add(out.text, key, entry->value);
        out.words += ' ' + model::text_of(entry->value);
      } else {
        out.text += std::string(key) + '\x1d';
        for (const auto& [name, inner] : child(key)->entries) add(out.text, name, inner.value);
      }
      if (key == set.front()) out.where = entry ? entry->where : child(key)->where;
    }
    return out;
  }
  return std::nullopt;
}

const SectionSpec& spec_of(const Section& section, const Grammar& specs) {
  const auto name = std::string_view(section.path).substr(section.path.rfind('.') + 1);
  return *std::find_if(specs.begin(), specs.end(), [&](const auto& spec) { return spec.name == name; });
}

}  // namespace

void report_duplicates(std::vector<Section>& sections, const Grammar& specs, const Faulty& faulty,
                       model::Diagnostics& diagnostics) {
  std::unordered_map<std::string, model::Location> seen;
  std::erase_if(sections, [&](const Section& section) {
    const auto& spec = spec_of(section, specs);
    const auto identity = identity_of(section, spec, faulty);
    if (!identity) return false;
    const auto [first, added] = seen.try_emplace(identity->text, identity->where);
    if (added) return false;
    model::Diagnostic wrong;
    wrong.where = identity->where;
    wrong.message = fmt::format("{} {}: is defined twice in this file", label_of(section.path, spec.repeated),
                                identity->words);
    wrong.hint = "write all its keys in one entry";
    wrong.related.push_back({first->second, "first defined here"});
    diagnostics.push_back(std::move(wrong));
    return true;
  });
}

std::vector<Section> merge(std::vector<Section> sections, const Grammar& specs, Faulty& faulty) {
  std::vector<Section> out;
  std::unordered_map<std::string, std::size_t> places;
  for (auto& section : sections) {
    if (const auto identity = identity_of(section, spec_of(section, specs), faulty)) {
      const auto [place, added] = places.try_emplace(identity->text, out.size());
      if (!added) {
        auto& first = out[place->second];
        if (faulty.contains(section.where)) faulty.insert(first.where);
        for (auto& [key, entry] : section.entries) first.entries.insert_or_assign(key, std::move(entry));
        std::move(section.children.begin(), section.children.end(), std::back_inserter(first.children));
        continue;
      }
    }
    out.push_back(std::move(section));
  }
  for (auto& section : out)
    section.children = merge(std::move(section.children), spec_of(section, specs).children, faulty);
  return out;
}

std::vector<Section> merge_defaults(std::vector<Section> defaults) {
  std::vector<Section> out;
  for (auto& section : defaults) {
    const auto first =
        std::find_if(out.begin(), out.end(), [&](const auto& other) { return other.path == section.path; });
    if (first == out.end()) {
      out.push_back(std::move(section));
      continue;
    }
    for (auto& [key, entry] : section.entries) first->entries.insert_or_assign(key, std::move(entry));
    std::move(section.children.begin(), section.children.end(), std::back_inserter(first->children));
  }
  for (auto& section : out) section.children = merge_defaults(std::move(section.children));
  return out;
}

void fill_defaults(std::vector<Section>& sections, const std::vector<Section>& defaults) {
  for (auto& section : sections) {
    const auto from =
        std::find_if(defaults.begin(), defaults.end(), [&](const auto& d) { return d.path == section.path; });
    if (from == defaults.end()) continue;
    section.entries.insert(from->entries.begin(), from->entries.end());
    fill_defaults(section.children, from->children);
  }
}

}  // namespace rdmacfg::config
