// SPDX-License-Identifier: Apache-2.0
#include "ctl/render/progress.hpp"

#include <fmt/format.h>

namespace rdmacfg::ctl {

namespace {

constexpr std::chrono::milliseconds kSilence{1000};
constexpr std::chrono::milliseconds kRedraw{250};

}  // namespace

Progress::Progress(const Environment& environment, const Terminal& terminal)
    : environment_(environment), terminal_(terminal), start_(environment.now()) {
  if (environment_.err_terminal) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Progress::~Progress() {
  if (!environment_.err_terminal) return;
  thread_.request_stop();
  wake_.notify_all();
  thread_.join();
  if (drawn_) environment_.err << kClearLine << std::flush;
}

void Progress::step(std::size_t done, std::size_t total, const std::string& next) {
  const std::scoped_lock lock(mutex_);
  done_ = done;
  total_ = total;
  what_ = next;
  // It waits for somebody; where no line can be kept up to date that is said once.
  if (total == 0 && !next.empty() && !environment_.err_terminal)
    environment_.err << "rdma-configctl: " << clean(next, terminal_.utf8) << '\n' << std::flush;
}

void Progress::draw() {
  const std::scoped_lock lock(mutex_);
  const auto elapsed = environment_.now() - start_;
  if (!environment_.err_terminal || elapsed < kSilence) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(elapsed).count();
  std::string line = "applying";
  if (total_ == 0 && !what_.empty()) {
    line = what_;
  } else if (total_ > 0 && done_ >= total_) {
    line = "checking the result";
  } else if (total_ > 0) {
    line = fmt::format("applying {} of {}: {}", done_ + 1, total_, what_);
  }
  line = clean(fmt::format("{} {} {} s", line, terminal_.ellipsis(), seconds), terminal_.utf8);
  environment_.err << kClearLine << wrap(line, terminal_.width - 1).front() << std::flush;
  drawn_ = true;
}

void Progress::run(const std::stop_token& stop) {
  std::mutex waiting;
  std::unique_lock lock(waiting);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, kRedraw, [] { return false; });
    if (!stop.stop_requested()) draw();
  }
}

}  // namespace rdmacfg::ctl
