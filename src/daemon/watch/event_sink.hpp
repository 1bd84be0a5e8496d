// SPDX-License-Identifier: Apache-2.0
// Where the daemon's sources of events put the news that they read.
#pragma once

#include <functional>
#include <vector>

#include "system/events.hpp"

namespace rdmacfg::daemon {

struct EventSink {
  std::function<void(const system::Event&)> came{};  ///< for each event
  std::function<void()> read{};                      ///< after all that there were at once

  /// Passes on what a source has read; nothing where there was nothing.
  void take(const std::vector<system::Event>& events) const {
    for (const auto& event : events) came(event);
    if (!events.empty()) read();
  }
};

}  // namespace rdmacfg::daemon
