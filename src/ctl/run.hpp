// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ctl/environment.hpp"

namespace rdmacfg::ctl {

/// The whole of rdma-configctl.
/// @return the exit status, see model::Exit.
int run(int argc, const char* const* argv, Environment& environment);

}  // namespace rdmacfg::ctl
