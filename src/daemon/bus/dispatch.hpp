// SPDX-License-Identifier: Apache-2.0
// The share of a connection in one turn of the loop.
#pragma once

#include <cstddef>

#include "model/limits.hpp"

namespace rdmacfg::daemon {

/// Calls `handle_one` while it says that there may be more, at most limits::kBusMessages times: timers,
/// signals and workers have a turn before the rest, however fast clients send. sd_bus_get_timeout(3) is 0
/// while messages are left that were read already.
template <class One>
void dispatch_batch(One handle_one) {
  for (std::size_t handled = 0; handled < model::limits::kBusMessages && handle_one();) ++handled;
}

}  // namespace rdmacfg::daemon
