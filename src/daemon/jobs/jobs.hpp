// SPDX-License-Identifier: Apache-2.0
// Jobs and their worker processes: one that changes the host at a time, looks beside it, and a short queue
// that is fair to users. A job that takes too long is ended (model/limits.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/unique_fd.hpp"
#include "daemon/jobs/job.hpp"
#include "daemon/jobs/stored_report.hpp"
#include "daemon/jobs/worker_process.hpp"
#include "daemon/loop.hpp"
#include "model/limits.hpp"
#include "model/report.hpp"

namespace rdmacfg::daemon {

/// How a job ended.
struct Outcome {
  model::Report report;           ///< of a change as summary_of() has it; of a look how it ended
  StoredReport whole;             ///< the whole of it, as JSON
  nlohmann::ordered_json status;  ///< of the ledger: "active", "unconfirmed", "generations"
  bool lost = false;              ///< the worker ended without saying what it did
  bool cancelled = false;         ///< somebody did not want it before it had begun anything
  bool looked = false;            ///< as Job::closely asks
  std::size_t handles_made = 0;   ///< system::RdmaCm::folders_made
};

class Jobs {
 public:
  /// How long a job may take.
  struct Deadlines {
    std::chrono::milliseconds look = model::limits::kLookTime;      ///< then it is killed
    std::chrono::milliseconds change = model::limits::kChangeTime;  ///< then it is cancelled
    std::chrono::milliseconds undo = model::limits::kUndoTime;      ///< from then on until it is killed
  };
  Deadlines deadlines;

  /// So long after the end of its job a result is still about to be fetched.
  static constexpr std::chrono::milliseconds kFetch{10000};

  /// So long after the end of its job a result is that of any client of the user. Later it is that of the
  /// client which asked: a user ID may be another's by then (DynamicUser= of systemd.exec(5)).
  static constexpr std::chrono::milliseconds kOfUser{60000};

  /// `program` is started with "--worker" for each job (job.hpp: work).
  explicit Jobs(Loop& loop, std::string program = "/proc/self/exe")
      : loop_(loop), program_(program), spare_(loop, std::move(program)) {}

  using Done = std::function<void(const Job& job, const Outcome& outcome)>;

  std::function<void(std::uint32_t id, std::uint64_t done, std::uint64_t total, const std::string& next)>
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

  /// A waiting job goes; a running change undoes what it did so far, a running look ends. False when there is
  /// no such job.
  bool cancel(std::uint32_t id);

  /// Whether a job that waits or runs is the user's, whichever connection asked for it: who has lost a
  /// terminal cancels from another one. True also of a job that is not there; the daemon's own are nobody's.
  [[nodiscard]] bool is_of(std::uint32_t id, std::uint32_t uid) const;

  /// Result of a client's job that changed something and ended not long ago, as JSON. The daemon's own are in
  /// the journal.
  [[nodiscard]] std::optional<std::string> result(std::uint32_t id) const;

  /// Somebody has the result of this job now.
  void fetched(std::uint32_t id);

  /// How long clients whose jobs have just ended may still take to fetch the results; 0: nobody has to.
  [[nodiscard]] std::chrono::milliseconds unfetched() const;

  /// Whether the client, or its user within kOfUser, asked for this job, whose result there is. `client`:
  /// unique name on the bus.
  [[nodiscard]] bool asked_by(std::uint32_t id, std::uint32_t uid, const std::string& client,
                              std::chrono::milliseconds now = Loop::now()) const;

  [[nodiscard]] bool busy() const { return changing_; }
  [[nodiscard]] bool idle() const { return running_.empty() && waiting_.empty(); }

 private:
  struct Running {
    Job job;
    Done done;
    int pid = -1;
    base::UniqueFd out, report;
    std::string text;       ///< read so far
    std::string last;       ///< the line with the result
    std::string overdue;    ///< why it was ended
    bool unwanted = false;  ///< a look that was cancelled
    bool at_end = false;
    bool exited = false;
    int status = 0;
    Loop::Handle readable, exit, deadline;
  };
  using Waiting = std::deque<std::pair<Job, Done>>;

  [[nodiscard]] bool has_room(const Job& job) const;
  void start_what_may();
  /// The waiting job that is started next; waiting_.end() when none may.
  Waiting::iterator next_to_start();
  [[nodiscard]] bool has_slot(const Job& job) const;
  [[nodiscard]] std::size_t looks_of(std::optional<std::uint32_t> uid) const;
  void start(Job job, Done done);
  /// Starts the worker, and has the loop wait for it; throws std::exception.
  void launch(Running& running);
  /// Ends a job that launch() has thrown at; of its worker nothing is left.
  void give_up(Running& running, const std::string& why);
  void finish_soon(Running& running);
  void watch_time(Running& running);
  void end_now(Running& running, std::string why);
  void read(Running& running);
  /// Takes the lines that are whole out of the text; false when one is longer than limits::kSummaryBytes.
  bool take_lines(Running& running);
  void finish_when_over(Running& running);
  void end(std::list<Running>& over);
  void remember(const Job& job, const StoredReport& report);

  Loop& loop_;
  std::string program_;
  SpareWorker spare_;
  std::uint32_t next_ = 1;
  bool closed_ = false;
  bool changing_ = false;
  Waiting waiting_;
  std::list<Running> running_;
  std::uint64_t turn_ = 0;
  std::map<std::uint32_t, std::uint64_t> served_;  ///< turn in which a user's look was started last
  struct Result {
    std::uint32_t id = 0;
    StoredReport report;
    std::uint32_t uid = 0;               ///< of the client
    std::chrono::milliseconds ended{0};  ///< Loop::now() then
    bool fetched = false;
    std::string client;
  };
  [[nodiscard]] const Result* find(std::uint32_t id) const;
  /// Drops the oldest result of the user with the largest results, so that no user displaces those of others;
  /// never drops the newest.
  void drop_one(const std::function<std::size_t(const Result& result)>& weight);
  std::deque<Result> results_;  ///< in the order in which they ended
};

}  // namespace rdmacfg::daemon
