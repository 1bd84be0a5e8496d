// SPDX-License-Identifier: Apache-2.0
// When an apply that nobody confirmed is taken back, and, when that does not succeed, when it is tried again.
// No clock in here: time is an argument.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace rdmacfg::daemon {

class Expiry {
 public:
  using Time = std::chrono::milliseconds;  ///< CLOCK_BOOTTIME

  static constexpr Time kAhead{2000};  ///< of it, its worker is started
  static constexpr Time kBackOffMin{1000};
  static constexpr Time kBackOffMax{60'000};

  /// The deadline that the ledger has; the one known before keeps its back-off.
  void set(std::optional<Time> deadline) {
    if (deadline == deadline_) return;
    deadline_ = deadline;
    not_before_ = Time(0);
    delay_ = kBackOffMin;
  }

  /// It was tried.
  void tried(Time now) {
    not_before_ = now + delay_;
    delay_ = std::min(delay_ * 2, kBackOffMax);
  }

  [[nodiscard]] std::optional<Time> due() const {
    return deadline_ ? std::optional(std::max(*deadline_, not_before_)) : std::nullopt;
  }

 private:
  std::optional<Time> deadline_;
  Time not_before_{0};
  Time delay_ = kBackOffMin;
};

}  // namespace rdmacfg::daemon
