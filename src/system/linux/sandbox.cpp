// SPDX-License-Identifier: Apache-2.0
#include "system/linux/sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <new>

#include "base/sanitizers.hpp"
#include "base/unique_fd.hpp"
#include "model/limits.hpp"
#include "system/linux/sandbox_rules.hpp"

namespace rdmacfg::system {

using base::Code;
using base::Result;

namespace {

constexpr int kPipe = 3;  ///< the child's only descriptor
constexpr uid_t kNobody = 65534;

enum Ended : int { kDone = 0, kNoSandbox = 101, kNoMemory = 102, kFailed = 103 };

void set_limit(__rlimit_resource which, rlim_t value) {
  const rlimit limit{value, value};
  (void)::setrlimit(which, &limit);
}

void bound(const SandboxLimits& limits) {
  set_limit(RLIMIT_CPU, static_cast<rlim_t>(limits.cpu.count()));
  // A sanitizer's shadow memory takes terabytes of address space.
  if constexpr (!base::kSanitized) set_limit(RLIMIT_AS, limits.memory_bytes);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, 0);
  set_limit(RLIMIT_NPROC, 0);
}

/// Both take capabilities that the service does not have; the filter holds without them.
void drop_identity() {
  const bool dropped = ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
                       ::setresuid(kNobody, kNobody, kNobody) == 0;
  static_cast<void>(dropped);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  (void)::syscall(SYS_capset, &header, none.data());
}

[[maybe_unused]] bool filter() {
  const auto rules = detail::sandbox_rules(::seccomp_arch_native(), kPipe);
  return rules && ::seccomp_load(rules.get()) == 0;
}

[[noreturn]] void be_the_child(const std::function<std::string()>& compute, const SandboxLimits& limits,
                               int out, pid_t parent) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2, SIGXCPU})
    ::signal(number, SIG_DFL);
  if (out != kPipe && ::dup2(out, kPipe) < 0) ::_exit(kNoSandbox);
  if (::close_range(0, kPipe - 1, 0) != 0 || ::close_range(kPipe + 1, ~0U, 0) != 0) ::_exit(kNoSandbox);
  bound(limits);
  drop_identity();
  // After that: the kernel clears this signal when the user changes (commit_creds()).
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kFailed);
  (void)::prctl(PR_SET_DUMPABLE, 0);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) ::_exit(kNoSandbox);
  // A sanitizer's runtime makes system calls of its own at any time.
  if constexpr (!base::kSanitized) {
    if (!filter()) ::_exit(kNoSandbox);
  }
  try {
    const auto answer = compute();
    for (std::size_t done = 0; done < answer.size();) {
      const auto count = ::write(kPipe, answer.data() + done, answer.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) ::_exit(kFailed);
      done += static_cast<std::size_t>(count);
    }
  } catch (const std::bad_alloc&) {
    ::_exit(kNoMemory);
  } catch (...) {
    ::_exit(kFailed);
  }
  ::_exit(kDone);
}

/// Both processes enter it, and coverage counts both: of a branch behind fork(2) itself only one entry is
/// counted.
void part_sandbox(pid_t child, const std::function<std::string()>& compute, const SandboxLimits& limits,
                  int out, pid_t parent) {
  if (child == 0) be_the_child(compute, limits, out, parent);
}

/// Everything up to the end of the pipe; kRefused when it is too long or comes too late.
Result<std::string> read_answer(int fd, const SandboxLimits& limits) {
  const auto deadline = std::chrono::steady_clock::now() + limits.time;
  std::string answer;
  std::array<char, 65536> chunk{};
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd ready{fd, POLLIN, 0};
    const auto polled = left.count() <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left.count()));
    if (polled < 0 && errno == EINTR) continue;
    if (polled <= 0)
      return base::fail(Code::kRefused,
                        fmt::format("took longer than the {} s allowed", limits.time.count()));
    const auto count = ::read(fd, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::fail_errno(errno, "reading the sandbox's result");
    if (count == 0) return answer;
    if (answer.size() + static_cast<std::size_t>(count) > limits.answer_bytes)
      return base::fail(Code::kRefused,
                        fmt::format("came to more than the {} bytes allowed", limits.answer_bytes));
    answer.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

Result<std::string> run_confined(const std::function<std::string()>& compute, const SandboxLimits& limits) {
  std::array<int, 2> pipe{-1, -1};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return base::fail_errno(errno, "creating a pipe for the sandbox");
  const base::UniqueFd in(pipe[0]);
  base::UniqueFd out(pipe[1]);
  const auto parent = ::getpid();
  const auto child = ::fork();
  if (child < 0) return base::fail_errno(errno, "starting the sandbox");
  part_sandbox(child, compute, limits, out.get(), parent);
  out.reset();
  auto answer = read_answer(in.get(), limits);
  if (!answer) (void)::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!answer) return answer;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kDone) return answer;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoSandbox)
    return base::fail(Code::kUnsupported, "could not be confined: the kernel installs no seccomp filter");
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
    return base::fail(Code::kRefused,
                      fmt::format("took more than the {} s of processor time allowed", limits.cpu.count()));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMemory)
    return base::fail(Code::kRefused, fmt::format("took more than the {} MiB of memory allowed",
                                                  limits.memory_bytes / 1024 / 1024));
  return base::fail(Code::kIo, WIFSIGNALED(status)
                                   ? fmt::format("ended by signal {}", WTERMSIG(status))
                                   : fmt::format("ended with status {}", WEXITSTATUS(status)));
}

Result<std::string> run_parser_confined(const std::function<std::string()>& compute) {
  namespace limits = model::limits;
  return run_confined(compute, {.cpu = limits::kParseCpu,
                                .memory_bytes = limits::kParseMemory,
                                .answer_bytes = limits::kParsedBytes,
                                .time = limits::kLookTime});
}

}  // namespace rdmacfg::system
