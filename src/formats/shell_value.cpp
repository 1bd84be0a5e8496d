// SPDX-License-Identifier: Apache-2.0
#include "formats/shell_value.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

struct ValueInText {
  std::string value;
  std::size_t length;  ///< of what was read
};

std::string without_continuations(std::string_view text) {
  constexpr std::string_view kContinuation = "\\\n";
  std::string out;
  for (auto at = text.find(kContinuation); at != std::string_view::npos; at = text.find(kContinuation)) {
    out += text.substr(0, at);
    text.remove_prefix(at + kContinuation.size());
  }
  out += text;
  return out;
}

/// Up to a "#" that begins a word.
std::string_view before_comment(std::string_view text) {
  for (auto at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t') return text.substr(0, at);
  }
  return text;
}

/// The value that a text begins with, behind the "=".
ValueInText value_behind(std::string_view text) {
  const auto begin = std::min(text.find_first_not_of(" \t"), text.size());
  const bool quoted = begin < text.size() && (text[begin] == '"' || text[begin] == '\'');
  const auto close = quoted ? text.find(text[begin], begin + 1) : std::string_view::npos;
  if (close != std::string_view::npos)
    return {without_continuations(text.substr(begin + 1, close - begin - 1)), close + 1};
  auto end = std::min(text.find('\n', begin), text.size());
  while (!quoted && end < text.size() && end > begin && text[end - 1] == '\\')
    end = std::min(text.find('\n', end + 1), text.size());
  // A quote that is not closed belongs to no value.
  const auto first = begin + (quoted ? 1U : 0U);
  const auto whole = without_continuations(text.substr(first, end - first));
  return {std::string(base::trim(before_comment(whole))), end};
}

/// The name that a line assigns to, and where its value begins; an empty name for any other line.
std::pair<std::string_view, std::size_t> assigned_name(std::string_view line) {
  constexpr std::string_view kExport = "export ";
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return {};
  const auto blanks = std::min(line.find_first_not_of(" \t"), equals);
  auto name = line.substr(blanks, equals - blanks);
  if (name.starts_with(kExport)) {
    name.remove_prefix(kExport.size());
    name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
  }
  if (name.find_first_of(" \t#\"'") != std::string_view::npos) return {};
  return {name, equals + 1};
}

}  // namespace

std::optional<std::string> shell_value(std::string_view text, std::string_view variable) {
  std::optional<std::string> value;
  while (!text.empty()) {
    const auto [name, begin] = assigned_name(text.substr(0, text.find('\n')));
    if (!name.empty()) {
      auto found = value_behind(text.substr(begin));
      text.remove_prefix(begin + found.length);
      if (name == variable) value = std::move(found.value);
    }
    const auto end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return value;
}

}  // namespace rdmacfg::kinds
