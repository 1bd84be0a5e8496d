// SPDX-License-Identifier: Apache-2.0
// The share of a connection in one turn of the loop.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "daemon/loop.hpp"
#include "model/limits.hpp"

namespace rdmacfg::daemon {

/// Calls `handle_one` while it says that there may be more, at most limits::kBusMessages times, and no more
/// once `answers_wait`: timers, signals and workers have a turn before the rest, however fast clients send.
/// sd_bus_get_timeout(3) is 0 while messages are left that were read already.
template <class One, class Waits>
void dispatch_batch(One handle_one, Waits answers_wait) {
  for (std::size_t handled = 0; handled < model::limits::kBusMessages && handle_one(); ++handled) {
    if (answers_wait()) return;
  }
}

/// Whether messages of ours wait for the bus to take them, by the events of sd_bus_get_events(3).
inline bool do_answers_wait(short events) { return (events & POLLOUT) != 0; }

/// Events and deadline for the loop. While answers wait, no more calls are read: a call is shorter than its
/// answer, the bus takes as many bytes as it gives, and sd-bus would keep gigabytes of answers to a client
/// that only sends.
/// @param events       of sd_bus_get_events(3)
/// @param deadline_us  of sd_bus_get_timeout(3); calls of ours time out later meanwhile
inline Loop::Interest interest_in_bus(short events, std::uint64_t deadline_us, std::uint64_t now_us) {
  constexpr std::uint64_t kPatience = 1'000'000;
  if (!do_answers_wait(events)) return {events, deadline_us};
  return {POLLOUT, std::max(deadline_us, now_us + kPatience)};
}

}  // namespace rdmacfg::daemon
