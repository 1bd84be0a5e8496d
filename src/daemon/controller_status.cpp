// SPDX-License-Identifier: Apache-2.0
// The daemon's knowledge of the host after a job, its messages about it, and the work due because of it.
#include <fmt/format.h>
#include <sys/syslog.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "core/commit/commit.hpp"
#include "daemon/controller.hpp"
#include "daemon/jobs/outcome.hpp"
#include "daemon/journal.hpp"
#include "daemon/journal_report.hpp"

namespace rdmacfg::daemon {

using model::Status;
using std::chrono::milliseconds;

void Controller::keep_settled() {
  const bool wanted = report_drift_ && active_;
  auto done = wanted ? settled_.save({*active_, reconciler_.settled()}) : settled_.clear();
  if (!done) log(LOG_WARNING, Message::kTrouble, done.error().message);
}

void Controller::take_resources(const model::Report& report) {
  if (listener_.widen(report.resources)) reconciler_.woken(Wake::kDrift, Loop::now());
  const auto values = is_private_ ? DocumentValues::kLeftOut : DocumentValues::kShown;
  properties_.pending = with_reasons(report, Status::kPending, values);
  waiting_ = waiting_in(report);
  properties_.limited = with_reasons(report, Status::kLimited, values);
  properties_.unmet = with_reasons(report, Status::kUnmet, values);
  expectations_.report_to_journal(report);
}

void Controller::take_status(const Job& job, const Outcome& outcome) {
  // First: it decides what everybody is told.
  if (outcome.status.is_object()) is_private_ = outcome.status.value("private", false);
  const bool tells = tells_of_resources(job, outcome.report);
  if (tells) take_resources(outcome.report);
  properties_.contended.clear();
  properties_.contention.clear();
  for (const auto& [key, why] : reconciler_.contended(DocumentValues::kLeftOut)) {
    properties_.contended.push_back(key.text() + ": " + why);
    properties_.contention.emplace_back(key.kind, key.id, why);
  }
  // That the host could not be compared is known by a run of the daemon's own.
  const bool own = !job.uid && (job.verb == Job::Verb::kApply || job.verb == Job::Verb::kHold);
  if (tells || (own && !outcome.cancelled))
    metrics::count(outcome.report, facts_,
                   is_private_ ? metrics::Reasons::kHidden : metrics::Reasons::kShown);
  if (const auto failed = apply_failed(job, outcome)) last_apply_failed_ = failed;
  if (!outcome.status.is_object()) return;  // the worker died, or the ledger cannot be read
  active_ = properties_.generation = outcome.status.value("active", std::uint64_t{0});
  report_drift_ = outcome.status.value("report_drift", false);
  metrics_folder_ = outcome.status.value("metrics", std::string());
  const auto reasons = outcome.status.value("degraded", std::vector<std::string>());
  degraded_ = reasons.empty() ? std::string() : reasons.front();
  if (!outcome.status.value("unwritten", false)) {
    unwritten_.written();
  } else if (job.changes() && !outcome.cancelled) {
    unwritten_.tried(Loop::now());
  } else {
    unwritten_.waits(Loop::now());
  }
  const auto audit = std::chrono::seconds(outcome.status.value("audit_s", std::int64_t{0}));
  const auto events =
      listener_.why_incomplete().empty() ? Audit::Events::kComplete : Audit::Events::kIncomplete;
  audit_.set(Audit::period(audit, events), Loop::now());
  refusal_.active(active_);
  facts_.generation = *active_;
  facts_.degraded = !degraded_.empty();
  facts_.last.reset();
  if (const auto last = outcome.status.find("last"); last != outcome.status.end() && last->is_object()) {
    facts_.last = metrics::LastApply{.number = last->value("number", std::uint64_t{0}),
                                     .when = last->value("when", ""),
                                     .rolled_back = last->value("rolled_back", false)};
  }
  properties_.unconfirmed.clear();
  std::optional<milliseconds> deadline;
  const auto waiting = outcome.status.find("unconfirmed");
  if (waiting != outcome.status.end() && waiting->is_object()) {
    properties_.unconfirmed = waiting->value("deadline", "");
    deadline = milliseconds(waiting->value("deadline_ms", std::int64_t{0}));
  }
  expiry_.set(deadline);
  plan_expiry();
}

void Controller::count_repairs(const model::Report& report, const Reconciler::Settled& stood) {
  std::set<model::Key> done;
  for (const auto& resource : report.resources) {
    if (resource.status == Status::kDone) done.insert(resource.key);
  }
  for (const auto& change : report.plan.changes) {
    const bool removed = change.operation == model::Operation::kDelete && !report.error;
    if (!stood.contains(change.key) || (!removed && !done.contains(change.key))) continue;
    ++properties_.repairs;
    ++properties_.repairs_by_kind[change.key.kind];
    // Everybody on the bus may read it: names of settings, but none of their values.
    const auto done_to = removed                 ? std::string("removed")
                         : change.fields.empty() ? std::string("re-created")
                                                 : base::join(change.fields, ", ");
    properties_.last_repair = fmt::format("{} {}: {}", core::system_clock().utc(milliseconds(0)),
                                          name_of(change.key, change.label), done_to);
  }
}

void Controller::plan_expiry() {
  deadline_.reset();
  const auto due = expiry_.due();
  if (!due) jobs_.dismiss_expiry();
  if (!due || expiring_ || stopping_) return;
  const auto left = std::max(*due - Loop::now(), milliseconds(0));
  if (left > Expiry::kAhead) {
    deadline_ = loop_.after(left - Expiry::kAhead, [this] { plan_expiry(); });
    return;
  }
  jobs_.prepare_expiry();
  deadline_ = loop_.after(left, [this] { expire(); });
}

void Controller::expire() {
  deadline_.reset();
  expiring_ = true;
  Job job;
  job.verb = Job::Verb::kExpire;
  job.who = "rdma-configd";
  job.what = "expiry";
  (void)jobs_.add(std::move(job),
                  [this](const Job& ended_job, const Outcome& outcome) { expired(ended_job, outcome); });
}

void Controller::expired(const Job& job, const Outcome& outcome) {
  expiring_ = false;
  if (stopping_ && outcome.cancelled) return;
  expiry_.tried(Loop::now());
  watch(outcome.report);
  take_status(job, outcome);
  plan_expiry();
  // Another generation is held now.
  if (!expiry_.due()) reconciler_.woken(Wake::kApply, Loop::now());
  const auto nobody = [](const model::Key& /*key*/) { return std::nullopt; };
  report_to_journal(job, outcome.report, nobody, &expiry_filter_);
  publish();
  plan_next();
}

Health Controller::health() const {
  Health health;
  health.ready = ready_;
  health.busy = jobs_.busy();
  health.generation = properties_.generation;
  health.unconfirmed = properties_.unconfirmed;
  health.refused = refusal_.why();
  health.failing = reconciler_.failing(is_private_ ? DocumentValues::kLeftOut : DocumentValues::kShown);
  health.degraded = degraded_;
  if (!properties_.contended.empty()) health.contended = properties_.contended.front();
  health.pending = waiting_.pending;
  health.limited = waiting_.limited;
  health.unmet = waiting_.unmet;
  return health;
}

void Controller::publish() {
  if (auto done = refusal_.keep(); !done) log(LOG_WARNING, Message::kTrouble, done.error().message);
  const auto health = this->health();
  properties_.state = health.state();
  properties_.refused = health.refused;
  properties_.failing = health.failing;
  notify("STATUS=" + health.status());
  if (api_) api_->set(properties_);
  publish_metrics();
}

void Controller::publish_metrics() {
  if (!metrics_folder_) return;
  facts_.unconfirmed = properties_.unconfirmed;
  facts_.daemon.reset();
  if (!stopping_) {
    facts_.daemon = metrics::daemon_of(properties_.state, properties_.repairs_by_kind, properties_.contention,
                                       properties_.refused);
    facts_.daemon->last_apply_failed = last_apply_failed_;
  }
  const auto trouble = metrics_.keep(*metrics_folder_, facts_);
  if (!trouble.empty() && said_of_metrics_ != trouble) log(LOG_WARNING, Message::kTrouble, trouble);
  said_of_metrics_ = trouble;
}

}  // namespace rdmacfg::daemon
