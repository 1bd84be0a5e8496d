// SPDX-License-Identifier: Apache-2.0
// Shell scripts as lines of commands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rdmacfg::foreign {

/// A line of a script; those that it goes on in are joined.
struct ScriptLine {
  std::string text;
  int number = 0;      ///< of its first line
  bool again = false;  ///< of a loop, but not for its first word
};

/// The lines of a script but for empty ones and comments, with variables and loops written out
/// (shell_loops.hpp).
std::vector<ScriptLine> lines_of_script(std::string_view script);

/// The line that ends the text which begins behind this one ("<<EOF"); empty where none does.
std::string end_of_text(std::string_view line);

}  // namespace rdmacfg::foreign
