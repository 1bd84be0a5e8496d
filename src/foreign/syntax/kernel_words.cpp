// SPDX-License-Identifier: Apache-2.0
#include "foreign/syntax/kernel_words.hpp"

namespace rdmacfg::foreign {

std::vector<std::string> kernel_words(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\n\r";
  std::vector<std::string> out;
  bool quoted = false, inside = false;
  for (const char c : line) {
    if (!quoted && kBlanks.find(c) != std::string_view::npos) {
      inside = false;
      continue;
    }
    if (!inside) out.emplace_back();
    inside = true;
    if (c == '"') {
      quoted = !quoted;
    } else {
      out.back() += c;
    }
  }
  return out;
}

}  // namespace rdmacfg::foreign
