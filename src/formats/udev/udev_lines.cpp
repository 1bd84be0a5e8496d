// SPDX-License-Identifier: Apache-2.0
#include "formats/udev/udev_lines.hpp"

#include <utility>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

/// A quote behind a backslash is part of a value.
std::string without_outer_blanks(std::string_view line) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && (i == 0 || line[i - 1] != '\\')) quoted = !quoted;
    const bool blank = c == ' ' || c == '\t' || c == '\r';
    if (quoted || !blank) out += c;
  }
  return out;
}

}  // namespace

std::vector<UdevLine> udev_lines(std::string_view text) {
  std::vector<UdevLine> out;
  UdevLine rule;
  int number = 0;
  for (const auto raw : base::split(text, '\n')) {
    ++number;
    const auto line = base::trim(raw);
    if (line.starts_with('#')) continue;  // within a rule, too
    if (rule.number == 0) rule.number = number;
    const bool goes_on = line.ends_with('\\');
    rule.text += goes_on ? line.substr(0, line.size() - 1) : line;
    if (goes_on) continue;
    rule.text = without_outer_blanks(rule.text);
    if (!rule.text.empty()) out.push_back(std::move(rule));
    rule = UdevLine();
  }
  return out;
}

}  // namespace rdmacfg::kinds
