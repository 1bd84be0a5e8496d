// SPDX-License-Identifier: Apache-2.0
// Flags of opensm's command line, and the option of opensm.conf that each sets (main.c).
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace rdmacfg::foreign {

/// One flag.
struct OpensmFlag {
  std::string_view letter;  ///< "R"; empty: it has none
  std::string_view name;    ///< "routing_engine"
  std::string_view option;  ///< empty: our unit has it, too, or it concerns no fabric
  std::string_view value;   ///< that it sets; empty: the word after it
};

/// The flag of this letter or name; nullptr where opensm has none.
const OpensmFlag* find_flag(std::string_view flag);

/// Flags of a command line without their dashes, each with its value: "p" and "3" of "-p 3" or
/// "--priority=3".
std::vector<std::pair<std::string_view, std::string_view>> flags_of(std::string_view command);

}  // namespace rdmacfg::foreign
