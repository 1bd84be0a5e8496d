// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/qos_policy_text.hpp"

#include <cstddef>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

/// Where the quote that begins at `from` ends; `from` where it does not.
std::size_t policy_quote_end(std::string_view text, std::size_t from) {
  const auto end = text.find('"', from + 1);
  return end == std::string_view::npos ? from : end;
}

}  // namespace

std::string_view policy_code(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '#') return line.substr(0, at);
    if (line[at] == '"') at = policy_quote_end(line, at);
  }
  return line;
}

std::string outside_quotes(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    out += text[at];
    if (text[at] == '"') at = policy_quote_end(text, at);
  }
  return out;
}

std::string policy_name(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto end = text[at] == '"' ? policy_quote_end(text, at) : at;
    if (end > at) {
      out += text.substr(at + 1, end - at - 1);
      at = end;
    } else if (text[at] != ' ' && text[at] != '\t') {
      out += text[at];
    }
  }
  return std::string(base::trim(out));
}

std::vector<std::string_view> policy_elements(std::string_view value) {
  std::vector<std::string_view> out;
  std::size_t from = 0;
  for (std::size_t at = 0; at < value.size(); ++at) {
    if (value[at] == '"') at = policy_quote_end(value, at);
    if (value[at] != ',') continue;
    out.push_back(value.substr(from, at - from));
    from = at + 1;
  }
  out.push_back(value.substr(from));
  return out;
}

}  // namespace rdmacfg::kinds
