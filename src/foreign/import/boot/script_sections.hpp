// SPDX-License-Identifier: Apache-2.0
// Commands of scripts that the document has a section for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// The section that says what a command does; empty when it is not about RDMA, or only looks.
/// @param words  of the command, as shell_words() has them
/// @param text  the command as it is written
std::string_view script_section(const std::vector<std::string>& words, std::string_view text,
                                const Claims& claims);

}  // namespace rdmacfg::foreign
