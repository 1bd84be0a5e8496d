// SPDX-License-Identifier: Apache-2.0
#include "system/linux/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <vector>

#include "base/text.hpp"
#include "base/unique_fd.hpp"

namespace rdmacfg::system::detail {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kWordsKept = 4096;

struct Actions {
  posix_spawn_file_actions_t raw{};
  Actions() { ::posix_spawn_file_actions_init(&raw); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  ~Actions() { ::posix_spawn_file_actions_destroy(&raw); }
};

/// A process group of its own, with no signal ignored or blocked.
struct SpawnAttributes {
  posix_spawnattr_t raw{};
  SpawnAttributes() {
    ::posix_spawnattr_init(&raw);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&raw, &none);
    ::posix_spawnattr_setsigdefault(&raw, &all);
    ::posix_spawnattr_setpgroup(&raw, 0);
    ::posix_spawnattr_setflags(&raw, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&raw); }
};

/// Waits until the program has ended, and leaves it to be reaped, so that its group keeps its number. False
/// when the time is over. A kernel before 5.3 cannot tell: the caller reaps it without a limit.
bool wait_for_end(pid_t pid, Clock::time_point end) {
  const base::UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return true;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    pollfd waiting{.fd = process.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (left.count() <= 0) return false;
  }
}

/// The program's output until it closes the pipe. False when the time is over.
bool read_words(int fd, std::string& words, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    std::array<char, 1024> some{};
    const ssize_t got = ::read(fd, some.data(), some.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    words.append(some.data(), static_cast<std::size_t>(got));
    if (words.size() > kWordsKept) words.erase(0, words.size() - kWordsKept);
  }
}

}  // namespace

Result<void> run_command(std::span<const std::string> words, std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  std::vector<std::string> copies(words.begin(), words.end());
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (auto& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::string path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", locale = "LC_ALL=C";
  std::array<char*, 3> environment{path.data(), locale.data(), nullptr};

  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno(errno, words.front());
  const base::UniqueFd reading(ends[0]);
  base::UniqueFd writing(ends[1]);
  Actions actions;
  ::posix_spawn_file_actions_addopen(&actions.raw, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions.raw, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions.raw, writing.get(), STDERR_FILENO);
  const SpawnAttributes attributes;
  pid_t pid = 0;
  if (const int err = ::posix_spawn(&pid, words.front().c_str(), &actions.raw, &attributes.raw,
                                    arguments.data(), environment.data());
      err != 0) {
    return fail_errno(err, words.front());
  }
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(pid), 0);  // building an image is not urgent
  writing.reset();
  std::string said;
  const bool in_time = read_words(reading.get(), said, end) && wait_for_end(pid, end);
  if (!in_time) ::kill(-pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return fail_errno(errno, words.front());
  }
  if (!in_time) return fail(Code::kTimeout, words.front() + ": timed out");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(Code::kRefused, fmt::format("{}: {}", words.front(), base::trim(said)));
}

}  // namespace rdmacfg::system::detail
