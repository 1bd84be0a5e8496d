// SPDX-License-Identifier: Apache-2.0
// The parts of manual pages and completions that are made of the program's own tables. The pages hold them
// between marks; packaging/update-generated puts them there, and a test finds what is stale.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ctl/options.hpp"
#include "model/section.hpp"

namespace rdmacfg::ctl {

/// SUBCOMMANDS and OPTIONS of rdma-configctl(1), man(7).
std::string render_man_commands(const std::vector<CommandInfo>& commands);

/// SECTIONS of rdma-configd.toml(5), man(7).
std::string render_man_sections(const std::vector<model::SectionSpec>& grammar);

// Completions: data in the words of each shell; the files around them know what to make of it.
std::string render_bash(const std::vector<CommandInfo>& commands);
std::string render_zsh(const std::vector<CommandInfo>& commands);
std::string render_fish(const std::vector<CommandInfo>& commands);

/// One of them by name: man-commands, man-sections, bash, zsh, fish. Empty: there is no such part.
std::string render_part(std::string_view name);

}  // namespace rdmacfg::ctl
