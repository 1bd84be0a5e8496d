// SPDX-License-Identifier: Apache-2.0
#include "foreign/syntax/crontab_lines.hpp"

#include <cstddef>

#include "base/text.hpp"
#include "foreign/syntax/shell_line.hpp"

namespace rdmacfg::foreign {

std::vector<CrontabLine> lines_of_crontab(std::string_view path, std::string_view text) {
  const bool has_users = path.find("/spool/cron/") == std::string_view::npos;
  std::vector<CrontabLine> out;
  int number = 0;
  for (const auto raw : base::split(text, '\n')) {
    ++number;
    const auto line = base::trim(raw);
    if (line.empty() || line.front() == '#') continue;
    const bool named = line.front() == '@';
    const auto words = base::words_of(line);
    const std::size_t before = (named ? 1U : 5U) + (has_users ? 1U : 0U);
    // "MAILTO=root"
    const bool variable = is_variable_name(words.front().substr(0, words.front().find('=')));
    if (variable || words.size() <= before) continue;
    out.push_back({line.substr(static_cast<std::size_t>(words[before].data() - line.data())), number,
                   words.front() == "@reboot"});
  }
  return out;
}

}  // namespace rdmacfg::foreign
