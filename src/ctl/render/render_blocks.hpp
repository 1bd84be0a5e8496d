// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ctl/render/blocks.hpp"
#include "ctl/render/terminal.hpp"

namespace rdmacfg::ctl {

/// Each block with its sign and title, current → desired value of every attribute, and its interruptions;
/// with `explain` the place in the document that asks for the value.
std::string render_blocks(const std::vector<Block>& blocks, const Terminal& terminal, bool explain);

}  // namespace rdmacfg::ctl
