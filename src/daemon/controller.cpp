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
#include "daemon/journal.hpp"
#include "daemon/suspects.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::daemon {

using model::Status;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kConnectAgain{1000};

/// Where files of ours are that somebody may change, and the record of what is active.
const std::vector<std::string> kFolders{"/etc/udev/rules.d",      "/etc/modprobe.d", "/etc/modules-load.d",
                                        "/etc/security/limits.d", "/etc/sysctl.d",   "/etc/systemd/system",
                                        "/var/lib/rdma-configd",  "/etc/opensm",     "/etc/rdma/modules"};

/// Kinds that hang on interfaces which are not IPoIB.
const std::set<std::string> kAnyInterface{"soft_rdma", "roce", "pfc", "lossless", "sysctl"};

/// "mtu 2044 → 65520"; the other way round for what has drifted.
std::string fields_of(const model::Change& change, bool forward) {
  std::string out;
  for (const auto& field : change.fields) {
    const auto before = model::text_of(model::value_of(change.before, field));
    const auto after = model::text_of(model::value_of(change.after, field));
    out += fmt::format("{}{} {} → {}", out.empty() ? "" : ", ", field, forward ? before : after,
                       forward ? after : before);
  }
  return out;
}

double jitter() {
  static std::minstd_rand engine{std::random_device{}()};
  return std::uniform_real_distribution<double>(0.8, 1.2)(engine);
}

}  // namespace

Controller::Controller(Loop& loop) : loop_(loop), jobs_(loop), reconciler_(jitter) {
  jobs_.progress = [this](std::uint32_t id, std::uint64_t done, std::uint64_t total,
                          const std::string& what) {
    if (total > 0)
      notify(fmt::format("STATUS={} of {} changes done{}{}", done, total, what.empty() ? "" : ": ", what));
    if (api_) api_->progress(id, done, total, what);
  };
  jobs_.began = [this](const Job& job) {
    if (job.changes()) publish();
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
  apply_configuration("reload");
}

void Controller::stop() {
  stopping_ = true;
  next_.reset();
  deadline_.reset();
  audit_.reset();
  notify("STOPPING=1");
  if (jobs_.idle()) loop_.stop(0);
}

void Controller::listen() {
  const auto add = [this](base::Result<std::unique_ptr<system::EventSource>> source) {
    if (source) {
      listen_to(std::move(*source));
    } else {
      log(LOG_WARNING, Message::kTrouble, "cannot listen for changes: " + source.error().message);
    }
  };
  add(system::watch_links(all_links_));
  add(system::watch_devices());
  add(system::watch_files(kFolders));
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
  const auto wake = event.sort == system::Event::Sort::kDevice  ? Wake::kDevice
                    : event.what.ends_with("/generations.json") ? Wake::kApply
                                                                : Wake::kDrift;
  reconciler_.woken(wake, Loop::now());
}

void Controller::connect() {
  if (api_ || stopping_) return;
  try {
    api_ = std::make_unique<Api>(loop_, jobs_);
    api_->ended = [this](const Job& job, const Outcome& outcome) {
      if (job.verb == Job::Verb::kApply) reconciler_.woken(Wake::kApply, Loop::now());
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
  (void)jobs_.add(std::move(job), [this](const Job& one, const Outcome& outcome) { ended(one, outcome); });
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
  const auto contended = reconciler_.contended();
  reconciler_.ended(outcome.report, Loop::now());
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
  notify("READY=1");
  publish();
  if (stopping_) {
    if (jobs_.idle()) loop_.stop(0);
    return;
  }
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
  if (!outcome.status.is_object()) return;
  properties_.generation = outcome.status.value("active", std::uint64_t{0});
  report_drift_ = outcome.status.value("report_drift", false);
  audit_every_ = std::chrono::seconds(outcome.status.value("audit_s", std::int64_t{0}));
  properties_.unconfirmed.clear();
  deadline_.reset();
  const auto waiting = outcome.status.find("unconfirmed");
  if (waiting == outcome.status.end() || !waiting->is_object()) return;
  properties_.unconfirmed = waiting->value("deadline", "");
  const milliseconds left = milliseconds(waiting->value("deadline_ms", std::int64_t{0})) - Loop::now();
  deadline_ = loop_.after(std::max(left, milliseconds(0)), [this] {
    Job job;
    job.verb = Job::Verb::kExpire;
    job.who = "rdma-configd";
    job.what = "expiry";
    (void)jobs_.add(std::move(job), [this](const Job& one, const Outcome& result) { ended(one, result); });
  });
}

void Controller::tell(const Job& job, const model::Report& report) {
  std::map<model::Key, const model::ResourceReport*> resources;
  for (const auto& resource : report.resources) resources.emplace(resource.key, &resource);
  for (const auto& change : report.plan.changes) {
    const auto at = resources.find(change.key);
    const bool done = change.operation == model::Operation::kDelete
                          ? !report.error
                          : at != resources.end() && at->second->status == Status::kDone;
    if (!done) continue;
    const auto what = fields_of(change, true);
    const bool repair = job.verb == Job::Verb::kHold;
    log(repair ? LOG_NOTICE : LOG_INFO, repair ? Message::kRepaired : Message::kApplied,
        fmt::format("{} {} {}{}{}", repair ? "repaired:" : std::string(model::text_of(change.operation)),
                    change.key.kind, change.label, what.empty() ? "" : ": ", what),
        {{"RDMA_KIND", change.key.kind},
         {"RDMA_RESOURCE", change.key.id},
         {"RDMA_FIELDS", base::join(change.fields, " ")},
         {"RDMA_JOB", job.what}});
  }
  for (const auto& resource : report.resources) {
    if (resource.status != Status::kFailed || job.left_alone.contains(resource.key)) continue;
    log(LOG_ERR, Message::kFailed,
        fmt::format("{} {}: {}", resource.key.kind, resource.label, resource.reason),
        {{"RDMA_KIND", resource.key.kind}, {"RDMA_RESOURCE", resource.key.id}});
  }
  for (const auto& note : report.notes) {
    const bool back = note.find("rolled back") != std::string::npos;
    log(back ? LOG_WARNING : LOG_INFO, back ? Message::kRolledBack : Message::kApplied, note);
  }
  for (const auto& one : report.diagnostics) {
    if (one.severity == model::Severity::kError)
      log(LOG_ERR, Message::kFailed, one.where.text() + ": " + one.message);
  }
  if (report.error) log(LOG_ERR, Message::kFailed, report.error->message);
  for (const auto& left : report.left_over) log(LOG_ERR, Message::kFailed, "could not be undone: " + left);
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
