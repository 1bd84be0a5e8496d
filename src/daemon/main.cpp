// SPDX-License-Identifier: Apache-2.0
// Wiring only.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <string_view>

#include "base/characters.hpp"
#include "base/standard_files.hpp"
#include "daemon/controller.hpp"
#include "daemon/descriptors.hpp"
#include "daemon/jobs/job.hpp"
#include "daemon/jobs/worker_process.hpp"
#include "daemon/loop.hpp"
#include "daemon/metrics_file.hpp"
#include "daemon/watch/verbs_watch.hpp"
#include "model/limits.hpp"
#include "system/linux/linux_host.hpp"

namespace {

using namespace rdmacfg;

int serve() {
  daemon::allow_many_descriptors();
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t handled;
  ::sigemptyset(&handled);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::sigaddset(&handled, number);
  ::sigprocmask(SIG_BLOCK, &handled, nullptr);
  daemon::Loop loop;
  daemon::Controller controller(loop);
  const auto stop = [&] { controller.stop(); };
  const auto term = loop.on_signal(SIGTERM, stop), interrupt = loop.on_signal(SIGINT, stop);
  const auto reload = loop.on_signal(SIGHUP, [&] { controller.reload(); });
  controller.start();
  return loop.run();
}

/// For the unit, once the daemon has ended in whatever way.
int say_ended(const char* note) {
  const auto files = system::make_linux_files();
  const auto trouble = daemon::MetricsFile(*files, note).say_ended();
  if (trouble.empty()) return 0;
  std::cerr << "rdma-configd: " << base::harmless(trouble) << '\n';
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (!base::take_standard_files()) return 1;
  const std::string_view argument = argc > 1 ? argv[1] : "";
  if (argc == 2 && argument == "--worker") {
    const bool whole = ::fcntl(daemon::kReportFd, F_SETFD, FD_CLOEXEC) == 0;
    return daemon::work(STDIN_FILENO, STDOUT_FILENO, whole ? daemon::kReportFd : -1);
  }
  if (argc == 3 && argument == "--ended") return say_ended(argv[2]);
  if (argc > 2 && argument == "--verbs") {
    if (!daemon::end_with_daemon(STDIN_FILENO)) return 1;
    return daemon::open_verbs_for(STDIN_FILENO, {argv + 2, argv + argc});
  }
  if (argc == 2 && (argument == "--version" || argument == "-V")) {
    std::cout << "rdma-configd " RDMACFG_VERSION "\n";
    return 0;
  }
  if (argc == 2 && (argument == "--help" || argument == "-h")) {
    std::cout
        << "Usage: rdma-configd [--help | --version]\n\nEnforces /etc/rdma-configd/config.toml on this host. "
           "systemd starts it, and rdma-configctl(1) controls\nit; rdma-configd(8) describes it.\n";
    return 0;
  }
  if (argc != 1) {
    const bool known = argument == "--help" || argument == "--version";
    std::cerr << "rdma-configd: error: unexpected argument " << base::harmless(argv[known ? 2 : 1])
              << "; the options are --help and --version\n";
    return 1;
  }
  try {
    return serve();
  } catch (const std::exception& error) {
    std::cerr << "rdma-configd: " << error.what() << '\n';
    return 1;
  }
}
