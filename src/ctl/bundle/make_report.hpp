// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ctl/command.hpp"

namespace rdmacfg::ctl {

/// `doctor --report FILE`: writes the file, or stdout where FILE is "-". @return the exit status
int make_report(const Context& context);

}  // namespace rdmacfg::ctl
