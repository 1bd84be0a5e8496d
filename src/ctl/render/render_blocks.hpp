// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ctl/render/blocks.hpp"
#include "ctl/render/terminal.hpp"

namespace rdmacfg::ctl {

/// Whether each value has the place in the document that asks for it.
enum class Origins { kHidden, kShown };

/// Each block with its sign and title, current → desired value of every attribute, and its interruptions.
std::string render_blocks(const std::vector<Block>& blocks, const Terminal& terminal, Origins origins);

}  // namespace rdmacfg::ctl
