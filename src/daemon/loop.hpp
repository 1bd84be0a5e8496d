// SPDX-License-Identifier: Apache-2.0
// The main loop: sd-event(3) in our words. Everything in the daemon's main process happens in its callbacks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace rdmacfg::daemon {

class Loop {
 public:
  /// Ends what it stands for when it goes.
  using Handle = std::shared_ptr<void>;

  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  /// `ready` whenever the descriptor can be read (POLLIN) or is at its end.
  Handle on_readable(int fd, std::function<void()> ready);

  /// Before every wait, `interest` says what is waited for: poll(2) events, and when to wake up at the
  /// latest.
  struct Interest {
    short events = 0;
    std::uint64_t deadline_us = UINT64_MAX;  ///< CLOCK_MONOTONIC; UINT64_MAX: never
  };
  Handle on_changing(int fd, std::function<Interest()> interest, std::function<void()> ready);

  /// Once, after `delay`.
  Handle after(std::chrono::milliseconds delay, std::function<void()> due);

  /// When the process ends; `status` as waitpid(2) has it.
  Handle on_exit(int pid, std::function<void(int status)> ended);

  /// The signal must be blocked.
  Handle on_signal(int number, std::function<void()> came);

  /// Runs until stop(). @return the status given there.
  int run();
  void stop(int status);

  static std::chrono::milliseconds now();  ///< CLOCK_BOOTTIME

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// sd_notify(3), and the watchdog that goes with it.
void notify(const std::string& state);

}  // namespace rdmacfg::daemon
