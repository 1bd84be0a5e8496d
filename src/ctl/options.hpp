// SPDX-License-Identifier: Apache-2.0
// The command line. The only place that includes CLI11.
#pragma once

#include <string>

#include "base/error.hpp"
#include "ctl/command.hpp"
#include "ctl/terminal.hpp"

namespace rdmacfg::ctl {

/// What a command line asks for.
struct CommandLine {
  enum class Sort { kRun, kHelp, kVersion };
  Sort sort = Sort::kRun;
  Arguments arguments;
  std::string help;  ///< the text for kHelp
};

/// Fails with a sentence for the user, with the nearest known word where one is misspelled.
base::Result<CommandLine> parse_command_line(int argc, const char* const* argv, const Look& look);

}  // namespace rdmacfg::ctl
