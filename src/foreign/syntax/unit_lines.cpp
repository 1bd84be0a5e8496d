// SPDX-License-Identifier: Apache-2.0
#include "foreign/syntax/unit_lines.hpp"

#include <string>

#include "base/text.hpp"

namespace rdmacfg::foreign {

std::vector<ScriptLine> lines_of_unit(std::string_view text) {
  std::vector<ScriptLine> out;
  bool goes_on = false;
  int number = 0;
  for (auto raw : base::split(text, '\n')) {
    ++number;
    if (raw.ends_with('\r')) raw.remove_suffix(1);
    const auto line = base::trim(raw);
    if (line.starts_with('#') || line.starts_with(';')) continue;
    if (!goes_on) out.push_back({{}, number});
    goes_on = raw.ends_with('\\');
    out.back().text += raw.substr(0, raw.size() - (goes_on ? 1U : 0U));
    if (goes_on) out.back().text += ' ';
  }
  for (auto& line : out) line.text = std::string(base::trim(line.text));
  return out;
}

}  // namespace rdmacfg::foreign
