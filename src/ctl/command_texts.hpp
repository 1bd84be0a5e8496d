// SPDX-License-Identifier: Apache-2.0
// What --help and the manual page say of the subcommands.
#pragma once

#include <span>
#include <string_view>

namespace rdmacfg::ctl {

struct CommandText {
  const char* name;
  const char* doc;   ///< one line, in the list of all
  const char* text;  ///< of its own --help
};

/// The subcommands in the order of the list.
std::span<const CommandText> command_texts();

/// The exit statuses that all share.
std::string_view exit_statuses();

/// A first tour, for --help without a subcommand.
std::string_view first_tour();

}  // namespace rdmacfg::ctl
