// SPDX-License-Identifier: Apache-2.0
#include "foreign/syntax/shell_script.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "foreign/syntax/shell_line.hpp"
#include "foreign/syntax/shell_loops.hpp"

namespace rdmacfg::foreign {

namespace {

/// Whether an array of bash goes on behind the line: "NAME=(" without ")".
bool opens_array(std::string_view line) {
  const auto at = line.find("=(");
  if (at == std::string_view::npos) return false;
  auto from = line.find_last_of(" \t", at);
  from = from == std::string_view::npos ? 0 : from + 1;
  auto name = line.substr(from, at - from);
  if (name.ends_with('+')) name.remove_suffix(1);
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_name_character)) return false;
  char quote = 0;
  for (const char c : line.substr(at + 2)) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ')') {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string end_of_text(std::string_view line) {
  const auto at = line.find("<<");
  if (at == std::string_view::npos || line.substr(at).starts_with("<<<")) return {};
  auto rest = line.substr(at + 2);
  if (rest.starts_with('-')) rest.remove_prefix(1);
  rest = base::trim(rest);
  std::string out(rest.substr(0, rest.find_first_of(" \t;|&>)")));
  std::erase_if(out, [](char c) { return c == '"' || c == '\'' || c == '\\'; });
  const bool number = out.empty() || (out.front() >= '0' && out.front() <= '9');  // 1 << 3
  return number ? std::string() : out;
}

std::vector<ScriptLine> lines_of_script(std::string_view script) {
  std::vector<ScriptLine> out;
  std::string joined, text_end;
  int number = 0, first = 0;
  const auto add = [&] {
    const bool within = !text_end.empty();
    if (!within) {
      text_end = end_of_text(joined);
    } else if (joined == text_end) {
      text_end.clear();
    }
    out.push_back({std::move(joined), first});
    joined.clear();
  };
  for (const auto raw : base::split(script, '\n')) {
    ++number;
    if (joined.empty()) first = number;
    const auto line = base::trim(raw);
    if (line.empty() || line.front() == '#') continue;
    if (line.ends_with('\\')) {
      joined += std::string(line.substr(0, line.size() - 1)) + ' ';
      continue;
    }
    const bool array = text_end.empty() && opens_array(joined);
    // A comment within an array would hide what follows in the joined line.
    const auto comment = array && line.find_first_of("\"'") == std::string_view::npos
                             ? line.find(" #")
                             : std::string_view::npos;
    joined += line.substr(0, comment);
    if (text_end.empty() && opens_array(joined)) {
      joined += ' ';
      continue;
    }
    const bool goes_on = (line.ends_with("&&") || line.ends_with('|')) && text_end.empty();
    if (goes_on && line.find(" #") == std::string_view::npos) {
      joined += ' ';
      continue;
    }
    add();
  }
  if (!joined.empty()) add();
  return spell_out_script(std::move(out));
}

}  // namespace rdmacfg::foreign
