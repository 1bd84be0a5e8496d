// SPDX-License-Identifier: Apache-2.0
#include "config/toml/other_text.hpp"

#include <cstddef>

#include "base/text.hpp"

namespace rdmacfg::config {

bool is_json(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n", text.starts_with('[') ? 1 : 0);
  return first != std::string_view::npos && text[first] == '{';
}

bool is_yaml_item(std::string_view line) {
  if (!line.starts_with("- ") && !line.starts_with("-\t")) return false;
  const auto rest = base::trim(line.substr(1, line.find_first_of("\r\n") - 1));
  return !rest.empty() && rest.front() != '=' && rest.front() != '.';
}

bool is_patch(std::string_view text) {
  const auto end = text.find('\n');
  return text.starts_with("diff --git ") || (text.starts_with("--- ") && end != std::string_view::npos &&
                                             text.substr(end + 1).starts_with("+++ "));
}

bool is_conflict_mark(std::string_view line) {
  constexpr std::size_t kLength = 7;
  const auto mark = line.substr(0, line.find_first_of(" \r\n"));
  return mark.size() == kLength && std::string_view("<=>|").find(mark.front()) != std::string_view::npos &&
         mark.find_first_not_of(mark.front()) == std::string_view::npos;
}

}  // namespace rdmacfg::config
