// SPDX-License-Identifier: Apache-2.0
// The process that looks at the fabric: libibnetdisc waits for each answer and knows no deadline, and handles
// what any host of the fabric may send, so that it runs in a child that can be ended.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "system/fabric_reader.hpp"
#include "system/linux/fabric/frames.hpp"

namespace rdmacfg::system::detail {

/// Looks at the fabric, and hands on each part as a frame; ends with EndFrame or FailureFrame. Writes to
/// stderr what the libraries say.
void explore(const FabricRequest& request, const std::function<void(Frame)>& send);

/// Clears counters, and says which did not answer (NotClearedFrame); ends in the same way.
void clear_counters_at(const FabricRequest& request, const std::vector<CounterPlace>& places,
                       const std::function<void(Frame)>& send);

}  // namespace rdmacfg::system::detail
