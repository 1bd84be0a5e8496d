// SPDX-License-Identifier: Apache-2.0
// Files of units as lines.
#pragma once

#include <string_view>
#include <vector>

#include "foreign/syntax/shell_script.hpp"

namespace rdmacfg::foreign {

/// Lines as systemd.syntax(7) joins them: '\\' at the end is a blank, and comments between are left out.
std::vector<ScriptLine> lines_of_unit(std::string_view text);

}  // namespace rdmacfg::foreign
