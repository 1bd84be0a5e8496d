// SPDX-License-Identifier: Apache-2.0
// Heads of loops in a shell script whose words stand elsewhere: the arguments of the script, and counting.
#pragma once

#include <string>
#include <vector>

#include "foreign/syntax/shell_script.hpp"

namespace rdmacfg::foreign {

/// Whether what `set --` makes of the arguments of the script holds until its end: it is the only one, before
/// all that asks for them, and neither `shift` nor the arguments of a function are in the way.
bool keeps_arguments(const std::vector<ScriptLine>& lines);

/// "for i in {0..3}" of the line "for ((i = 0; i < 4; i++))" (bash(1)); other lines as they are.
std::string without_counting(const std::string& line);

}  // namespace rdmacfg::foreign
