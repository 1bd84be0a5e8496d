// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace rdmacfg::fabric {

/// Names folded by the last number of their first word: node001, node002, node003, login gives "login
/// node[001-003]". Numbers with another count of digits are another row. In order, each once.
std::string fold_names(std::vector<std::string> names);

}  // namespace rdmacfg::fabric
