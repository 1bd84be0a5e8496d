// SPDX-License-Identifier: Apache-2.0
#include "daemon/reconciler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daemon/journal_report.hpp"

namespace rdmacfg::daemon {

using model::Status;

void Reconciler::woken(Wake wake, Time now) {
  if (!first_) first_ = now;
  last_ = now;
  if (wake == Wake::kDrift) return;
  if (wake == Wake::kDevice && (running_ || now < own_events_until_)) return;
  failures_.clear();
  retry_whole_.reset();
  whole_attempts_ = 0;
  // A setting of a kernel object is fought for until it is on another one: the other side may fight by
  // loading modules and making devices.
  const bool all = wake == Wake::kApply;
  std::erase_if(contended_,
                [&](const auto& contention) { return all || parent_object_of(contention.first).empty(); });
  std::erase_if(reverts_, [&](const auto& revert) { return all || revert.second.parent_object.empty(); });
}

std::string Reconciler::parent_object_of(const model::Key& key) const {
  for (auto at = reverts_.lower_bound({key, ""}); at != reverts_.end() && at->first.first == key; ++at) {
    if (!at->second.parent_object.empty()) return at->second.parent_object;
  }
  return {};
}

void Reconciler::forget_contention(const model::Key& key) {
  contended_.erase(key);
  std::erase_if(reverts_, [&](const auto& revert) { return revert.first.first == key; });
}

namespace {

bool is_settled(Status status) {
  return status == Status::kInSync || status == Status::kDone || status == Status::kLimited;
}

/// The worker died, the lock was not to be had, the host could not be observed: nothing is known of any
/// resource.
bool failed_whole(const model::Report& report) {
  return report.error && report.plan.empty() && report.resources.empty();
}

constexpr const char* kExistence = "";  // in the place of a field
constexpr const char* kJournalSaysWhy = "the journal says why";

}  // namespace

void Reconciler::applied(const model::Report& report) {
  for (const auto& resource : report.resources) {
    if (!is_settled(resource.status)) continue;
    settled_.insert_or_assign(resource.key, resource.instance);
    drifted_.erase(resource.key);
  }
}

std::optional<Reconciler::Time> Reconciler::due() const {
  // Events do not hurry it: a worker that dies may be what made them.
  if (retry_whole_) return retry_whole_;
  std::optional<Time> when;
  if (first_) when = std::min(*last_ + kDebounce, *first_ + kMaxDelay);
  for (const auto& [key, failure] : failures_) {
    if (!when || failure.retry < *when) when = failure.retry;
  }
  return when;
}

std::string Reconciler::failing(DocumentValues values) const {
  const bool is_shown = values == DocumentValues::kShown;
  if (retry_whole_) return is_shown ? whole_reason_ : fmt::format("the run failed: {}", kJournalSaysWhy);
  if (failures_.empty()) return {};
  const auto& [key, failure] = *failures_.begin();
  auto out = key.text() + ": " + (is_shown ? failure.reason : kJournalSaysWhy);
  if (failures_.size() > 1) out += fmt::format(" (and {} more)", failures_.size() - 1);
  return out;
}

void Reconciler::began() {
  first_ = last_ = std::nullopt;
  running_ = true;
}

std::map<model::Key, std::string> Reconciler::left_alone(Time now) const {
  std::map<model::Key, std::string> out;
  for (const auto& [key, fields] : contended_) {
    if (fields.contains(kExistence)) out.emplace(key, contended().at(key));
  }
  for (const auto& [key, failure] : failures_) {
    if (failure.retry > now) out.emplace(key, failure.reason);
  }
  return out;
}

std::map<model::Key, model::LeftFields> Reconciler::fields_left_alone() const {
  std::map<model::Key, model::LeftFields> out;
  const auto all = contended();
  for (const auto& [key, fields] : contended_) {
    if (fields.contains(kExistence)) continue;
    auto& left = out[key];
    left.why = all.at(key);
    for (const auto& [field, why] : fields) left.fields.insert(field);
  }
  return out;
}

std::map<model::Key, std::string> Reconciler::contended(DocumentValues values) const {
  std::map<model::Key, std::string> out;
  for (const auto& [key, fields] : contended_) {
    auto& text = out[key];
    for (const auto& [field, fight] : fields)
      text += (text.empty() ? "" : ", and ") + fight.what +
              (values == DocumentValues::kShown ? fight.values : "");
    text = fmt::format("another program has {}; it is left alone until the next apply", text);
  }
  return out;
}

Reconciler::Time Reconciler::back_off(int attempts) {
  const double factor = std::pow(2.0, std::min(attempts, 20)) * jitter_();
  const auto delay = Time(static_cast<std::int64_t>(static_cast<double>(kBackOffMin.count()) * factor));
  return std::min(delay, kBackOffMax);
}

void Reconciler::count_revert(const model::Change& change, const std::string& field, Time now) {
  auto& reverts = reverts_[{change.key, field}];
  // On a device that came back in between it is not a revert, but the first time.
  if (!change.parent_object.empty() && !reverts.parent_object.empty() &&
      change.parent_object != reverts.parent_object)
    reverts.times.clear();
  if (!change.parent_object.empty()) reverts.parent_object = change.parent_object;
  if (!change.returned.empty() && change.returned != reverts.returned) {
    reverts.returned = change.returned;
    reverts.times.clear();
  }
  reverts.times.push_back(now);
  while (!reverts.times.empty() && reverts.times.front() + kRevertWindow < now) reverts.times.pop_front();
  if (reverts.times.size() < kReverts) return;
  std::string values;
  if (field != kExistence)
    values = fmt::format(" (last from {} to {})", model::text_of(model::value_of(change.after, field)),
                         model::text_of(model::value_of(change.before, field)));
  const std::string what =
      field != kExistence ? fmt::format("changed {} of {} back {} times", contended_name(change.key, field),
                                        change.label, reverts.times.size())
      : change.operation == model::Operation::kDelete
          ? fmt::format("re-created {} {} times", change.label, reverts.times.size())
          : fmt::format("removed {} {} times", change.label, reverts.times.size());
  contended_[change.key][field] = {what, values};
}

std::vector<model::Key> Reconciler::ended(const model::Report& report, Time now, Run run) {
  running_ = false;
  if (failed_whole(report)) {
    // Due work still is: it was not tried.
    retry_whole_ = now + back_off(whole_attempts_++);
    whole_reason_ = report.error->message;
    own_events_until_ = now + kOwnEvents;  // a worker that dies may have changed something first
    return {};
  }
  retry_whole_.reset();
  whole_attempts_ = 0;
  if (!report.plan.empty()) own_events_until_ = now + kOwnEvents;
  auto fresh = note_drift(report);
  // As the run had it: the steps below forget contention.
  auto waiting = left_alone(now);
  for (const auto& [key, fields] : contended_) waiting.emplace(key, "");
  for (const auto& key : drifted_) waiting.emplace(key, "");
  forget_old_contention(report, now);
  Statuses status;
  for (const auto& resource : report.resources) status.emplace(resource.key, resource.status);
  note_failures(report, status, waiting, now);
  count_reverts(report, status, run, now);
  return fresh;
}

std::vector<model::Key> Reconciler::note_drift(const model::Report& report) {
  std::vector<model::Key> fresh;
  std::set<model::Key> drifted;
  for (const auto& change : report.drifted) {
    if (drifted.insert(change.key).second && !drifted_.contains(change.key)) fresh.push_back(change.key);
  }
  drifted_ = std::move(drifted);
  // A resource that has gone is new when it comes back.
  std::erase_if(settled_, [&](const auto& settled) { return !drifted_.contains(settled.first); });
  for (const auto& resource : report.resources) {
    if (is_settled(resource.status)) settled_.insert_or_assign(resource.key, resource.instance);
  }
  return fresh;
}

void Reconciler::forget_old_contention(const model::Report& report, Time now) {
  for (const auto& resource : report.resources) {
    const auto parent_object = parent_object_of(resource.key);
    if (!contended_.contains(resource.key) || parent_object.empty() || resource.instance.empty() ||
        parent_object == resource.instance)
      continue;
    forget_contention(resource.key);  // on a device that came back it was left alone for nothing
    woken(Wake::kDrift, now);
  }
}

void Reconciler::note_failures(const model::Report& report, const Statuses& status,
                               const std::map<model::Key, std::string>& waiting, Time now) {
  std::map<model::Key, std::string> failed;
  for (const auto& resource : report.resources) {
    if (resource.status == Status::kFailed && !waiting.contains(resource.key))
      failed.emplace(resource.key, resource.reason);
  }
  // A plan that failed as a whole, without parts, names no resource: all of it waits.
  if (report.error) {
    for (const auto& change : report.plan.changes) {
      const auto at = status.find(change.key);
      if (at == status.end() || at->second != Status::kDone)
        failed.emplace(change.key, report.error->message);
    }
  }
  // Of those that were not tried, only one whose time is to come is tried again after a while; one that
  // somebody fights about, or that has drifted, has no time that could come.
  std::erase_if(failures_, [&](const auto& failure) {
    return failure.second.retry <= now && !failed.contains(failure.first);
  });
  for (auto& [key, why] : failed) {
    auto& failure = failures_[key];
    failure.reason = why;
    failure.retry = now + back_off(failure.attempts++);
  }
}

void Reconciler::count_reverts(const model::Report& report, const Statuses& status, Run run, Time now) {
  const bool held = run == Run::kHold;
  for (const auto& change : report.plan.changes) {
    const auto at = status.find(change.key);
    const bool gone = at == status.end();
    if (gone && change.operation != model::Operation::kDelete) continue;
    // Changed back later, or so soon that the apply found it otherwise and failed.
    if (!gone && at->second != Status::kDone && at->second != Status::kLimited) {
      for (const auto& field : change.overruled) count_revert(change, field, now);
    } else if (held && change.operation != model::Operation::kUpdate) {
      count_revert(change, kExistence, now);
    } else if (held) {
      for (const auto& field : change.fields) count_revert(change, field, now);
    }
  }
}

}  // namespace rdmacfg::daemon
