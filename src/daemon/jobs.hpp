// SPDX-License-Identifier: Apache-2.0
// Jobs and their worker processes: one that changes the host at a time, looks beside it, and a short queue.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "base/unique_fd.hpp"
#include "daemon/job.hpp"
#include "daemon/loop.hpp"
#include "daemon/worker_process.hpp"
#include "model/report.hpp"

namespace rdmacfg::daemon {

/// How a job ended.
struct Outcome {
  model::Report report;
  std::string report_text;        ///< the same as JSON
  nlohmann::ordered_json status;  ///< of the ledger: "active", "unconfirmed", "generations"
  bool lost = false;              ///< the worker ended without saying what it did
  bool cancelled = false;         ///< somebody did not want it before it had begun anything
  bool looked = false;            ///< as Job::closely asks
  std::size_t handles_made = 0;   ///< system::RdmaCm::folders_made
};

class Jobs {
 public:
  /// Waiting jobs of clients, changes and looks each for themselves; root has as many again of its own.
  static constexpr std::size_t kQueue = 16;
  static constexpr std::size_t kQueueOfOne = 8;  ///< of them, of one user
  static constexpr std::size_t kLooks = 2;       ///< jobs that change nothing, at once
  static constexpr std::size_t kResults = 16;    ///< remembered results of clients' jobs
  /// Of them together. The last one is remembered however long it is.
  static constexpr std::size_t kResultBytes = std::size_t{4} << 20U;
  /// So long after the end of its job a result is still about to be fetched.
  static constexpr std::chrono::milliseconds kFetch{10000};

  /// `program` is started with "--worker" for each job (job.hpp: work).
  explicit Jobs(Loop& loop, std::string program = "/proc/self/exe")
      : loop_(loop), program_(program), spare_(loop, std::move(program)) {}

  using Done = std::function<void(const Job& job, const Outcome& outcome)>;

  std::function<void(std::uint32_t id, std::uint64_t done, std::uint64_t total, const std::string& what)>
      progress;
  std::function<void(Job& job)> begins;  ///< the last moment to say what is in it
  /// One that changes something is over, before anything follows of it.
  std::function<void(const Job& job, const Outcome& outcome)> changed;
  std::function<void()> on_idle;  ///< the last one has ended; and, once closed, its result was fetched

  /// Queues a job; the daemon's own always have room. @return its number; 0 when the queue is full or closed.
  std::uint32_t add(Job job, Done done);

  /// An expiry is due soon: its worker is loaded by then.
  void prepare_expiry() {
    if (!closed_) spare_.prepare();
  }
  /// It is not, after all.
  void dismiss_expiry() { spare_.dismiss(); }

  /// For the end of the daemon: no job is taken any more, those that wait are cancelled, looks are ended. A
  /// change that runs is left to its end, unless it has not begun.
  void close();
  [[nodiscard]] bool closed() const { return closed_; }

  /// A waiting job goes; a running one undoes what it did so far. False when there is no such job.
  bool cancel(std::uint32_t id);

  /// Result of a client's job that changed something and ended not long ago, as JSON. The daemon's own are in
  /// the journal.
  [[nodiscard]] const std::string* result(std::uint32_t id) const;

  /// Somebody has the result of this job now.
  void fetched(std::uint32_t id);

  /// How long clients whose jobs have just ended may still take to fetch the results; 0: nobody has to.
  [[nodiscard]] std::chrono::milliseconds unfetched() const;

  /// Whether the user asked for this job, whose result there is.
  [[nodiscard]] bool asked_by(std::uint32_t id, std::uint32_t uid) const;

  [[nodiscard]] bool busy() const { return changing_; }
  [[nodiscard]] bool idle() const { return running_.empty() && waiting_.empty(); }

 private:
  struct Running {
    Job job;
    Done done;
    int pid = -1;
    base::UniqueFd out;
    std::string text;  ///< read so far
    std::string last;  ///< the line with the result
    bool at_end = false;
    bool exited = false;
    int status = 0;
    Loop::Handle readable, exit;
  };

  [[nodiscard]] bool has_room(const Job& job) const;
  void start_what_may();
  void start(Job job, Done done);
  void read(Running& running);
  void finish_when_over(Running& running);
  void end(std::list<Running>& over);
  void remember(const Job& job, std::string text);

  Loop& loop_;
  std::string program_;
  SpareWorker spare_;
  std::uint32_t next_ = 1;
  bool closed_ = false;
  bool changing_ = false;
  std::size_t looking_ = 0;
  std::deque<std::pair<Job, Done>> waiting_;
  std::list<Running> running_;
  struct Result {
    std::uint32_t id = 0;
    std::string text;
    std::uint32_t uid = 0;               ///< of the client
    std::chrono::milliseconds ended{0};  ///< Loop::now() then
    bool fetched = false;
  };
  [[nodiscard]] const Result* find(std::uint32_t id) const;
  std::deque<Result> results_;  ///< in the order in which they ended
};

}  // namespace rdmacfg::daemon
