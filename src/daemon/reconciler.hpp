// SPDX-License-Identifier: Apache-2.0
// When the active generation is laid against the host again. Level-triggered: events only wake it, the
// decision comes from a fresh observation. No clock and no system in here: time is an argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/document_values.hpp"
#include "model/report.hpp"

namespace rdmacfg::daemon {

enum class Wake {
  kDrift,   ///< something of the host changed
  kDevice,  ///< a device or a module came: failed resources are tried again
  kApply,   ///< an administrator applied or reloaded: the same
};

class Reconciler {
 public:
  using Time = std::chrono::milliseconds;  ///< CLOCK_BOOTTIME

  static constexpr Time kDebounce{150};   ///< no event for so long, then it runs
  static constexpr Time kMaxDelay{2000};  ///< runs at the latest so long after the first event
  static constexpr Time kBackOffMin{5};
  static constexpr Time kBackOffMax{300'000};
  static constexpr std::size_t kReverts = 3;  ///< of one field, then it is contended
  static constexpr Time kRevertWindow{600'000};
  /// So long after a run that changed something, devices that come or go may still be its own doing: udev
  /// tells late. They wake, but failed resources are not tried sooner for them.
  static constexpr Time kOwnEvents{1000};

  /// @param jitter factor around 1 for back-off, so that a cluster does not act in step
  explicit Reconciler(std::function<double()> jitter = [] { return 1.0; }) : jitter_(std::move(jitter)) {}

  void woken(Wake wake, Time now);

  /// When to run next; nothing while there is no reason. Not asked while a run is under way.
  [[nodiscard]] std::optional<Time> due() const;

  /// A run begins: events from now on are about what comes after it.
  void began();

  /// Resources left alone in a run at `now`, with the reason.
  [[nodiscard]] std::map<model::Key, std::string> left_alone(Time now) const;
  /// The same of single settings; of resources that left_alone() does not name.
  [[nodiscard]] std::map<model::Key, model::LeftFields> fields_left_alone() const;

  enum class Run {
    kHold,  ///< of what had been applied before: its changes are settings that somebody else had changed back
    kOther,
  };

  /// A run has ended. @return what has drifted (model::Report::drifted) and was not known to have before.
  std::vector<model::Key> ended(const model::Report& report, Time now, Run run = Run::kHold);

  /// A requested run has ended. Resources that it has changed have not drifted, and drift from now on.
  void applied(const model::Report& report);

  /// As wanted when they were last looked at, with the kernel object they were on. Anything that is not so
  /// any more somebody else has changed.
  using Settled = std::map<model::Key, std::string>;
  [[nodiscard]] const Settled& settled() const { return settled_; }
  /// As a daemon of this boot had it.
  void settle(Settled settled) { settled_ = std::move(settled); }

  /// Fields that somebody else changes back all the time, by resource. Until an apply, or until the resource
  /// is on another kernel object: of one that is on none, until a device or a module comes.
  /// Values: those that are fought about.
  [[nodiscard]] std::map<model::Key, std::string> contended(
      DocumentValues values = DocumentValues::kShown) const;

  /// Failed resources that are tried again, or a run that failed as a whole, for people; empty when there are
  /// none. With values also why, which may have some in it.
  [[nodiscard]] std::string failing(DocumentValues values = DocumentValues::kShown) const;

 private:
  struct Contention {
    std::string what;    ///< "changed mtu of ib0 back 3 times"
    std::string values;  ///< " (last from 2044 to 1500)"
  };
  struct Failure {
    int attempts = 0;
    Time retry{0};
    std::string reason;
  };
  struct Reverts {
    std::string parent_object;  ///< the kernel object that they were on
    std::string returned;       ///< the last one whose return was answered
    std::deque<Time> times;
  };

  using Statuses = std::map<model::Key, model::Status>;

  Time back_off(int attempts);
  /// @return resources that have drifted since the last look
  std::vector<model::Key> note_drift(const model::Report& report);
  /// Contention on kernel objects that are not there any more.
  void forget_old_contention(const model::Report& report, Time now);
  /// @param waiting  resources that were left alone this time
  void note_failures(const model::Report& report, const Statuses& status,
                     const std::map<model::Key, std::string>& waiting, Time now);
  void count_reverts(const model::Report& report, const Statuses& status, Run run, Time now);
  void count_revert(const model::Change& change, const std::string& field, Time now);
  /// The kernel object that somebody fights about; empty when it is on none, or not known.
  [[nodiscard]] std::string parent_object_of(const model::Key& key) const;
  void forget_contention(const model::Key& key);

  std::function<double()> jitter_;
  std::optional<Time> first_, last_;  ///< events that were not looked at yet
  bool running_ = false;
  Time own_events_until_{0};
  std::map<model::Key, Failure> failures_;
  std::optional<Time> retry_whole_;  ///< the last run failed before it knew of any resource
  int whole_attempts_ = 0;
  std::string whole_reason_;
  std::map<std::pair<model::Key, std::string>, Reverts> reverts_;  ///< by resource and field
  /// By resource and field, with the reason; the field is empty where it is about whether there is one.
  std::map<model::Key, std::map<std::string, Contention>> contended_;
  Settled settled_;
  std::set<model::Key> drifted_;
};

}  // namespace rdmacfg::daemon
