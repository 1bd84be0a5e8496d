// SPDX-License-Identifier: Apache-2.0
#include "daemon/loop.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <time.h>

#include <stdexcept>
#include <utility>

#include "daemon/bus/guarded.hpp"

namespace rdmacfg::daemon {

namespace {

struct Sources {
  sd_event_source* first = nullptr;
  sd_event_source* second = nullptr;
  std::function<void()> call;
  std::function<void(int)> call_status;
  std::function<Loop::Interest()> interest;

  Sources() = default;
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;
  ~Sources() {
    for (auto* source : {first, second}) {
      if (source == nullptr) continue;
      (void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
      sd_event_source_unref(source);
    }
  }
};

void check(int status, const char* what) {
  if (status < 0) throw std::runtime_error(std::string(what) + " failed: " + std::to_string(-status));
}

// A callback may drop the handle of its own source: its object has to last until it returns.
int call(void* data) {
  const auto keep = static_cast<Sources*>(data)->call;
  (void)guarded("a callback", keep);
  return 0;
}
int on_io(sd_event_source*, int, std::uint32_t, void* data) { return call(data); }
int on_time(sd_event_source*, std::uint64_t, void* data) { return call(data); }
int on_signal_source(sd_event_source*, const signalfd_siginfo*, void* data) { return call(data); }
int on_child(sd_event_source*, const siginfo_t* info, void* data) {
  const auto keep = static_cast<Sources*>(data)->call_status;
  const int status =
      info->si_code == CLD_EXITED ? W_EXITCODE(info->si_status, 0) : W_EXITCODE(0, info->si_status);
  (void)guarded("the end of a process", [&] { keep(status); });
  return 0;
}
int prepare(sd_event_source*, void* data) {
  auto& sources = *static_cast<Sources*>(data);
  Loop::Interest interest;
  (void)guarded("waiting", [&] { interest = sources.interest(); });
  std::uint32_t events = 0;
  if ((interest.events & POLLIN) != 0) events |= EPOLLIN;
  if ((interest.events & POLLOUT) != 0) events |= EPOLLOUT;
  (void)sd_event_source_set_io_events(sources.first, events);
  if (interest.deadline_us == UINT64_MAX) {
    (void)sd_event_source_set_enabled(sources.second, SD_EVENT_OFF);
  } else {
    (void)sd_event_source_set_time(sources.second, interest.deadline_us);
    (void)sd_event_source_set_enabled(sources.second, SD_EVENT_ONESHOT);
  }
  return 0;
}

}  // namespace

struct Loop::State {
  sd_event* event = nullptr;
};

Loop::Loop() : state_(std::make_unique<State>()) {
  check(sd_event_default(&state_->event), "sd_event_default");
  (void)sd_event_set_watchdog(state_->event, 1);
}

Loop::~Loop() { sd_event_unref(state_->event); }

Loop::Handle Loop::on_readable(int fd, std::function<void()> ready) {
  auto sources = std::make_shared<Sources>();
  sources->call = std::move(ready);
  check(sd_event_add_io(state_->event, &sources->first, fd, EPOLLIN, on_io, sources.get()),
        "sd_event_add_io");
  return sources;
}

Loop::Handle Loop::on_changing(int fd, std::function<Interest()> interest, std::function<void()> ready) {
  auto sources = std::make_shared<Sources>();
  sources->call = std::move(ready);
  sources->interest = std::move(interest);
  check(sd_event_add_io(state_->event, &sources->first, fd, 0, on_io, sources.get()), "sd_event_add_io");
  check(sd_event_add_time(state_->event, &sources->second, CLOCK_MONOTONIC, 0, 0, on_time, sources.get()),
        "sd_event_add_time");
  (void)sd_event_source_set_enabled(sources->second, SD_EVENT_OFF);
  check(sd_event_source_set_prepare(sources->first, prepare), "sd_event_source_set_prepare");
  return sources;
}

Loop::Handle Loop::after(std::chrono::milliseconds delay, std::function<void()> due) {
  auto sources = std::make_shared<Sources>();
  sources->call = std::move(due);
  // From now, not from when the loop woke, as sd_event_add_time_relative(3) counts: a long callback would
  // have it too early. Accuracy of 1 ms, else sd-event may add 250 ms to a deadline.
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto now_us =
      static_cast<std::uint64_t>(now.tv_sec) * 1000000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000;
  check(sd_event_add_time(state_->event, &sources->first, CLOCK_BOOTTIME,
                          now_us + static_cast<std::uint64_t>(delay.count()) * 1000, 1000, on_time,
                          sources.get()),
        "sd_event_add_time");
  return sources;
}

Loop::Handle Loop::on_exit(int pid, std::function<void(int status)> ended) {
  auto sources = std::make_shared<Sources>();
  sources->call_status = std::move(ended);
  check(sd_event_add_child(state_->event, &sources->first, pid, WEXITED, on_child, sources.get()),
        "sd_event_add_child");
  return sources;
}

Loop::Handle Loop::on_signal(int number, std::function<void()> came) {
  auto sources = std::make_shared<Sources>();
  sources->call = std::move(came);
  check(sd_event_add_signal(state_->event, &sources->first, number, on_signal_source, sources.get()),
        "sd_event_add_signal");
  return sources;
}

int Loop::run() { return sd_event_loop(state_->event); }
void Loop::stop(int status) { (void)sd_event_exit(state_->event, status); }

std::chrono::milliseconds Loop::now() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::milliseconds(static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000);
}

void notify(const std::string& state) { (void)sd_notify(0, state.c_str()); }

}  // namespace rdmacfg::daemon
