// SPDX-License-Identifier: Apache-2.0
#include "config/write.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace rdmacfg::config {

namespace {

using model::Section;
using model::SectionSpec;

std::string toml_text_of(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\t') {
      out += "\\t";
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml_of(const model::Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return toml_text_of(*text);
  std::vector<std::string> parts;
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    for (const auto& item : *list) parts.push_back(toml_text_of(item));
  }
  return "[" + base::join(parts, ", ") + "]";
}

const SectionSpec* spec_at(std::string_view path, const Grammar& specs) {
  const auto name = path.substr(path.rfind('.') + 1);
  const auto at =
      std::find_if(specs.begin(), specs.end(), [&](const auto& spec) { return spec.name == name; });
  return at == specs.end() ? nullptr : &*at;
}

void write_section(const Section& section, const Grammar& specs, std::string& out) {
  const auto* spec = spec_at(section.path, specs);
  if (spec == nullptr) return;  // parse_texts() makes none that the grammar does not know
  out += fmt::format("\n{}\n", label_of(section.path, spec->repeated));
  for (const auto& [key, entry] : section.entries) out += fmt::format("{} = {}\n", key, toml_of(entry.value));
  for (const auto& child : section.children) write_section(child, spec->children, out);
}

}  // namespace

std::string write_document(const std::vector<Section>& sections, const Grammar& grammar) {
  std::string out = "version = 1\n";
  for (const auto& section : sections) write_section(section, grammar, out);
  return out;
}

bool say_the_same(const std::vector<Section>& a, const std::vector<Section>& b) {
  if (a.size() != b.size()) return false;
  std::vector<bool> taken(b.size(), false);
  return std::all_of(a.begin(), a.end(), [&](const Section& section) {
    for (std::size_t i = 0; i < b.size(); ++i) {
      if (taken[i] || section.path != b[i].path || section.attributes() != b[i].attributes()) continue;
      if (!say_the_same(section.children, b[i].children)) continue;
      taken[i] = true;
      return true;
    }
    return false;
  });
}

}  // namespace rdmacfg::config
