// SPDX-License-Identifier: Apache-2.0
// Waiting in tests for what other processes and threads do, on a machine of any speed.
#pragma once

#include <chrono>
#include <thread>

namespace rdmacfg::unit {

/// How long a test waits for what has to come; after it the test fails.
inline constexpr std::chrono::milliseconds kPatience{60'000};

/// Asks `ready` again and again until it says yes. @return whether it did in time
template <class Ready>
bool wait_until(Ready ready) {
  constexpr std::chrono::milliseconds kRest{5};
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!ready()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kRest);
  }
  return true;
}

/// For a time limit that something else has to happen before: a loaded machine may be too slow for a short
/// limit, so longer and longer ones follow. `attempt`: (std::chrono::milliseconds limit) -> whether it came
/// out as it has to. @return whether an attempt did
template <class Attempt>
bool with_growing_limit(std::chrono::milliseconds first, Attempt attempt) {
  for (auto limit = first; limit <= kPatience; limit *= 2) {
    if (attempt(limit)) return true;
  }
  return false;
}

}  // namespace rdmacfg::unit
