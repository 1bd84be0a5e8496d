// SPDX-License-Identifier: Apache-2.0
// When the host is looked at though nothing has told of a change. No clock in here: time is an argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace rdmacfg::daemon {

class Audit {
 public:
  using Time = std::chrono::milliseconds;  ///< CLOCK_BOOTTIME

  /// @param jitter factor around 1, so that a cluster does not look in step
  explicit Audit(std::function<double()> jitter = [] { return 1.0; }) : jitter_(std::move(jitter)) {}

  /// The longest period while changes of some things are not heard of.
  static constexpr Time kIncomplete{60'000};

  /// Whether events tell of all changes.
  enum class Events { kComplete, kIncomplete };

  /// The period to set() for the one that the document has.
  [[nodiscard]] static Time period(Time wanted, Events events) {
    const bool late = wanted.count() == 0 || wanted > kIncomplete;
    return events == Events::kIncomplete && late ? kIncomplete : wanted;
  }

  /// The period that the document has; 0: never. Another one than before begins now.
  void set(Time every, Time now) {
    if (every == every_) return;
    every_ = every;
    looked(now);
  }

  /// A run has looked at everything. Only this puts the next one off: other activity does not.
  void looked(Time now) {
    due_.reset();
    if (every_.count() > 0)
      due_ = now + Time(static_cast<std::int64_t>(static_cast<double>(every_.count()) * jitter_()));
  }

  /// A run that is to look at everything is asked for. It may not come, as when another one that failed as a
  /// whole is waited for.
  void asked(Time now) { looked(now); }

  [[nodiscard]] std::optional<Time> due() const { return due_; }

  /// The same where no other run is due before that, at `next`.
  [[nodiscard]] std::optional<Time> due_before(std::optional<Time> next) const {
    return due_ && next && *next <= *due_ ? std::nullopt : due_;
  }

 private:
  std::function<double()> jitter_;
  Time every_{0};
  std::optional<Time> due_;
};

}  // namespace rdmacfg::daemon
