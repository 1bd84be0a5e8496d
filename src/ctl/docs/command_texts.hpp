// SPDX-License-Identifier: Apache-2.0
// The subcommands' texts in --help and the manual page.
#pragma once

#include <span>
#include <string_view>

namespace rdmacfg::ctl {

struct CommandText {
  const char* name;
  const char* usage;     ///< what stands behind the options; empty: nothing
  const char* doc;       ///< one line, in the list of all
  const char* text;      ///< of its own --help
  const char* examples;  ///< lines "ARGUMENTS\tWHAT IT DOES"; may be empty
};

/// The subcommands in the order of the list.
std::span<const CommandText> command_texts();

/// The entry of a subcommand; nullptr for one that is not listed.
const CommandText* find_command(std::string_view name);

/// The exit statuses that all share.
std::string_view exit_statuses();

/// A first tour, for --help without a subcommand.
std::string_view first_tour();

}  // namespace rdmacfg::ctl
