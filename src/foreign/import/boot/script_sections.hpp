// SPDX-License-Identifier: Apache-2.0
// Commands of scripts that the document has a section for.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// Advice about a command: to write the section that says the same, or to keep what the document has no
/// words for. Empty when it is not about RDMA, or only looks.
/// @param words  of the command, as shell_words() has them
/// @param text  the command as it is written
std::string script_advice(const std::vector<std::string>& words, std::string_view text, const Claims& claims);

/// The same of a command that a program runs (RUN of udev): for `sh -c`, of the first of its commands that
/// has an advice.
std::string script_advice(std::string_view command, const Claims& claims);

/// "modprobe ib_srp" of "then modprobe ib_srp".
std::string_view without_block_word(std::string_view command);

/// Whether a command touches what only IPoIB interfaces have, whatever the rest of it is.
bool touches_ipoib(std::string_view text);

/// "echo connected > $file", of which only the mode of IPoIB interfaces has such values; not those words in a
/// file of somebody else.
bool writes_mode(const std::vector<std::string>& words);

/// Variables of a script that may hold an interface of ours.
using InterfaceVariables = std::set<std::string, std::less<>>;

/// "i" of "$i" and "${i}"; empty for other words.
std::string_view variable_of(std::string_view word);

/// Whether the running script may make an interface of ours of it: "$i" of such a variable, and "ib$i".
bool may_be_ipoib(std::string_view word, const InterfaceVariables& variables);

/// Adds the variable of a loop over names of IPoIB interfaces, those that have such a name or the value of
/// such a variable, and those by which a hook that has such a name is told its interface.
void note_variables(std::string_view line, const Claims& claims, InterfaceVariables& variables);

}  // namespace rdmacfg::foreign
