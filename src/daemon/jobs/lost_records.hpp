// SPDX-License-Identifier: Apache-2.0
// When the configuration is applied because a hold has found the records lost. A disk that loses them again
// and again makes no loop of applies. No clock in here: time is an argument.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace rdmacfg::daemon {

class LostRecords {
 public:
  using Time = std::chrono::milliseconds;  ///< CLOCK_BOOTTIME

  static constexpr Time kBackOffMin{1000};
  static constexpr Time kBackOffMax{300'000};
  /// After this long without a loss, the next one counts as the first.
  static constexpr Time kQuiet{600'000};

  /// A hold has found them lost. The first loss is answered at once, each further one later.
  /// @return when the configuration may be applied
  Time found(Time now) {
    const bool is_first = !due_ || now - *due_ >= kQuiet;
    due_ = is_first ? now : std::max(now, *due_ + delay_);
    delay_ = is_first ? kBackOffMin : std::min(delay_ * 2, kBackOffMax);
    return *due_;
  }

  /// An administrator has applied: losses up to now are over.
  void forget() { due_.reset(); }

  /// `next`, or when the last loss may be answered, if that is later.
  [[nodiscard]] Time not_before(Time next) const { return due_ ? std::max(next, *due_) : next; }

 private:
  std::optional<Time> due_;
  Time delay_ = kBackOffMin;
};

}  // namespace rdmacfg::daemon
