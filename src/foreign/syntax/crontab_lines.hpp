// SPDX-License-Identifier: Apache-2.0
// Files of crontab(5) as commands.
#pragma once

#include <string_view>
#include <vector>

namespace rdmacfg::foreign {

/// A line with a command; the command is a part of the file's text.
struct CrontabLine {
  std::string_view command;
  int number = 0;
  bool at_boot = false;  ///< "@reboot"
};

/// The lines with commands, without empty lines, comments and variables. `path` distinguishes users' tables,
/// which crontab(1) keeps and which have no user field, from system tables.
std::vector<CrontabLine> lines_of_crontab(std::string_view path, std::string_view text);

}  // namespace rdmacfg::foreign
