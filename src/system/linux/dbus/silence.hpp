// SPDX-License-Identifier: Apache-2.0
// Managers that have not answered, remembered by all that ask them: the first question costs its whole
// deadline, the next ones a moment.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace rdmacfg::system {

/// Whether a peer is presumed silent. Threads may share it.
class Silence {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  /// How long a peer is presumed silent after it did not answer, and what it gets for an answer then.
  static constexpr std::chrono::seconds kLasts{60};
  static constexpr std::chrono::milliseconds kBriefly{250};

  explicit Silence(Now clock) : now_(std::move(clock)) {}

  [[nodiscard]] Clock::time_point now() const { return now_(); }
  [[nodiscard]] bool presumed() const { return now_().time_since_epoch().count() < until_; }
  /// How long the next answer is waited for; at most `whole`.
  [[nodiscard]] std::chrono::milliseconds patience(std::chrono::milliseconds whole) const {
    return presumed() ? std::min(whole, kBriefly) : whole;
  }
  /// It did not answer. A brief wait in vain does not extend the silence: a slow peer gets its whole time
  /// again after kLasts, however often it is asked.
  void note() {
    if (!presumed()) until_ = (now_() + kLasts).time_since_epoch().count();
  }
  /// It answered.
  void end() { until_ = Clock::duration::min().count(); }

 private:
  Now now_;
  std::atomic<Clock::rep> until_{Clock::duration::min().count()};
};

/// The peers that several adapters ask.
class Silences {
 public:
  explicit Silences(Silence::Now clock = &Silence::Clock::now)
      : bus(clock), systemd(clock), clock_(std::move(clock)) {}

  Silence bus;      ///< the system bus
  Silence systemd;  ///< at its own socket or behind the bus

  /// Of who has a name on a bus that answers. The reference stays good.
  Silence& behind(const std::string& name) {
    const std::lock_guard hold(mutex_);
    return behind_.try_emplace(name, clock_).first->second;
  }

 private:
  Silence::Now clock_;
  std::mutex mutex_;
  std::map<std::string, Silence> behind_;
};

}  // namespace rdmacfg::system
