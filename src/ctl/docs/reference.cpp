// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "ctl/command.hpp"
#include "ctl/docs/manual.hpp"
#include "ctl/docs/schema.hpp"

namespace rdmacfg::ctl {

using model::FieldSpec;
using model::Role;
using model::SectionSpec;

namespace {

/// A text inside of a Markdown table.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '<') out += '\\';
    out += c;
  }
  return out;
}

std::string label_of(const SectionSpec& section, const std::string& path) {
  return section.repeated ? "[[" + path + "]]" : "[" + path + "]";
}

std::string identities_of(const SectionSpec& section) {
  std::vector<std::string> sets;
  for (const auto& set : section.identities) {
    std::vector<std::string> keys;
    keys.reserve(set.size());
    for (const auto& key : set) keys.push_back(fmt::format("`{}`", key));
    sets.push_back(base::join(keys, " and "));
  }
  if (sets.empty()) return {};
  return fmt::format("Identified by {}{}. Entries of several files for the same object are merged.\n\n",
                     sets.size() > 1 ? "exactly one of: " : "", base::join(sets, "; "));
}

std::string row_of(const SectionSpec& section, const FieldSpec& field) {
  std::string doc = escaped(field.doc);
  if (field.effect != model::Effect::kNow)
    doc += fmt::format(" Works after {}.", model::text_of(field.effect));
  const auto fallback =
      field.fallback == "-" || field.fallback.empty() ? std::string() : escaped(field.fallback);
  return fmt::format("| `{}` | {} | {} | {} | {} |\n", field.name, escaped(field.type), fallback,
                     has_default(section, field) ? "yes" : "", doc);
}

enum class Level { kTop, kInsideAnEntry };

std::string section_text(const SectionSpec& section, const std::string& path, Level level) {
  std::string out = fmt::format("### `{}`\n\n{}", label_of(section, path), section.doc);
  if (!section.repeated && level == Level::kInsideAnEntry) {
    out += fmt::format(" Written inside the entry, or as an inline table: `{} = {{ … }}`.", section.name);
  }
  out += "\n\n" + identities_of(section) +
         "| key | value | default | in defaults | meaning |\n|---|---|---|---|---|\n";
  for (const auto& field : section.fields) {
    if (field.role != Role::kFact && field.role != Role::kDerived) out += row_of(section, field);
  }
  for (const auto& child : section.children) {
    out += '\n' + section_text(child, fmt::format("{}.{}", path, child.name), Level::kInsideAnEntry);
  }
  return out;
}

}  // namespace

std::string render_reference(const std::vector<SectionSpec>& grammar) {
  std::string out;
  for (const auto& section : grammar) {
    if (!out.empty()) out += '\n';
    out += section_text(section, std::string(section.name), Level::kTop);
  }
  return out;
}

int reference(const Context& context) {
  const auto part = context.arguments.words.empty() ? std::string() : context.arguments.words.front();
  const auto text = part.empty() ? render_reference(kinds::grammar()) : render_part(part);
  if (text.empty()) {
    return refuse(context, base::fail(base::Code::kInvalid, fmt::format("unknown part {}", part)).value());
  }
  context.environment.out << text;
  return 0;
}

}  // namespace rdmacfg::ctl
