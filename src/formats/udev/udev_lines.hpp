// SPDX-License-Identifier: Apache-2.0
// Rules of others' udev rule files as udev reads them, also where people wrote them in their own way.
// Sources: udev(7); src/udev/udev-rules.c of systemd (udev_rules_parse_file(), parse_line()).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rdmacfg::kinds {

struct UdevLine {
  int number = 0;    ///< of its first line in the file
  std::string text;  ///< in one line, without blanks outside of quotes: `NAME="x"`
};

/// All rules, without comments. Lines that end in a backslash go on in the next one.
std::vector<UdevLine> udev_lines(std::string_view text);

}  // namespace rdmacfg::kinds
