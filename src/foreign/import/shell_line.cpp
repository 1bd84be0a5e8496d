// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/shell_line.hpp"

#include "base/text.hpp"
#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

namespace {

/// How the command goes on at `at`, where no quotation is; empty within a simple command. A '&' of "2>&1" and
/// "&>file" joins nothing.
std::string_view joint_at(std::string_view line, std::size_t at) {
  const char c = line[at];
  const auto next = line.substr(at + 1, 1);
  if ((c == '&' || c == '|') && next.starts_with(c)) return line.substr(at, 2);
  if (c == ';' || c == '|') return line.substr(at, 1);
  const bool redirects = (at > 0 && (line[at - 1] == '>' || line[at - 1] == '<')) || next == ">";
  return c == '&' && !redirects ? line.substr(at, 1) : std::string_view();
}

}  // namespace

std::vector<Part> parts_of(std::string_view line) {
  std::vector<Part> out;
  std::string_view joint;
  char quote = 0;
  std::size_t from = 0;
  const auto add = [&](std::size_t to) {
    const auto text = base::trim(line.substr(from, to - from));
    // "a || true" only hides that a failed.
    const bool hides = joint == "||" && (text == "true" || text == ":" || text == "exit 0");
    if (!text.empty() && !hides) out.push_back({joint, text});
  };
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != 0 || c == '"' || c == '\'') {
      if (quote == 0) {
        quote = c;
      } else if (quote == c) {
        quote = 0;
      }
      continue;
    }
    if (c == '\\') {
      ++at;
      continue;
    }
    if (c == '#' && (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t')) {
      line = line.substr(0, at);  // a comment
      break;
    }
    const auto next = joint_at(line, at);
    if (next.empty()) continue;
    add(at);
    joint = next;
    at += next.size() - 1;
    from = at + 1;
  }
  add(line.size());
  return out;
}

std::vector<std::string> shell_words(std::string_view command, const std::string& own) {
  std::string text(command);
  std::erase(text, '"');
  std::erase(text, '\'');
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view end :
         {"2>&1", "2>/dev/null", "2> /dev/null", "&>/dev/null", ">/dev/null", "> /dev/null"}) {
      text = base::trim(text);
      if (!text.ends_with(end)) continue;
      text.erase(text.size() - end.size());
      again = true;
    }
  }
  for (std::size_t at = 0; (at = text.find('>', at)) != std::string::npos; at += 3)
    text.replace(at, 1, " > ");
  for (const std::string_view variable : {"${IFACE}", "$IFACE"}) {
    for (std::size_t at = 0; (at = text.find(variable, at)) != std::string::npos; at += own.size())
      text.replace(at, variable.size(), own);
  }
  std::vector<std::string> out;
  for (const auto word : words_of(text)) out.emplace_back(word);
  if (!out.empty()) out.front() = out.front().substr(out.front().rfind('/') + 1);
  return out;
}

}  // namespace rdmacfg::foreign
