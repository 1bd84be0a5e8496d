// SPDX-License-Identifier: Apache-2.0
// Wiring only: the adapters of a real Linux, and the terminal.
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "core/lock.hpp"
#include "ctl/run.hpp"
#include "system/linux/linux_host.hpp"

namespace {

using namespace rdmacfg;

constexpr std::chrono::seconds kLockDeadline{120};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int terminal_columns() {
  winsize size{};
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  }
  return 0;
}

bool reader_is_gone() {
  pollfd fd{STDOUT_FILENO, 0, 0};
  return ::poll(&fd, 1, 0) == 1 && (fd.revents & POLLERR) != 0;
}

/// Blocks what a terminal or a session's end would kill with, and lets it through again when it is released.
std::shared_ptr<void> hold_signals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) sigaddset(&held, signal);
  auto before = std::make_unique<sigset_t>();
  pthread_sigmask(SIG_BLOCK, &held, before.get());
  return {before.release(), [](sigset_t* mask) {
            pthread_sigmask(SIG_SETMASK, mask, nullptr);
            delete mask;
          }};
}

/// Runs before others until it is released. Whoever takes the processor from a process that holds RTNL makes
/// everybody wait, and udev's workers try as soon as an interface is made.
std::shared_ptr<void> take_precedence() {
  constexpr int kNice = -10;  // as rdma-configd.service has it
  const auto before = std::make_shared<int>(::getpriority(PRIO_PROCESS, 0));
  if (*before <= kNice || ::setpriority(PRIO_PROCESS, 0, kNice) != 0) return {};
  return {before.get(), [before](int* nice) { (void)::setpriority(PRIO_PROCESS, 0, *nice); }};
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that went away must not stop an apply half way; writing to it just fails.
  ::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  ctl::Environment environment{.in = std::cin,
                               .out = std::cout,
                               .err = std::cerr,
                               .in_terminal = ::isatty(STDIN_FILENO) == 1,
                               .out_terminal = ::isatty(STDOUT_FILENO) == 1,
                               .err_terminal = ::isatty(STDERR_FILENO) == 1,
                               .columns = terminal_columns(),
                               .privileged = ::geteuid() == 0,
                               .host_name = system::linux_host_name(),
                               .variable = variable,
                               .host = system::make_linux_host,
                               .function_test = system::make_linux_function_test,
                               .lock =
                                   [](const auto& root, const auto& waiting) {
                                     return core::take_lock(core::lock_of(root), kLockDeadline, waiting);
                                   },
                               .service = [] { return ctl::connect_to_service(); },
                               .hold_signals = hold_signals,
                               .take_precedence = take_precedence,
                               .reader_is_gone = reader_is_gone};
  return ctl::run(argc, argv, environment);
}
