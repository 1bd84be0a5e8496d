// SPDX-License-Identifier: Apache-2.0
// Run: how the host goes back to an earlier generation, or from an apply that nobody confirmed, and is held.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/retry.hpp"
#include "catalog/owned_files.hpp"
#include "core/commit/commit_run.hpp"
#include "core/plan.hpp"
#include "core/remember.hpp"
#include "core/transaction.hpp"
#include "store/damage.hpp"
#include "store/held_record.hpp"

namespace rdmacfg::core::detail {

using base::Result;
using model::Exit;
using model::Report;
using model::Status;

namespace {

constexpr const char* kLetBe = "was rolled back to this value, which stays until the next apply or boot";

/// Adds the records of runs that followed the undone apply to `state`: its plan does not cover them, and
/// without a record their objects would stay for good.
/// @param taken  the part of the plan that could be undone
/// @return whether there are any
bool add_later_records(const State& now, const model::Plan& plan, const model::Plan& taken,
                       const Observation& observation, State& state) {
  const auto keys_in = [](const model::Plan& changes) {
    std::set<model::Key> keys;
    for (const auto& change : changes.changes) keys.insert(change.key);
    return keys;
  };
  const auto in_plan = keys_in(plan), in_taken = keys_in(taken);
  bool any = false;
  for (const auto& [key, record] : now.records) {
    const auto* observed = observation.find(key);
    // A kind that cannot be observed has not been undone either.
    const bool unseen = observation.unseen.contains(key.kind);
    const bool gone =
        !unseen && in_plan.contains(key) && (observed == nullptr || observed->instance != record.instance);
    const bool is_undone = !unseen && in_taken.contains(key);
    const auto before = state.records.find(key);
    if (gone || is_undone || (before != state.records.end() && before->second == record)) continue;
    state.records.insert_or_assign(key, record);
    any = true;
  }
  return any;
}

}  // namespace

Report Run::held(std::uint64_t number) {
  auto texts = load_texts(files(), context_.paths.texts, number);
  if (!texts) {
    auto copy = read_texts(files(), context_.paths, number);
    std::string reason = texts.error().message;
    if (is_damage(texts.error()))
      reason = put_aside(files(), fmt::format("{}/{}.json", context_.paths.texts, number), texts.error());
    reason += copy ? "; its copy is used" : "";
    if (copy) {
      const auto mended = parsed(*copy, request_);
      const auto again = save_texts(files(), context_.paths.texts, number, mended, copy->of_others);
      if (!again) reason += "; it could not be rewritten: " + again.error().message;
    }
    auto reasons = degrade(files(), {reason});
    if (!copy) reasons.erase(reasons.begin());  // the first is the error then
    note_damage(std::move(reasons));
    if (!copy) return error_report({texts.error().code, reason, 0});
    texts = std::move(copy);
  }
  auto options = options_for(nullptr);
  options.independent = true;
  options.unconfirmed = waits();
  const auto document = parsed(std::move(*texts), request_);
  const auto suspended = waits() ? std::set<model::Key>() : this->suspended(document, options);
  auto report = apply(document, context_.host, options);
  note_suspended(report, suspended);
  return report;
}

std::set<model::Key> Run::suspended(const config::Document& document, Options& options) {
  std::set<model::Key> keys;
  const auto taken =
      base::load_twice([&] { return load_rollback_record(files(), context_.paths.suspended); });
  if (!taken && is_damage(taken.error())) {
    note_damage(degrade(files(), {put_aside(files(), context_.paths.suspended, taken.error())}));
  }
  if (!taken || !*taken) return keys;
  if ((*taken)->boot_id != context_.host.boot_id) {
    tell_undone("the record of changes rolled back before the last boot could not be removed",
                files().remove(context_.paths.suspended));
    return keys;
  }
  std::map<model::Key, std::string> parent_objects;
  for (const auto& then : (*taken)->plan.changes) parent_objects.emplace(then.key, then.parent_object);
  const auto now = diff(document, context_.host, options);
  for (const auto& change : now.plan.changes) {
    // On another device than then it is none of what was taken back.
    const auto then = parent_objects.find(change.key);
    const bool same = then != parent_objects.end() && then->second == change.parent_object;
    if (same && options.left_alone.emplace(change.key, kLetBe).second) keys.insert(change.key);
  }
  return keys;
}

void Run::note_suspended(Report& report, const std::set<model::Key>& keys) {
  if (keys.empty()) return;
  bool failed = false;
  for (auto& resource : report.resources) {
    if (keys.contains(resource.key)) {
      resource.status = Status::kPending;
      resource.reason = kLetBe;
    }
    failed = failed || resource.status == Status::kFailed;
  }
  if (!report.error && !failed && (report.exit == Exit::kUndone || report.exit == Exit::kOk))
    report.exit = Exit::kPartly;
}

void Run::forget_suspended(Report& report) {
  const auto there = files().read(context_.paths.suspended);
  if (there && !*there) return;
  if (auto done = replace_by_nothing(files(), context_.paths.suspended); !done) note(report, done.error());
}

Report Run::not_recorded(const Unconfirmed& waiting, const base::Error& error, Report report) const {
  report.error = error.in("the rollback could not be recorded");
  report.left_over.push_back(fmt::format(
      "{}: generation {} is still recorded there as unconfirmed; the next run rolls it back again",
      context_.paths.ledger, waiting.generation));
  report.exit = Exit::kUndoIncomplete;
  return report;
}

Report Run::held_again(const Unconfirmed& waiting, Report report) {
  auto again = waiting.previous != 0 ? held(waiting.previous) : nothing();
  if (succeeded(again)) {
    report.left_over.clear();
  } else if (again.exit != Exit::kUndoIncomplete) {
    // The rollback is recorded or still due, so exit status 1 (nothing has changed) would be wrong.
    again.exit = Exit::kUndoIncomplete;
    again.left_over.push_back(fmt::format(
        "the apply of generation {} was rolled back, but the host is not yet as before", waiting.generation));
  }
  merge(report, std::move(again));
  return report;
}

Report Run::held_unrecorded(const Unconfirmed& waiting, const base::Error& error, Report report) {
  report = held_again(waiting, std::move(report));
  if (report.error) report.notes.push_back(report.error->message);
  const auto held_to = waiting.previous == 0 ? std::string("no generation is held")
                                             : fmt::format("generation {} is held", waiting.previous);
  tell_unwritten(files(),
                 fmt::format("{}; generation {} was rolled back, and {}, but the ledger does not say so: {}",
                             error.message, waiting.generation, held_to, until_written(error)),
                 report);
  return report;
}

Report Run::back_to(std::uint64_t number) {
  const auto active = ledger_.active;
  auto texts = read_texts(files(), context_.paths, number);
  if (!texts) return error_report(texts.error());
  const auto document = parsed(std::move(*texts), request_);
  const auto options = options_for([&](const Report& report) -> Result<void> {
    if (!succeeded(report)) return {};
    if (number < active) {
      mark(active, fmt::format("rolled back to {}", number));
    } else {
      refuse(active);  // it stays one to go back to; by itself its document would take the place of this one
    }
    welcome(number);
    ledger_.active = number;
    ledger_.answered.clear();
    return commit();
  });
  auto report = apply(document, context_.host, options);
  tell_ambiguous(report);
  if (!succeeded(report)) return report;
  forget_suspended(report);
  report.notes.push_back(fmt::format("generation {} is active again", number));
  return report;
}

Report Run::roll_back_unconfirmed(const std::string& why) {
  const auto before = ledger_;
  const auto waiting = *ledger_.unconfirmed;
  context_.options.settled.reset();  // it goes back all the same
  context_.options.guard_removal = RemovalGuard::kNone;
  Report report;
  kinds::clear_temporaries(files());
  if (interrupted()) kinds::sync_managed_folders(files());
  const bool here = rollback_record_ && rollback_record_->boot_id == context_.host.boot_id;
  // Killed before it could write anything: nothing has become other than it was.
  const bool never_began =
      !rollback_record_damaged_ && !rollback_record_ && waiting.boot_id == context_.host.boot_id;
  bool exact = here || (waiting.again() && never_began);
  if (here) {
    const auto plan = rollback_record_->plan;
    const auto whole = undone(*rollback_record_, report);
    if (!whole) return not_recorded(waiting, whole.error(), std::move(report));
    exact = *whole;
    // The active document differs from it, so a daemon that holds the host to the document would undo this at
    // once.
    if (waiting.again() && report.left_over.empty()) {
      const RollbackRecord left{.boot_id = context_.host.boot_id, .plan = plan, .before = {}};
      make_way(files(), context_.paths.suspended);
      if (auto done = save_rollback_record(files(), context_.paths.suspended, left); !done)
        return not_recorded(waiting, done.error(), std::move(report));
    }
  }
  if (!waiting.again()) mark(waiting.generation, "rolled back: " + why, why);
  ledger_.active = waiting.previous;
  ledger_.unconfirmed.reset();
  ledger_.answered.clear();
  ledger_.transaction = std::max(ledger_.transaction, committed_.transaction) + 1;
  if (auto done = commit(); !done) {
    // Not what waits is held meanwhile: after a boot the host would else have nothing (ADR 0056).
    if (!exact) report = held_unrecorded(waiting, done.error(), std::move(report));
    ledger_ = before;
    return not_recorded(waiting, done.error(), std::move(report));
  }
  end_unconfirmed(report);
  auto told = waiting.again() ? fmt::format("the changes from reapplying generation {} were rolled back: {}",
                                            waiting.generation, why)
                              : fmt::format("generation {} was rolled back: {}", waiting.generation, why);
  report.notes.insert(report.notes.begin(), model::Note(std::move(told), model::Note::Sort::kRollback));
  // After a reboot the kernel's state is new; files still are as the unconfirmed generation had them.
  if (!exact) report = held_again(waiting, std::move(report));
  return report;
}

Result<std::optional<State>> Run::remembered() {
  const auto& paths = context_.options.paths;
  auto known = base::load_twice([&] { return load_known_state(files(), paths, context_.host.boot_id); });
  if (known) return std::optional<State>(std::move(*known));
  if (!is_damage(known.error())) return base::fail(known.error());
  std::vector<std::string> reasons;
  auto undamaged = load_undamaged_state(files(), paths, context_.host.boot_id);
  if (const auto on_disk = load_state(files(), paths.state); !on_disk && is_damage(on_disk.error()))
    reasons.push_back(put_aside(files(), paths.state, on_disk.error()));
  const auto held = load_held_record(files(), paths, context_.host.boot_id);
  if (!held && is_damage(held.error())) reasons.push_back(put_aside(files(), paths.held, held.error()));
  note_damage(degrade(files(), std::move(reasons)));
  return undamaged;
}

Result<void> Run::keep_undone(const State& state, const Journal* open, Report& report) {
  const auto& paths = context_.options.paths;
  auto done = save_state(files(), paths.state, state);
  if (done) {
    // state.json now has the records that holds kept there.
    const auto gone = open == nullptr ? files().remove(paths.held) : Result<void>();
    if (!gone) note(report, gone.error());
    return {};
  }
  if (context_.host.offline) return done;
  HeldRecord held{.journal = {.boot_id = context_.host.boot_id, .plan = {}, .before = state},
                  .over = open == nullptr};
  if (open != nullptr) held.journal.plan = open->plan;
  if (!save_held_record(files(), paths, std::move(held))) return done;
  tell_unwritten(files(),
                 fmt::format("{}; the apply was rolled back, but the record of that is only in {} and lasts "
                             "until the next boot: {}",
                             done.error().message, paths.held, until_written(done.error())),
                 report);
  return {};
}

Result<bool> Run::record_undone(RollbackRecord rollback_record, const Observation& observation,
                                const Journal* open, Report& report) {
  const auto& plan = rollback_record.plan;
  auto state = std::move(rollback_record.before);
  // Settings of a device that was removed during the apply went with it. Objects of the same name on its
  // successor are not undone and have records of their own.
  model::Plan taken;
  for (const auto& change : plan.changes) {
    if (can_be_undone(change, observation.world)) taken.changes.push_back(change);
  }
  reinstate(taken, observation, state);
  const auto now = remembered();
  if (!now) return base::fail(now.error());
  // A lost state may have had such records.
  const bool later = !*now || add_later_records(**now, plan, taken, observation, state);
  if (auto done = keep_undone(state, open, report); !done) return base::fail(done.error());
  return later;
}

Result<bool> Run::undone(const RollbackRecord& rollback_record, Report& report) {
  const auto& plan = rollback_record.plan;
  // It may have been killed half way, or be under way in a process that was; or what was killed is a later
  // run, whose journal says what it had made.
  const auto journal = load_open_journal(files(), context_.options.paths, context_.host.boot_id);
  const bool another = journal && *journal && digest_of((*journal)->plan) != digest_of(plan);
  if (!journal || (*journal && !another)) report.left_over = put_back(plan, context_.host);
  std::optional<Observation> observation;
  for (auto& left : undo(plan, context_.host, &observation)) report.left_over.push_back(std::move(left));
  report.exit = report.left_over.empty() ? Exit::kOk : Exit::kUndoIncomplete;
  bool whole =
      report.left_over.empty() && !another && !rollback_record.in_two_runs && !rollback_record.partial;
  if (!observation) {
    auto rest = observe_what_can_be(context_.host, keys_of({}, plan));
    if (!rest) return base::fail(rest.error());
    observation = std::move(*rest);
  }
  const auto later = record_undone(rollback_record, *observation, another ? &**journal : nullptr, report);
  if (!later) return base::fail(later.error());
  whole = whole && !*later;
  if (another) return whole;
  if (auto done = files().remove(context_.options.paths.journal); !done) note(report, done.error());
  return whole;
}

}  // namespace rdmacfg::core::detail
