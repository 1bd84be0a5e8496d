// SPDX-License-Identifier: Apache-2.0
// The daemon's schedule: actions at start, on events, at deadlines, on request.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/bus/api.hpp"
#include "daemon/bus/audit.hpp"
#include "daemon/bus/refusal.hpp"
#include "daemon/health.hpp"
#include "daemon/jobs/expiry.hpp"
#include "daemon/jobs/jobs.hpp"
#include "daemon/jobs/lost_records.hpp"
#include "daemon/jobs/marker.hpp"
#include "daemon/jobs/outcome.hpp"
#include "daemon/jobs/settled_file.hpp"
#include "daemon/jobs/unwritten.hpp"
#include "daemon/journal_report.hpp"
#include "daemon/loop.hpp"
#include "daemon/metrics_file.hpp"
#include "daemon/reconciler.hpp"
#include "daemon/watch/listener.hpp"
#include "metrics/metrics.hpp"
#include "system/events.hpp"
#include "system/files.hpp"

namespace rdmacfg::daemon {

/// The reason for a run that an event is. Where those of udev were lost, a device may have come.
Wake wake_of(const system::Event& event);

class Controller {
 public:
  /// `program`: the program that does the jobs (jobs.hpp); `marker`: see marker.hpp.
  explicit Controller(Loop& loop, std::string program = "/proc/self/exe",
                      std::string marker = "/run/rdma-configd/running");
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// Listens, and applies what is there. The service is ready when that is done, whatever came of it: devices
  /// that are not there yet are waited for by nobody.
  void start();
  /// Reads the configuration again.
  void reload();
  /// A change that is under way is finished first.
  void stop();

 private:
  void connect();
  void came(const system::Event& event);
  /// Somebody has made a handle, and is perhaps about to make others: it is looked at when that is over.
  void touched(const std::string& handle);
  /// Knowledge that may change after a run.
  void watch(const model::Report& report);
  /// kAgain: one that failed, which gives way to a newer apply of somebody else.
  enum class Attempt { kFirst, kAgain };
  /// Of a job that applies the configuration.
  enum class Occasion {
    kBoot,
    kReload,
    kLoss,  ///< a hold has found that the records are lost, and nobody knows the active generation
  };
  void apply_configuration(Occasion occasion, Attempt attempt = Attempt::kFirst);
  void plan_next();
  void hold();
  void ended(const Job& job, const Outcome& outcome);
  /// Where a run of ours has found the ledger lost, the configuration is due, as at a start.
  void note_loss(const Job& job, const Outcome& outcome);
  /// For the next daemon of this boot.
  void keep_settled();
  void take_status(const Job& job, const Outcome& outcome);
  void take_resources(const model::Report& report);
  void plan_expiry();
  void expire();
  /// `stood`: the resources that were as wanted before the hold that has ended.
  void count_repairs(const model::Report& report, const Reconciler::Settled& stood);
  void expired(const Job& job, const Outcome& outcome);
  [[nodiscard]] Health health() const;
  void publish();
  void publish_metrics();
  /// Ends the loop, once who asked for what has just ended has the result.
  void leave();

  Loop& loop_;
  Jobs jobs_;
  Reconciler reconciler_;
  Expiry expiry_;
  Audit audit_;
  Unwritten unwritten_;
  LostRecords lost_records_;
  std::unique_ptr<system::Files> files_;
  SettledFile settled_;
  Refusal refusal_;
  MetricsFile metrics_;
  std::string mark_path_;  ///< core::kAppliedMark
  Marker marker_;
  Listener listener_;
  std::unique_ptr<Api> api_;
  /// Of buses that have gone; jobs of their clients may be at work.
  std::vector<std::unique_ptr<Api>> former_;
  Loop::Handle next_, deadline_, connecting_, audit_timer_, unwritten_timer_, named_, leaving_;
  bool has_name_ = false;                          ///< the host; of one that had none at the start
  std::chrono::milliseconds connect_again_{1000};  ///< twice as long after each time in vain
  Properties properties_;
  Waiting waiting_;
  std::string degraded_;    ///< Health::degraded
  bool is_private_ = true;  ///< not everybody may read the document, so nor its values in what is told to all
  RepeatFilter repeat_filter_, expiry_filter_;
  Expectations expectations_;
  bool ready_ = false;
  bool running_ = false;                 ///< an apply or a hold of ours
  bool expiring_ = false;                ///< an expiry of ours
  std::optional<Occasion> again_;        ///< the configuration must be applied again; nothing: it need not
  int tries_ = 0;                        ///< of it, in vain
  std::string applied_then_;             ///< what core::kAppliedMark said when the apply fell due
  std::optional<std::uint64_t> active_;  ///< generation; nothing: no worker has told yet
  std::uint64_t held_ = 0;               ///< the generation that our last run has left active; 0: none
  /// The remembered state may be wrong: of these handles, or of any (at first: while no daemon ran nobody
  /// listened).
  std::optional<std::set<std::string>> closely_{std::in_place};
  std::set<std::string> touched_;  ///< handles that somebody may still be at work with
  Loop::Handle at_work_;
  std::size_t handles_before_ = 0;  ///< the job that is at work; Listener::handles_made
  bool stopping_ = false;
  bool reload_again_ = false;
  bool report_drift_ = false;
  std::optional<std::string> metrics_folder_;  ///< empty: no metrics are wanted; nothing: not known yet
  metrics::Facts facts_;                       ///< of the last run
  std::optional<bool> last_apply_failed_;      ///< nothing: this daemon has run no apply yet
  std::string said_of_metrics_;                ///< why they could not be written
  std::uint64_t settled_at_ = 0;  ///< generation of which the daemon before this one had left word; 0: none
  bool resumes_ = false;          ///< the daemon before this one had not come to its end
};

}  // namespace rdmacfg::daemon
