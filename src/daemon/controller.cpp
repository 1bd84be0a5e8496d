// SPDX-License-Identifier: Apache-2.0
#include "daemon/controller.hpp"

#include <fmt/format.h>
#include <sdbus-c++/sdbus-c++.h>
#include <sys/syslog.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "core/generations.hpp"
#include "core/leftovers.hpp"
#include "daemon/journal.hpp"
#include "daemon/suspects.hpp"
#include "daemon/tell.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::daemon {

using model::Status;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kConnectAgain{1000};
const std::string kLedger = core::GenerationPaths{}.ledger;

/// So often the configuration is applied again when its apply came to nothing (the worker died, the lock was
/// not to be had); then what was applied before is held. Where nothing was, it is tried on and on.
constexpr int kApplyTries = 5;

/// The apply ended before it knew of any resource, and not for what the document says.
bool in_vain(const Outcome& outcome) {
  const auto& report = outcome.report;
  return report.error && !outcome.cancelled && report.plan.empty() && report.resources.empty() &&
         !model::has_errors(report.diagnostics);
}

model::Report not_applied() {
  model::Report report;
  report.error = base::Error{base::Code::kBusy, "the configuration is not applied yet", 0};
  return report;
}

bool good(const model::Report& report) {
  return !report.error && (report.exit == model::Exit::kOk || report.exit == model::Exit::kPartly);
}

/// Kinds that hang on interfaces which are not IPoIB.
const std::set<std::string> kAnyInterface{"soft_rdma", "roce", "pfc", "lossless", "sysctl"};

double jitter() {
  static std::minstd_rand engine{std::random_device{}()};
  return std::uniform_real_distribution<double>(0.8, 1.2)(engine);
}

}  // namespace

Controller::Controller(Loop& loop, std::string program)
    : loop_(loop), jobs_(loop, std::move(program)), reconciler_(jitter), files_(system::make_linux_files()) {
  jobs_.progress = [this](std::uint32_t id, std::uint64_t done, std::uint64_t total,
                          const std::string& what) {
    if (total > 0)
      notify(fmt::format("STATUS={} of {} changes done{}{}", done, total, what.empty() ? "" : ": ", what));
    if (api_) api_->progress(id, done, total, what);
  };
  jobs_.began = [this](const Job& job) {
    if (job.changes()) publish();
  };
  jobs_.on_idle = [this] {
    if (stopping_) loop_.stop(0);
  };
}

void Controller::start() {
  listen();
  apply_configuration("boot");
}

void Controller::reload() {
  if (!ready_ || running_) {
    reload_again_ = true;
    return;
  }
  notify(
      fmt::format("RELOADING=1\nMONOTONIC_USEC={}", std::chrono::duration_cast<std::chrono::microseconds>(
                                                        std::chrono::steady_clock::now().time_since_epoch())
                                                        .count()));
  reconciler_.woken(Wake::kApply, Loop::now());
  tries_ = 0;
  apply_configuration("reload");
}

void Controller::stop() {
  stopping_ = true;
  next_.reset();
  deadline_.reset();
  audit_.reset();
  notify("STOPPING=1");
  jobs_.close();
  if (jobs_.idle()) loop_.stop(0);
}

void Controller::listen() {
  const auto add = [this](auto source) {
    if (source) {
      listen_to(std::move(*source));
    } else {
      log(LOG_WARNING, Message::kTrouble, "cannot listen for changes: " + source.error().message);
    }
  };
  add(system::watch_links(all_links_));
  add(system::watch_devices());
  auto files = system::watch_files(core::managed_folders(*files_), [](const std::string& path) {
    return path == kLedger || core::is_managed_file(path);
  });
  watched_ = files ? files->get() : nullptr;
  add(std::move(files));
}

void Controller::listen_to(std::unique_ptr<system::EventSource> source) {
  auto* raw = source.get();
  auto handle = loop_.on_readable(raw->fd(), [this, raw] {
    for (const auto& event : raw->read()) came(event);
    plan_next();
  });
  sources_.emplace_back(std::move(source), std::move(handle));
}

void Controller::came(const system::Event& event) {
  const auto wake = event.sort == system::Event::Sort::kDevice ? Wake::kDevice
                    : event.what == kLedger                    ? Wake::kApply
                                                               : Wake::kDrift;
  reconciler_.woken(wake, Loop::now());
}

void Controller::connect() {
  if (api_ || stopping_) return;
  try {
    api_ = std::make_unique<Api>(loop_, jobs_);
    api_->ended = [this](const Job& job, const Outcome& outcome) {
      if (job.changes() && good(outcome.report)) again_.clear();  // what somebody wants now is done
      reconciler_.woken(Wake::kApply, Loop::now());
      watch_again();
      take_status(outcome);
      tell(job, outcome.report);
      publish();
      plan_next();
    };
    api_->set(properties_);
  } catch (const sdbus::Error& error) {
    if (!connecting_) log(LOG_INFO, Message::kTrouble, "no system bus yet: " + error.getMessage());
    connecting_ = loop_.after(kConnectAgain, [this] { connect(); });
  }
}

void Controller::apply_configuration(const std::string& what) {
  running_ = true;
  Job job;
  job.verb = Job::Verb::kApply;
  job.by_itself = true;
  job.who = what == "boot" ? "rdma-configd" : "reload";
  job.what = what;
  reconciler_.began();
  (void)jobs_.add(std::move(job), [this](const Job& one, const Outcome& outcome) {
    const bool failed = in_vain(outcome);
    tries_ = failed ? tries_ + 1 : 0;
    again_ = failed ? one.what : "";
    ended(one, outcome);
  });
}

void Controller::plan_next() {
  next_.reset();
  audit_.reset();
  if (!ready_ || running_ || stopping_) return;
  const auto due = reconciler_.due();
  if (!due && audit_every_.count() > 0) {
    audit_ = loop_.after(audit_every_, [this] {
      reconciler_.woken(Wake::kDrift, Loop::now());
      plan_next();
    });
  }
  if (!due) return;
  next_ = loop_.after(std::max(*due - Loop::now(), milliseconds(0)), [this] { run(report_drift_); });
}

void Controller::run(bool look) {
  next_.reset();
  if (!again_.empty() && (tries_ < kApplyTries || active_ == 0U)) {
    // Not behind a change that a client has asked for: when that is good, nothing is applied again. Its end
    // calls plan_next().
    if (!jobs_.busy()) apply_configuration(again_);
    return;
  }
  running_ = true;
  Job job;
  job.verb = Job::Verb::kHold;
  job.report_only = look;
  job.who = "rdma-configd";
  job.what = "event";
  job.left_alone = reconciler_.left_alone(Loop::now());
  reconciler_.began();
  (void)jobs_.add(std::move(job), [this](const Job& one, const Outcome& outcome) {
    return one.report_only ? looked(one, outcome) : ended(one, outcome);
  });
}

/// With drift = "report": what has drifted is said; what is new is still made as the document says.
void Controller::looked(const Job& job, const Outcome& outcome) {
  const auto drifted = reconciler_.looked(outcome.report);
  for (const auto& change : outcome.report.plan.changes) {
    if (std::find(drifted.begin(), drifted.end(), change.key) == drifted.end()) continue;
    log(LOG_NOTICE, Message::kDrifted,
        fmt::format("drifted: {} {}: {}", change.key.kind, change.label, fields_of(change, false)),
        {{"RDMA_KIND", change.key.kind},
         {"RDMA_RESOURCE", change.key.id},
         {"RDMA_FIELDS", base::join(change.fields, " ")},
         {"RDMA_SUSPECT", suspects()}});
  }
  if (reconciler_.has_work() && !stopping_) return run(false);
  Outcome quiet = outcome;
  quiet.report.plan = {};
  ended(job, quiet);
}

void Controller::ended(const Job& job, const Outcome& outcome) {
  running_ = false;
  if (stopping_ && outcome.cancelled) return;
  if (outcome.status.is_object()) active_ = outcome.status.value("active", std::uint64_t{0});
  const bool hold = job.verb == Job::Verb::kHold;
  if (hold && active_ && *active_ != 0) again_.clear();
  const auto contended = reconciler_.contended();
  // With nothing active there was nothing to hold: the apply is still due, after a while.
  const bool nothing_held = hold && active_ == 0U && !again_.empty();
  reconciler_.ended(nothing_held ? not_applied() : outcome.report, Loop::now(), hold);
  watch_again();
  take_status(outcome);
  tell(job, outcome.report);
  for (const auto& [key, why] : reconciler_.contended()) {
    if (contended.contains(key)) continue;
    const auto suspect = suspects();
    log(LOG_WARNING, Message::kContended,
        fmt::format("{}: {}{}", key.text(), why, suspect.empty() ? "" : "; suspected: " + suspect),
        {{"RDMA_KIND", key.kind}, {"RDMA_RESOURCE", key.id}, {"RDMA_SUSPECT", suspect}});
  }
  if (!ready_) {
    ready_ = true;
    log(LOG_INFO, Message::kStarted, "what is there is configured");
  }
  if (!stopping_) notify("READY=1");
  publish();
  if (stopping_) return;
  connect();
  if (std::exchange(reload_again_, false)) return reload();
  plan_next();
}

void Controller::take_status(const Outcome& outcome) {
  const bool all = std::any_of(outcome.report.resources.begin(), outcome.report.resources.end(),
                               [](const auto& one) { return kAnyInterface.contains(one.key.kind); });
  if (all && !all_links_) {
    all_links_ = true;
    sources_.clear();
    watched_ = nullptr;
    listen();
    reconciler_.woken(Wake::kDrift, Loop::now());  // what happened before is not told any more
  }
  properties_.pending.clear();
  properties_.contended.clear();
  for (const auto& resource : outcome.report.resources) {
    if (resource.status == Status::kPending || resource.status == Status::kLimited)
      properties_.pending.push_back(resource.label + ": " + resource.reason);
  }
  for (const auto& [key, why] : reconciler_.contended())
    properties_.contended.push_back(key.text() + ": " + why);
  if (!outcome.status.is_object()) return;  // the worker died, or the ledger cannot be read
  active_ = properties_.generation = outcome.status.value("active", std::uint64_t{0});
  report_drift_ = outcome.status.value("report_drift", false);
  audit_every_ = std::chrono::seconds(outcome.status.value("audit_s", std::int64_t{0}));
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

void Controller::plan_expiry() {
  deadline_.reset();
  const auto due = expiry_.due();
  if (!due || expiring_ || stopping_) return;
  deadline_ = loop_.after(std::max(*due - Loop::now(), milliseconds(0)), [this] {
    deadline_.reset();
    expiring_ = true;
    Job job;
    job.verb = Job::Verb::kExpire;
    job.who = "rdma-configd";
    job.what = "expiry";
    (void)jobs_.add(std::move(job),
                    [this](const Job& one, const Outcome& outcome) { expired(one, outcome); });
  });
}

void Controller::expired(const Job& job, const Outcome& outcome) {
  expiring_ = false;
  if (stopping_ && outcome.cancelled) return;
  expiry_.tried(Loop::now());
  watch_again();
  take_status(outcome);
  plan_expiry();
  // Another generation is held now.
  if (!expiry_.due()) reconciler_.woken(Wake::kApply, Loop::now());
  tell(job, outcome.report);
  publish();
  plan_next();
}

/// What a job writes may be in a folder that was not there before.
void Controller::watch_again() {
  if (watched_ != nullptr) watched_->watch(core::managed_folders(*files_));
}

void Controller::publish() {
  properties_.state = !ready_                            ? "starting"
                      : jobs_.busy()                     ? "working"
                      : !properties_.unconfirmed.empty() ? "unconfirmed"
                      : reconciler_.due() && !next_      ? "degraded"
                      : !reconciler_.contended().empty() ? "degraded"
                                                         : "idle";
  notify(fmt::format(
      "STATUS={}",
      properties_.state == "idle"
          ? fmt::format("generation {} is held{}", properties_.generation,
                        properties_.pending.empty() ? std::string()
                                                    : fmt::format(", {} pending", properties_.pending.size()))
          : properties_.state));
  if (api_) api_->set(properties_);
}

}  // namespace rdmacfg::daemon
