// SPDX-License-Identifier: Apache-2.0
// The command line; only it and command_line/ include CLI11.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "ctl/command.hpp"
#include "ctl/render/terminal.hpp"

namespace rdmacfg::ctl {

/// The request of a command line.
struct CommandLine {
  enum class Sort { kRun, kHelp, kVersion };
  Sort sort = Sort::kRun;
  Arguments arguments;
  std::string help;  ///< the text for kHelp
};

/// Fails with a sentence for the user, with the nearest known word where one is misspelled.
base::Result<CommandLine> parse_command_line(int argc, const char* const* argv, const Terminal& terminal);

/// An option or argument of the command line, for manual pages and completions.
struct OptionInfo {
  std::vector<std::string> names;  ///< as written: "-y", "--yes"; empty: an argument without an option
  std::string value;               ///< what it takes: "SECONDS"; empty: nothing
  std::string doc;                 ///< one line
};

/// A subcommand with its own options, or the program with those of all.
struct CommandInfo {
  std::string name;  ///< empty: the program
  std::string doc;   ///< one line
  std::string text;  ///< some sentences; may be empty
  std::vector<OptionInfo> options;
  std::string examples{};  ///< lines "ARGUMENTS\tWHAT IT DOES"
};

/// The grammar of parse_command_line(), the program first; subcommands that help leaves out are left out.
std::vector<CommandInfo> describe_command_line();

}  // namespace rdmacfg::ctl
