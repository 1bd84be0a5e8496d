// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// Commands for the sections other than [[ipoib]]; those that no command can do are noted.
void render_section_commands(const std::vector<model::Section>& sections, std::string& out,
                             std::vector<Remark>& notes);

}  // namespace rdmacfg::foreign
