// SPDX-License-Identifier: Apache-2.0
// Commands of scripts that load modules: modprobe(8) and insmod(8) of kmod.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rdmacfg::foreign {

/// "ib_srp", and "/lib/modules/…/ib_srp.ko.xz" as insmod(8) has it.
bool is_module_of_rdma(std::string_view word);

/// A modprobe, as far as it is about RDMA.
struct ModprobeCall {
  std::vector<std::string> modules;  ///< of RDMA, with '_' for '-'; none where it concerns no such module
  std::string why;                   ///< why it cannot become [[module]] entries; empty when it can
};

/// @param words  of the command, as shell_words() has them
ModprobeCall modprobe_call_of(const std::vector<std::string>& words);

/// All of them in a command whose parts the shell joins; `why` with the part that it is about.
/// @param own  in place of $IFACE
ModprobeCall modprobe_calls_in(std::string_view command, const std::string& own);

/// The advice about a command that runs modprobe for RDMA; empty for others.
std::string modprobe_advice(std::string_view command);

/// Variables of a script whose value has names of RDMA modules.
using ModuleVariables = std::set<std::string, std::less<>>;

/// Adds NAME of "NAME=\"$NAME ib_srp\"", and of "for NAME in $LIST" where that is such a variable.
void note_modules(std::string_view line, ModuleVariables& variables);

/// Whether a word is such a variable: "$i", "${i}".
bool is_module_variable(std::string_view word, const ModuleVariables& variables);

}  // namespace rdmacfg::foreign
