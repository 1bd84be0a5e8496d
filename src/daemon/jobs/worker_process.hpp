// SPDX-License-Identifier: Apache-2.0
// The worker as a process (job.hpp: work), started for a job or, where the time of one is known, ahead of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.hpp"
#include "daemon/loop.hpp"

namespace rdmacfg::daemon {

struct WorkerProcess {
  int pid = -1;           ///< -1: it could not be started
  int error = 0;          ///< errno, then
  base::UniqueFd out;     ///< what it says
  base::UniqueFd report;  ///< a memfd for its whole report, its descriptor kReportFd
};

/// Where a worker finds the file for its report.
inline constexpr int kReportFd = 3;

/// Starts the program with these arguments, standard input and output, and kReportFd unless it is -1.
/// @return without WorkerProcess::out and ::report
WorkerProcess start_program(const std::string& program, std::vector<std::string> arguments, int in, int out,
                            int report = -1);

/// Starts one whose job is the text.
WorkerProcess start_worker(const std::string& program, std::string_view job);

/// In a child: it takes the signals that the daemon has blocked, and is killed when the daemon ends, even in
/// a call of a driver that takes long. False when the daemon, which has the other end of the socket, has
/// ended.
bool end_with_daemon(int socket);

/// Ends a child that the loop does not wait for.
void kill_and_reap(int pid);

/// A process that has been loaded and waits for its job: work due at a certain time does not wait for the
/// loading.
class SpareWorker {
 public:
  SpareWorker(Loop& loop, std::string program) : loop_(loop), program_(std::move(program)) {}

  /// Does nothing when there is one. A failure is not reported: the caller that takes it starts one then.
  void prepare();

  /// It is not needed.
  void dismiss() { in_.reset(); }

  /// Gives it its job. Nothing when there is none, or it has ended.
  std::optional<WorkerProcess> take(std::string_view job);

 private:
  Loop& loop_;
  std::string program_;
  WorkerProcess process_;
  base::UniqueFd in_;
  Loop::Handle exit_;
};

}  // namespace rdmacfg::daemon
