// SPDX-License-Identifier: Apache-2.0
#include "foreign/syntax/shell_heads.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "foreign/claims.hpp"
#include "foreign/syntax/shell_line.hpp"

namespace rdmacfg::foreign {

namespace {

/// Arguments of the script itself in a loop: "for i" and "for i in "$@"".
bool asks_for_arguments(std::string_view part) {
  const auto words = words_of(part);
  return (words.size() == 2 && words[0] == "for" && is_variable_name(words[1])) ||
         part.find("$@") != std::string_view::npos || part.find("$*") != std::string_view::npos ||
         part.find("${@}") != std::string_view::npos;
}

}  // namespace

bool keeps_arguments(const std::vector<ScriptLine>& lines) {
  bool set = false;
  for (const auto& line : lines) {
    if (line.text.find("()") != std::string::npos || line.text.starts_with("function ")) return false;
    for (const auto& part : parts_of(line.text)) {
      const auto words = words_of(part.text);
      if (std::find(words.begin(), words.end(), "shift") != words.end()) return false;
      const bool sets = words.size() > 1 && words[0] == "set" &&
                        (words[1] == "--" || (!words[1].starts_with('-') && !words[1].starts_with('+')));
      if ((sets && (set || words[1] != "--")) || (!set && asks_for_arguments(part.text))) return false;
      set = set || sets;
    }
  }
  return set;
}

std::string without_counting(const std::string& line) {
  constexpr std::string_view kFor = "for ";
  const auto head = base::trim(std::string_view(line).substr(std::min(kFor.size(), line.size())));
  const auto end = head.find("))");
  if (!line.starts_with(kFor) || !head.starts_with("((") || end == std::string_view::npos) return line;
  std::string inner(head.substr(2, end - 2));
  std::erase_if(inner, [](char c) { return c == ' ' || c == '\t'; });
  const auto parts = base::split(inner, ';');
  if (parts.size() != 3) return line;
  const auto equals = parts[0].find('=');
  const auto name = parts[0].substr(0, equals);
  if (equals == std::string_view::npos || !is_variable_name(name) || !parts[1].starts_with(name)) return line;
  auto bound = parts[1].substr(name.size());
  const bool steps = parts[2] == fmt::format("{}++", name) || parts[2] == fmt::format("++{}", name) ||
                     parts[2] == fmt::format("{}+=1", name);
  if (!bound.starts_with('<') || !steps) return line;
  bound.remove_prefix(1);
  const bool inclusive = bound.starts_with('=');
  if (inclusive) bound.remove_prefix(1);
  const auto first = base::parse_number(parts[0].substr(equals + 1)), last = base::parse_number(bound);
  if (!first || !last || (!inclusive && *last == 0)) return line;
  const auto behind = head.substr(end + 2);
  return fmt::format("for {} in {{{}..{}}}{}", name, *first, inclusive ? *last : *last - 1, behind);
}

}  // namespace rdmacfg::foreign
