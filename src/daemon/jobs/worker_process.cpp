// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <utility>

extern char** environ;

namespace rdmacfg::daemon {

namespace {

/// The job as a file that can be read from its start.
base::UniqueFd file_of(std::string_view job) {
  base::UniqueFd fd(::memfd_create("job", MFD_CLOEXEC));
  if (!fd || ::write(fd.get(), job.data(), job.size()) != static_cast<ssize_t>(job.size())) return {};
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

/// The worker, with its job on `in`.
WorkerProcess spawn(const std::string& program, int in) {
  WorkerProcess process;
  std::array<int, 2> pipe{-1, -1};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    process.error = errno;
    return process;
  }
  base::UniqueFd from_worker(pipe[0]);
  const base::UniqueFd out(pipe[1]);
  base::UniqueFd report(::memfd_create("report", MFD_CLOEXEC));
  if (!report) {
    process.error = errno;
    return process;
  }
  process = start_program(program, {"--worker"}, in, out.get(), report.get());
  process.out = std::move(from_worker);
  process.report = std::move(report);
  ::fcntl(process.out.get(), F_SETFL, O_NONBLOCK);
  return process;
}

}  // namespace

WorkerProcess start_program(const std::string& program, std::vector<std::string> arguments, int in, int out,
                            int report) {
  WorkerProcess process;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  if (report >= 0) ::posix_spawn_file_actions_adddup2(&actions, report, kReportFd);
  std::string name = "rdma-configd";
  std::vector<char*> argv{name.data()};
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  process.error = ::posix_spawn(&process.pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (process.error != 0) process.pid = -1;
  return process;
}

WorkerProcess start_worker(const std::string& program, std::string_view job) {
  const auto in = file_of(job);
  if (in) return spawn(program, in.get());
  WorkerProcess process;
  process.error = EIO;
  return process;
}

bool end_with_daemon(int socket) {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return false;
  pollfd other{.fd = socket, .events = 0, .revents = 0};  // it may have ended before
  return ::poll(&other, 1, 0) == 0;
}

void kill_and_reap(int pid) {
  (void)::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void SpareWorker::prepare() {
  if (exit_) return;
  std::array<int, 2> pair{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) return;
  in_ = base::UniqueFd(pair[0]);
  const base::UniqueFd other(pair[1]);
  process_ = spawn(program_, other.get());
  if (process_.pid < 0) {
    in_.reset();
    return;
  }
  try {
    exit_ = loop_.on_exit(process_.pid, [this](int /*status*/) {
      in_.reset();
      process_ = {};
      exit_.reset();
    });
  } catch (const std::exception&) {  // the expiry starts its own
    kill_and_reap(process_.pid);
    in_.reset();
    process_ = {};
  }
}

std::optional<WorkerProcess> SpareWorker::take(std::string_view job) {
  if (!exit_ || !in_) return std::nullopt;
  const auto in = std::exchange(in_, {});
  // A socket's buffer has room for it; of more than that it would get a part, and ends.
  if (::send(in.get(), job.data(), job.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(job.size())) {
    return std::nullopt;
  }
  exit_.reset();
  return std::exchange(process_, {});
}

}  // namespace rdmacfg::daemon
