// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/qos_policy_text.hpp"

#include <cstddef>

#include "base/text.hpp"

namespace rdmacfg::kinds {

std::string_view policy_code(std::string_view line) {
  bool quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '"') quoted = !quoted;
    if (line[at] == '#' && !quoted) return line.substr(0, at);
  }
  return line;
}

std::string outside_quotes(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted) out += c;
  }
  return out;
}

std::string policy_name(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (quoted || (c != ' ' && c != '\t')) {
      out += c;
    }
  }
  return std::string(base::trim(out));
}

std::vector<std::string_view> policy_elements(std::string_view value) {
  std::vector<std::string_view> out;
  bool quoted = false;
  std::size_t from = 0;
  for (std::size_t at = 0; at < value.size(); ++at) {
    if (value[at] == '"') quoted = !quoted;
    if (value[at] != ',' || quoted) continue;
    out.push_back(value.substr(from, at - from));
    from = at + 1;
  }
  out.push_back(value.substr(from));
  return out;
}

}  // namespace rdmacfg::kinds
