// SPDX-License-Identifier: Apache-2.0
// Scripts whose variables and loops have words of the script itself, without them: "for i in 0 1" is its
// commands with 0 and with 1 (sh(1), bash(1)).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foreign/syntax/shell_script.hpp"

namespace rdmacfg::foreign {

/// The lines with the values of variables that are assigned once, in any case, and with the commands of loops
/// for each of their words. Words that only the running script knows stay as they are.
std::vector<ScriptLine> spell_out_script(std::vector<ScriptLine> lines);

/// "echo connected | tee FILE FILE" with an `echo` into each of the files.
std::string spell_out_tee(std::string_view line);

}  // namespace rdmacfg::foreign
