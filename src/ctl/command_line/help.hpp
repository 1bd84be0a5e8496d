// SPDX-License-Identifier: Apache-2.0
// The output of --help.
#pragma once

#include <string>

#include "ctl/command_line/parser.hpp"
#include "ctl/render/terminal.hpp"

namespace rdmacfg::ctl::detail {

/// Of the program.
std::string help_of(const Parser& parser, const Terminal& terminal);

/// Of a subcommand of it.
std::string help_of(const CLI::App& sub, const Parser& parser, const Terminal& terminal);

}  // namespace rdmacfg::ctl::detail
