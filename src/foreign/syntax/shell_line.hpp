// SPDX-License-Identifier: Apache-2.0
// Lines of a shell, as far as files of other tools have such.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdmacfg::foreign {

/// Of names of variables: letters, digits and underscores.
bool is_name_character(char c);
/// Whether a shell takes it for the name of a variable.
bool is_variable_name(std::string_view name);

/// A simple command of a line, and what joins it to the one before.
struct Part {
  std::string_view joint;  ///< "", ";", ";;", "&&", "||", "|" or "&"
  std::string_view text;
};

/// The simple commands of a line, of which the parts are views. Text in quotation marks is one word; "||
/// true" and the like, which only hide that a command failed, are none. Behind ";;" there may be no command.
std::vector<Part> parts_of(std::string_view line);

/// Words as a shell would make them of a simple command, with $IFACE as `own` and '>' by itself; without what
/// only sends output away or only runs the command (sudo, nohup, "LANG=C"). The command's own path is left
/// out, and abbreviations of ip(8) are written in full.
std::vector<std::string> shell_words(std::string_view command, const std::string& own);

/// The text that `sh -c`, `su -c`, `flock -c` or `eval` runs; empty for other commands.
std::string_view script_of_shell(std::string_view command);

/// A command as a report may have it: with "…" in place of passwords and keys.
std::string without_secrets(std::string_view command);

/// The place of "addr", "link" or "route" in a command of ip(8), behind its options; their number where it
/// has none.
std::size_t ip_object(const std::vector<std::string>& words);

/// Whether ip(8) reads its commands from a file or from standard input.
bool is_ip_batch(const std::vector<std::string>& words);

/// A command in another network namespace than the script's.
struct Elsewhere {
  std::string name;                  ///< of the namespace; "of nsenter" where that is not said
  std::vector<std::string> command;  ///< its words there
};

/// "storage" of `ip -n storage …`, of `ip netns exec storage …` and of nsenter(1); nothing for other
/// commands.
std::optional<Elsewhere> elsewhere_of(const std::vector<std::string>& words);

}  // namespace rdmacfg::foreign
