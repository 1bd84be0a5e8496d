// SPDX-License-Identifier: Apache-2.0
// Wiring only: the adapters of a real Linux, and the terminal.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <thread>

#include "base/standard_files.hpp"
#include "ctl/pager.hpp"
#include "ctl/run.hpp"
#include "store/confined.hpp"
#include "store/lock.hpp"
#include "system/linux/fabric/fabric_reader.hpp"
#include "system/linux/linux_host.hpp"
#include "system/linux/sandbox.hpp"

namespace {

using namespace rdmacfg;

constexpr std::chrono::seconds kLockDeadline{120};
constexpr std::chrono::seconds kDocumentDeadline{10};  ///< whoever writes a document needs no second

/// sudo(8) drops SSH_CONNECTION: the session's own processes still have it.
std::string of_ancestors(const std::string& name) {
  constexpr int kMost = 12;
  auto pid = ::getppid();
  for (int i = 0; i < kMost && pid > 1; ++i) {
    std::ifstream environment(fmt::format("/proc/{}/environ", pid), std::ios::binary);
    for (std::string variable; std::getline(environment, variable, '\0');) {
      if (variable.starts_with(name + "=")) return variable.substr(name.size() + 1);
    }
    std::ifstream stat(fmt::format("/proc/{}/stat", pid));
    std::string text;
    std::getline(stat, text);
    const auto end = text.rfind(')');  // the name in front of it may have blanks
    char state = 0;
    if (end == std::string::npos || std::sscanf(text.c_str() + end + 1, " %c %d", &state, &pid) != 2) break;
  }
  return {};
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr && std::string_view(name) == "SSH_CONNECTION") return of_ancestors(name);
  return value == nullptr ? "" : value;
}

/// Runs a command line of the user's with the terminal, as git(1) runs its editor and pager. @return its exit
/// status
base::Result<int> run_on_terminal(const std::string& line, const std::vector<std::string>& more, int in) {
  std::vector<std::string> words{"sh", "-c", more.empty() ? line : line + " \"$@\"", line};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (in >= 0) posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  // ^C is the editor's, or the pager's, while it runs.
  const auto interrupt = ::signal(SIGINT, SIG_IGN);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  for (const int number : {SIGINT, SIGPIPE}) sigaddset(&usual, number);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, "/bin/sh", &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (in >= 0) ::close(in);
  int status = 0;
  if (failed == 0)
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  ::signal(SIGINT, interrupt);
  if (failed != 0) return base::fail_errno(failed, line);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

base::Result<int> edit(const std::filesystem::path& file) {
  std::string editor;
  for (const char* name : {"VISUAL", "EDITOR"}) {
    if (editor.empty()) editor = variable(name);
  }
  // Debian's choice, then what POSIX has.
  if (editor.empty()) editor = ::access("/usr/bin/editor", X_OK) == 0 ? "editor" : "vi";
  return run_on_terminal(editor, {file.string()}, -1);
}

/// As git has it: less with -FRX, which leaves again where the text fits.
bool page(const std::string& text) {
  const bool less = ::access(ctl::kLess, X_OK) == 0;
  const auto pager = ctl::pager_of(variable, less ? ctl::LessOnHost::kInstalled : ctl::LessOnHost::kMissing);
  if (pager.command.empty() || pager.command == "cat") return false;
  if (pager.confined) {
    ::setenv("LESSSECURE", "1", 1);
    ::unsetenv("LESSSECURE_ALLOW");  // it takes single features out of the secure mode
  }
  ::setenv("LESS", "FRX", 0);
  ::setenv("LV", "-c", 0);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  std::thread writer([&text, end = ends[1]] {
    for (std::size_t done = 0; done < text.size();) {
      const auto count = ::write(end, text.data() + done, text.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;  // the reader has seen enough
      done += static_cast<std::size_t>(count);
    }
    ::close(end);
  });
  const auto status = run_on_terminal(pager.command, {}, ends[0]);
  writer.join();
  constexpr int kNotFound = 127;  // sh(1)
  return status && *status != kNotFound;
}

void give_up_after(std::chrono::seconds time) {
  ::signal(SIGALRM, [](int) {
    constexpr std::string_view kText = "rdma-configctl: error: no answer within the time of --timeout\n";
    (void)!::write(STDERR_FILENO, kText.data(), kText.size());
    ::_exit(1);
  });
  ::alarm(static_cast<unsigned>(time.count()));
}

bool readable(std::chrono::milliseconds time) {
  // Text that getline() has read ahead is not in the descriptor any more.
  if (std::cin.rdbuf()->in_avail() > 0) return true;
  pollfd fd{STDIN_FILENO, POLLIN, 0};
  return ::poll(&fd, 1, static_cast<int>(time.count())) == 1;
}

winsize terminal_size() {
  winsize size{};
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size;
  }
  return {};
}

bool reader_is_gone() {
  pollfd fd{STDOUT_FILENO, 0, 0};
  return ::poll(&fd, 1, 0) == 1 && (fd.revents & POLLERR) != 0;
}

std::shared_ptr<system::Host> host_below(const std::filesystem::path& root) {
  auto host = system::make_linux_host(root);
  host->for_others = ::geteuid() != 0;
  return host;
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

/// Runs before others until it is released. A process that holds RTNL and loses the processor makes
/// everybody wait, and udev's workers try as soon as an interface is made.
std::shared_ptr<void> take_precedence() {
  constexpr int kNice = -10;  // as rdma-configd.service has it
  const auto before = std::make_shared<int>(::getpriority(PRIO_PROCESS, 0));
  if (*before <= kNice || ::setpriority(PRIO_PROCESS, 0, kNice) != 0) return {};
  return {before.get(), [before](int* nice) { (void)::setpriority(PRIO_PROCESS, 0, *nice); }};
}

}  // namespace

int main(int argc, char** argv) {
  if (!base::take_standard_files()) return 1;
  // A reader that went away must not stop an apply half way; writing to it just fails.
  ::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  core::confine_others_by(system::run_parser_confined);
  ctl::Environment environment{.in = std::cin,
                               .out = std::cout,
                               .err = std::cerr,
                               .in_terminal = ::isatty(STDIN_FILENO) == 1,
                               .out_terminal = ::isatty(STDOUT_FILENO) == 1,
                               .err_terminal = ::isatty(STDERR_FILENO) == 1,
                               .columns = terminal_size().ws_col,
                               .privileged = ::geteuid() == 0,
                               .host_name = system::linux_host_name(),
                               .variable = variable,
                               .host = host_below,
                               .function_test = system::make_linux_function_test,
                               .fabric_reader = system::make_linux_fabric_reader,
                               .lock =
                                   [](const auto& root, const auto& waiting) {
                                     return core::take_lock(core::lock_of(root), kLockDeadline, waiting);
                                   },
                               .lock_document =
                                   [](const auto& folder) {
                                     return core::take_lock(
                                         folder.empty() ? std::filesystem::path(core::kDocumentLock) : folder,
                                         kDocumentDeadline, [](const std::string&) {});
                                   },
                               .service = [] { return ctl::connect_to_service(); },
                               .give_up_after = give_up_after,
                               .hang_up = [](int pid) { return ::kill(pid, SIGHUP) == 0; },
                               .edit = edit,
                               .page = page,
                               .rows = terminal_size().ws_row,
                               .readable = readable,
                               .hold_signals = hold_signals,
                               .take_precedence = take_precedence,
                               .reader_is_gone = reader_is_gone};
  return ctl::run(argc, argv, environment);
}
