// SPDX-License-Identifier: Apache-2.0
// When a record that /var could not take is written there again: nothing tells of space that is free, or of a
// file system that was remounted. No clock in here: time is an argument.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace rdmacfg::daemon {

class Unwritten {
 public:
  using Time = std::chrono::milliseconds;  ///< CLOCK_BOOTTIME

  static constexpr Time kBackOffMin{5000};
  static constexpr Time kBackOffMax{60'000};

  /// A record waits. This does not put the next try off.
  void waits(Time now) {
    if (!due_) due_ = now + delay_;
  }

  /// A run that will write the record was requested. It may not start while the retry of a run that failed as
  /// a whole is pending.
  void asked(Time now) { due_ = now + delay_; }

  /// A run failed to write the record.
  void tried(Time now) {
    due_ = now + delay_;
    delay_ = std::min(delay_ * 2, kBackOffMax);
  }

  /// No record waits.
  void written() {
    due_.reset();
    delay_ = kBackOffMin;
  }

  [[nodiscard]] std::optional<Time> due() const { return due_; }

  /// The same, unless a run at `next` writes the record earlier.
  [[nodiscard]] std::optional<Time> due_before(std::optional<Time> next) const {
    return due_ && next && *next <= *due_ ? std::nullopt : due_;
  }

 private:
  std::optional<Time> due_;
  Time delay_ = kBackOffMin;
};

}  // namespace rdmacfg::daemon
