// SPDX-License-Identifier: Apache-2.0
// The progress line of a terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "ctl/environment.hpp"
#include "ctl/render/terminal.hpp"

namespace rdmacfg::ctl {

/// To the start of the line, and empty it.
inline constexpr std::string_view kClearLine = "\r\033[K";

/// One line on a terminal's stderr that says what is going on, from the second second on: most applies are
/// over before. A thread of its own keeps it alive while the kernel takes its time. The line is gone at the
/// end.
class Progress {
 public:
  Progress(const Environment& environment, const Terminal& terminal);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// 0 of 0: it waits for `next`.
  void step(std::size_t done, std::size_t total, const std::string& next);

  /// Draws the line if it is time to.
  void draw();

 private:
  void run(const std::stop_token& stop);

  const Environment& environment_;
  Terminal terminal_;
  std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  std::string what_;
  bool drawn_ = false;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace rdmacfg::ctl
