// SPDX-License-Identifier: Apache-2.0
#include "daemon/controller.hpp"

#include <fmt/format.h>
#include <sys/syslog.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "daemon/jobs/outcome.hpp"
#include "daemon/journal.hpp"
#include "daemon/journal_report.hpp"
#include "daemon/watch/duties.hpp"
#include "daemon/watch/naming.hpp"
#include "daemon/watch/suspects.hpp"
#include "system/linux/dbus/dbus.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::daemon {

using std::chrono::milliseconds;

namespace {

/// So long after the last handle was made, whoever makes them has done.
constexpr milliseconds kHandleQuiet{1000};
constexpr milliseconds kConnectAgain{1000};
constexpr milliseconds kConnectAgainMax{300'000};

/// So often the configuration is applied again when its apply came to nothing (the worker died, the lock was
/// not to be had); then what was applied before is held. Where nothing was, it is tried on and on.
constexpr int kApplyTries = 5;

std::string beside(const std::string& marker, const char* name) {
  return marker.substr(0, marker.rfind('/') + 1) + name;
}

double jitter() {
  static std::minstd_rand engine{std::random_device{}()};
  return std::uniform_real_distribution<double>(0.8, 1.2)(engine);
}

}  // namespace

Controller::Controller(Loop& loop, std::string program, std::string marker)
    : loop_(loop),
      jobs_(loop, program),
      reconciler_(jitter),
      audit_(jitter),
      files_(system::make_linux_files()),
      settled_(*files_, beside(marker, "settled.json"), system::linux_boot_id()),
      refusal_(*files_, beside(marker, "refused.json"), system::linux_boot_id()),
      metrics_(*files_, beside(marker, "metrics")),
      mark_path_(beside(marker, "applied")),
      marker_(*files_, std::move(marker), system::linux_boot_id()),
      listener_(loop, *files_, std::move(program),
                {[this](const system::Event& event) { came(event); }, [this] { plan_next(); }}) {
  jobs_.progress = [this](std::uint32_t id, std::uint64_t done, std::uint64_t total,
                          const std::string& what) {
    auto health = this->health();
    health.doing =
        total == 0 ? what
                   : fmt::format("{} of {} changes done{}{}", done, total, what.empty() ? "" : ": ", what);
    if (total == 0 && !what.empty()) log(LOG_INFO, Message::kTrouble, what);
    notify("STATUS=" + health.status());
    if (api_) api_->progress(id, done, total, what);
  };
  jobs_.begins = [this](Job& job) {
    // The present knowledge: jobs of others may have run since it was wanted.
    if (job.verb == Job::Verb::kHold) {
      job.left_alone = reconciler_.left_alone(Loop::now());
      job.fields_left_alone = reconciler_.fields_left_alone();
    }
    if (job.verb == Job::Verb::kHold || job.settled_at != 0) job.settled = reconciler_.settled();
    if (!job.changes()) return;
    handles_before_ = listener_.handles_made();
    const bool own = job.verb == Job::Verb::kHold || (job.verb == Job::Verb::kApply && job.by_itself);
    if (own) job.closely = std::exchange(closely_, std::nullopt);
    publish();
  };
  jobs_.changed = [this](const Job& job, const Outcome& outcome) {
    if (job.closely && !outcome.looked) closely_ = job.closely;
    // Somebody else's is among them, and nobody knows which.
    if (listener_.handles_made() - handles_before_ > outcome.handles_made) touched("");
  };
  jobs_.on_idle = [this] {
    former_.clear();
    if (stopping_) leave();
  };
}

Controller::~Controller() { follow(nullptr); }

void Controller::start() {
  listener_.start();
  resumes_ = marker_.stands();
  if (auto settled = settled_.load()) {
    settled_at_ = settled->generation;
    reconciler_.settle(std::move(settled->resources));
  }
  facts_.version = RDMACFG_VERSION;
  // Only then the configuration is not read.
  if (resumes_) refusal_.load();
  apply_configuration(Occasion::kBoot);
  // Files for certain hosts could not be told from those for others before.
  named_ = when_named(loop_, [this] {
    if (std::exchange(has_name_, true)) return;
    reload();
  });
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
  apply_configuration(Occasion::kReload);
}

void Controller::stop() {
  stopping_ = true;
  follow(nullptr);
  next_.reset();
  deadline_.reset();
  audit_timer_.reset();
  unwritten_timer_.reset();
  notify("STOPPING=1");
  // With it the next start holds what is active, and does not read the configuration.
  if (auto done = marker_.clear(); !done) log(LOG_WARNING, Message::kTrouble, done.error().message);
  if (ready_) publish_metrics();
  jobs_.close();
  if (jobs_.idle()) leave();
}

void Controller::leave() {
  const auto left = jobs_.unfetched();
  if (left <= milliseconds(0)) return loop_.stop(0);
  leaving_ = loop_.after(left, [this] { loop_.stop(0); });
}

Wake wake_of(const system::Event& event) {
  using Event = system::Event;
  if (event.sort == Event::Sort::kDevice || event.overflowed == Event::Queue::kUdev) return Wake::kDevice;
  const bool applied = event.sort == Event::Sort::kFile && says_applied(event.what);
  return applied ? Wake::kApply : Wake::kDrift;
}

void Controller::came(const system::Event& event) {
  if (event.sort == system::Event::Sort::kHandle) {
    // While a job is at work it is perhaps its own: that is known when it is over.
    if (!jobs_.busy()) touched(event.what.substr(event.what.rfind('/') + 1));
    return;
  }
  // Those of handles may be among them.
  if (event.overflowed == system::Event::Queue::kInotify) touched("");
  const auto wake = wake_of(event);
  if (wake == Wake::kApply) lost_records_.forget();  // the apply that is due gives way at once
  reconciler_.woken(wake, Loop::now());
}

void Controller::touched(const std::string& handle) {
  touched_.insert(handle);
  at_work_ = loop_.after(kHandleQuiet, [this] {
    auto handles = std::exchange(touched_, {});
    const bool any = handles.contains("") || (closely_ && closely_->empty());
    if (any) handles.clear();
    if (closely_ && !any) handles.merge(*closely_);
    closely_ = std::move(handles);
    reconciler_.woken(Wake::kDrift, Loop::now());
    plan_next();
  });
}

void Controller::watch(const model::Report& report) {
  if (listener_.watch_again(report.resources)) reconciler_.woken(Wake::kDrift, Loop::now());
  if (api_) api_->watch_units(listener_.settings().units);
}

void Controller::connect() {
  if (api_ || stopping_) return;
  try {
    api_ = std::make_unique<Api>(loop_, jobs_);
    api_->ended = [this](const Job& job, const Outcome& outcome) {
      if (job.changes() && succeeded(outcome.report)) {  // what somebody wants now is done
        again_.reset();
        if (!job.by_itself && (job.verb == Job::Verb::kApply || job.verb == Job::Verb::kRollBack))
          refusal_.clear();
      }
      if (job.by_itself) refusal_.judge(outcome);
      reconciler_.applied(outcome.report);
      reconciler_.woken(Wake::kApply, Loop::now());
      watch(outcome.report);
      take_status(job, outcome);
      report_to_journal(job, outcome.report);
      publish();
      plan_next();
    };
    api_->appeared = [this] {
      reconciler_.woken(Wake::kDrift, Loop::now());
      plan_next();
    };
    api_->unit_changed = [this](const std::string& unit) {
      came({system::Event::Sort::kSetting, unit});
      plan_next();
    };
    api_->watch_units(listener_.settings().units);
    follow([this](int priority, Message message, const std::string& text) {
      if (api_) api_->event(priority, std::string(name_of(message)), text);
    });
    api_->lost = [this] {
      log(LOG_WARNING, Message::kTrouble, "the connection to the system bus is lost");
      connecting_ = loop_.after(milliseconds(0), [this] {
        former_.push_back(std::move(api_));
        connect_again_ = kConnectAgain;
        connect();
        if (api_) plan_next();
      });
    };
    api_->set(properties_);
    // Services that came to the bus before were not announced.
    if (connecting_ || !properties_.pending.empty()) reconciler_.woken(Wake::kDrift, Loop::now());
  } catch (const sdbus::Error& error) {
    if (!connecting_) log(LOG_INFO, Message::kTrouble, "no system bus yet: " + error.getMessage());
    connecting_ = loop_.after(connect_again_, [this] {
      connect_again_ = std::min(connect_again_ * 2, kConnectAgainMax);
      connect();
      if (api_) plan_next();
    });
  }
}

void Controller::apply_configuration(Occasion occasion, Attempt attempt) {
  const bool boot = occasion == Occasion::kBoot;
  running_ = true;
  if (attempt == Attempt::kFirst) applied_then_ = applied_mark(*files_, mark_path_);
  Job job;
  job.verb = Job::Verb::kApply;
  job.by_itself = true;
  job.who = occasion == Occasion::kReload ? "reload" : "rdma-configd";
  job.what = boot ? "boot" : occasion == Occasion::kReload ? "reload" : "event";
  job.awaited = !ready_;
  if (attempt == Attempt::kAgain) job.applied_then = applied_then_;
  job.resumes = boot && resumes_;
  if (boot) job.settled_at = settled_at_;
  reconciler_.began();
  (void)jobs_.add(std::move(job), [this, occasion](const Job& ended_job, const Outcome& outcome) {
    const bool failed = ended_before_plan(outcome);
    tries_ = failed ? tries_ + 1 : 0;
    again_ = failed ? std::optional(occasion) : std::nullopt;
    refusal_.judge(outcome);
    ended(ended_job, outcome);
  });
}

void Controller::plan_next() {
  next_.reset();
  audit_timer_.reset();
  unwritten_timer_.reset();
  if (!ready_ || running_ || stopping_) return;
  auto due = reconciler_.due();
  if (due && again_ == Occasion::kLoss) due = lost_records_.not_before(*due);
  // A rollback of an unconfirmed apply does not wait for a run that ends after the deadline.
  if (const auto expiry = expiry_.due();
      due && expiry && std::max(*due, Loop::now()) >= *expiry - Expiry::kAhead)
    due = std::max(*due, *expiry + milliseconds(10));
  if (const auto audit = audit_.due_before(due)) {
    audit_timer_ = loop_.after(std::max(*audit - Loop::now(), milliseconds(0)), [this] {
      audit_.asked(Loop::now());
      closely_.emplace();
      reconciler_.woken(Wake::kDrift, Loop::now());
      plan_next();
    });
  }
  if (const auto retry = unwritten_.due_before(due)) {
    unwritten_timer_ = loop_.after(std::max(*retry - Loop::now(), milliseconds(0)), [this] {
      unwritten_.asked(Loop::now());
      reconciler_.woken(Wake::kDrift, Loop::now());
      plan_next();
    });
  }
  if (!due) return;
  next_ = loop_.after(std::max(*due - Loop::now(), milliseconds(0)), [this] { hold(); });
}

void Controller::hold() {
  next_.reset();
  audit_timer_.reset();
  unwritten_timer_.reset();
  // On a busy host both fall due in the same turn of the loop, in any order.
  if (const auto due = expiry_.due(); due && deadline_ && Loop::now() >= *due) expire();
  if (again_ && (tries_ < kApplyTries || active_ == 0U)) {
    // Not behind a change that a client has asked for: when that is good, nothing is applied again. Its end
    // calls plan_next().
    if (!jobs_.busy()) apply_configuration(*again_, Attempt::kAgain);
    return;
  }
  running_ = true;
  Job job;
  job.verb = Job::Verb::kHold;
  job.awaited = !ready_;
  job.who = "rdma-configd";
  job.what = "event";
  reconciler_.began();
  (void)jobs_.add(std::move(job),
                  [this](const Job& ended_job, const Outcome& outcome) { ended(ended_job, outcome); });
}

void Controller::note_loss(const Job& job, const Outcome& outcome) {
  if (!outcome.status.is_object()) return;
  const auto before = std::exchange(held_, active_.value_or(0));
  // A ledger that is there names the last apply, also one that was rolled back to nothing; `withdraw` leaves
  // no reason why the host would be DEGRADED.
  const bool is_lost = !outcome.status.contains("last") &&
                       !outcome.status.value("degraded", std::vector<std::string>()).empty();
  if (job.verb != Job::Verb::kHold || before == 0 || held_ != 0 || !is_lost) return;
  const auto now = Loop::now();
  const auto wait = lost_records_.found(now) - now;
  const auto when = wait > milliseconds(0)
                        ? fmt::format(" in {} s", std::chrono::ceil<std::chrono::seconds>(wait).count())
                        : std::string();
  log(LOG_WARNING, Message::kTrouble,
      fmt::format("the record of generation {} is lost: the configuration is applied{}, as at a start",
                  before, when));
  again_ = Occasion::kLoss;
  tries_ = 0;
  applied_then_ = applied_mark(*files_, mark_path_);
}

void Controller::ended(const Job& job, const Outcome& outcome) {
  running_ = false;
  if (stopping_ && outcome.cancelled) return;
  if (outcome.status.is_object()) active_ = outcome.status.value("active", std::uint64_t{0});
  const bool hold = job.verb == Job::Verb::kHold;
  if (hold && active_ && *active_ != 0) again_.reset();
  note_loss(job, outcome);
  const auto contended = reconciler_.contended();
  // With nothing active there was nothing to hold: the apply is still due, after a while.
  const bool nothing_held = hold && active_ == 0U && again_;
  const auto stood = reconciler_.settled();
  const auto run = hold ? Reconciler::Run::kHold : Reconciler::Run::kOther;
  const auto fresh = reconciler_.ended(nothing_held ? not_applied() : outcome.report, Loop::now(), run);
  if (job.awaited && leaves_something(outcome.report)) reconciler_.woken(Wake::kDrift, Loop::now());
  // Retries of a change that fails again and again do not put it off.
  if (outcome.looked || !reconciler_.due()) audit_.looked(Loop::now());
  watch(outcome.report);
  if (hold) count_repairs(outcome.report, stood);
  take_status(job, outcome);
  keep_settled();
  Suspects suspects;
  report_drift(outcome.report, fresh, [&](const model::Key& key) { return suspects.of(key.kind); });
  // A resource that was not as wanted before, such as a device that came, was changed by nobody.
  const auto blame = [&](const model::Key& key) {
    return stood.contains(key) ? std::optional(suspects.of(key.kind)) : std::nullopt;
  };
  report_to_journal(job, outcome.report, blame, &repeat_filter_);
  for (const auto& [key, why] : reconciler_.contended()) {
    if (const auto at = contended.find(key); at != contended.end() && at->second == why) continue;
    const auto suspect = suspects.of(key.kind);
    log(LOG_WARNING, Message::kContended, fmt::format("{}: {}{}", key.text(), why, suspected(suspect)),
        {{"RDMA_KIND", key.kind}, {"RDMA_RESOURCE", key.id}, {"RDMA_SUSPECT", suspect}});
  }
  if (!ready_) {
    ready_ = true;
    log(LOG_INFO, Message::kStarted, "the present hardware is configured");
  }
  if (!stopping_) notify("READY=1");
  if (!stopping_ && !again_) {
    if (auto done = marker_.set(); !done) log(LOG_WARNING, Message::kTrouble, done.error().message);
  }
  publish();
  if (stopping_) return;
  connect();
  if (std::exchange(reload_again_, false)) return reload();
  plan_next();
}

}  // namespace rdmacfg::daemon
