// SPDX-License-Identifier: Apache-2.0
#include "system/linux/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
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
  pid_t pid = 0;
  if (const int err = ::posix_spawn(&pid, words.front().c_str(), &actions.raw, nullptr, arguments.data(),
                                    environment.data());
      err != 0) {
    return fail_errno(err, words.front());
  }
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(pid), 0);  // building an image is not urgent
  writing.reset();
  std::string said;
  const bool in_time = read_words(reading.get(), said, end);
  if (!in_time) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return fail_errno(errno, words.front());
  }
  if (!in_time) return fail(Code::kTimeout, words.front() + ": timed out");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(Code::kRefused, fmt::format("{}: {}", words.front(), base::trim(said)));
}

}  // namespace rdmacfg::system::detail
