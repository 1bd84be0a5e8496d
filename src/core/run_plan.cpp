// SPDX-License-Identifier: Apache-2.0
#include "core/run_plan.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "core/components.hpp"
#include "core/remember.hpp"
#include "core/run_end.hpp"
#include "core/run_start.hpp"
#include "core/transaction.hpp"
#include "core/verify.hpp"
#include "kinds/abilities.hpp"

namespace rdmacfg::core::detail {

using model::Change;
using model::Exit;
using model::Plan;
using model::Report;
using model::ResourceReport;
using model::Status;

namespace {

constexpr const char* kCancelled = "cancelled";

bool is_cancelled(const Options& options) { return options.cancelled && options.cancelled(); }

/// The report after a run: a new comparison, in which what was changed counts as done.
void finish_report(Report& report, Observation& now, const State& state, const Plan& carried_out,
                   const std::map<model::Key, std::string>& postponed,
                   const std::map<model::Key, std::string>& failed, const Options& options) {
  auto comparison = compare(now, state);
  defer(comparison, options);
  std::set<model::Key> planned;
  for (const auto& change : carried_out.changes) planned.insert(change.key);
  for (auto& resource : comparison.resources) {
    const bool changed = planned.contains(resource.key);
    if (const auto why = failed.find(resource.key); why != failed.end()) {
      resource.status = Status::kFailed;
      resource.reason = why->second;
    } else if (const auto at = postponed.find(resource.key); at != postponed.end()) {
      resource.status = Status::kPending;
      resource.reason = at->second;
    } else if (changed && resource.status == Status::kInSync) {
      resource.status = Status::kDone;
    } else if (changed && resource.status == Status::kDiffers) {
      resource.status = Status::kPending;
      resource.reason = "changed again during the apply";
      for (auto& change : report.plan.changes) {
        if (change.key == resource.key) change.overruled = change.fields;
      }
    }
  }
  tell_left(comparison.resources, now);
  // Repaired resources are not listed any more.
  std::set<model::Key> listed;
  for (const auto& resource : comparison.resources) listed.insert(resource.key);
  for (const auto& change : carried_out.changes) {
    if (listed.contains(change.key) || !kinds::find(change.key.kind)->traits().only_repairs) continue;
    comparison.resources.push_back({.key = change.key, .label = change.label, .status = Status::kDone});
  }
  report.resources = std::move(comparison.resources);
}

/// A plan carried out whole, or undone.
struct Attempt {
  std::optional<base::Error> error;    ///< then it was undone
  std::vector<std::string> left_over;  ///< what undoing could not restore
  std::vector<std::string> lost;       ///< of what interfaces carried
  std::vector<model::Note> notes;
  Verification verification;
  std::optional<Observation> now;  ///< afterwards; of a success always there
};

/// Why the record of a plan that was undone is the one from before it.
model::Note not_reinstated(const base::Error& error) {
  return "after undoing, the record of this host could not be brought up to date: " + error.message;
}

/// Records the objects of a plan that was undone, of every kind that can be observed.
void reinstate_undone(system::Host& host, const Plan& plan, State& state, std::vector<model::Note>& notes) {
  if (auto after = observe_what_can_be(host, keys_of(state, plan))) {
    reinstate(plan, *after, state);
  } else {
    notes.push_back(not_reinstated(after.error()));
  }
}

class Transaction {
 public:
  explicit Transaction(const RunInput& input)
      : document_(input.document), host_(input.host), options_(input.options), waits_(input.waits) {}

  /// `before`: the host just before; `state`: the record of then, which is updated. Nothing is
  /// written but the plan's changes.
  Attempt run(const Plan& plan, const Observation& before, State& state) {
    Attempt attempt;
    auto outcome = carry_out(plan, host_, options_.progress, options_.cancelled);
    if (!outcome.error) check(plan, before, state, outcome, attempt);
    if (outcome.error) {
      attempt.error = std::move(outcome.error);
      attempt.left_over = undo(plan, host_);
      attempt.lost = outcome.touched.put_back(host_);
      reinstate_undone(host_, plan, state, attempt.notes);
      return attempt;
    }
    remember(plan, *attempt.now, state);
    for (auto& [key, limits] : attempt.verification.limits) {
      // Of what is in a file, and on no object of the kernel's, nothing else may be remembered.
      const auto* observed = attempt.now->find(key);
      const bool filed = observed != nullptr && observed->instance.empty();
      if (filed || state.records.contains(key)) state.records[key].limits = std::move(limits);
    }
    return attempt;
  }

 private:
  void check(const Plan& plan, const Observation& before, const State& state, Outcome& outcome,
             Attempt& attempt) {
    auto now = observe_host(document_, host_, keys_of(state, plan),
                            {.thorough = true, .settled = false, .may_fail = may_fail_as_in(before)});
    bool waited = false, in_vain = false, cut_short = false;
    for (const auto* kind : kinds::all_kinds()) {
      const auto* awaits = kinds::ability<kinds::AwaitsKernel>(kind);
      if (awaits == nullptr) continue;
      std::vector<Change> mine;
      for (const auto& change : plan.changes) {
        if (change.key.kind == kind->name()) mine.push_back(change);
      }
      if (mine.empty() || !now) continue;
      const bool is_short = waits_.is_short();
      const auto start = std::chrono::steady_clock::now();
      const auto ended = awaits->await(mine, now->world, waits_.left());
      if (ended && *ended == kinds::Waited::kNot) continue;
      waited = true;
      const bool all = ended && *ended == kinds::Waited::kInVain;
      in_vain = in_vain || all;
      cut_short = cut_short || (all && is_short);
      const auto time =
          std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
      all ? waits_.spend_in_vain(time) : waits_.spend(time);
    }
    // The last moment: a batch cannot be left half way, and waiting for carrier takes its time.
    if (is_cancelled(options_)) {
      outcome.error = base::Error{base::Code::kRefused, kCancelled, 0};
      return;
    }
    if (waited)
      now = observe_host(
          document_, host_, keys_of(state, plan),
          {.thorough = true, .settled = in_vain, .cut_short = cut_short, .may_fail = may_fail_as_in(before)});
    if (!now) {
      outcome.error = now.error();
      return;
    }
    keep_aside(before, *now);
    attempt.now = std::move(*now);
    attempt.verification = verify(plan, before, *attempt.now, outcome, state);
    if (!attempt.verification.failures.empty()) {
      outcome.error = base::Error{base::Code::kRefused, base::join(attempt.verification.failures, "; "), 0};
    }
  }

  const config::Document& document_;
  system::Host& host_;
  const Options& options_;
  WaitBudget& waits_;
};

/// Notes in the plan of the report what somebody else has changed back at once.
void note_overruled(Report& report, const Verification& verification) {
  for (auto& change : report.plan.changes) {
    const auto at = verification.overruled.find(change.key);
    if (at != verification.overruled.end()) change.overruled = at->second;
  }
}

/// Parts of a plan, from `first` on and before `last`.
struct Range {
  std::size_t first = 0, last = 0;
  [[nodiscard]] std::size_t size() const { return last - first; }
};

/// The later half is the next but one.
void add_halves(const Range& all, std::vector<Range>& open) {
  const auto middle = all.first + all.size() / 2;
  open.push_back({middle, all.last});
  open.push_back({all.first, middle});
}

/// These parts, in the order of the plan.
Plan joined_parts(const Plan& plan, const std::vector<Plan>& parts, const Range& range) {
  std::set<model::Key> keys;
  for (auto i = range.first; i < range.last; ++i) {
    for (const auto& change : parts[i].changes) keys.insert(change.key);
  }
  Plan out;
  for (const auto& change : plan.changes) {
    if (keys.contains(change.key)) out.changes.push_back(change);
  }
  return out;
}

/// Has the changes that were not carried out go back once more, now that nothing else is under way.
/// @return what is left of it
std::vector<std::string> undo_rest(const RunInput& input, const Plan& plan, const Plan& carried_out,
                                   State& state, std::vector<model::Note>& notes) {
  std::set<model::Key> done;
  for (const auto& change : carried_out.changes) done.insert(change.key);
  Plan rest;
  for (const auto& change : plan.changes) {
    if (!done.contains(change.key)) rest.changes.push_back(change);
  }
  if (rest.changes.empty()) return {};
  auto left = undo(rest, input.host);
  reinstate_undone(input.host, rest, state, notes);
  return left;
}

/// The host before a part of the plan, without the resources that take no part.
base::Result<Observation> observe_before(const RunInput& input, const State& state, const Plan& plan) {
  auto before = observe_host(input.document, input.host, keys_of(state, plan),
                             {.may_fail = may_fail_as_in(input.observation)});
  if (before) keep_aside(input.observation, *before);
  return before;
}

/// After the plan as a whole has failed and was undone: those of its parts that can be carried out without
/// the others. They are looked for by halves, as each attempt costs several looks at the whole host.
/// Successful parts stay. One that could not be undone keeps no other from being tried.
/// @return what was carried out
Plan by_parts(const RunInput& input, State& state, Transaction& transaction, Report& report, Attempt& last,
              std::map<model::Key, std::string>& failed) {
  const auto parts = components(report.plan);
  Plan carried_out;
  std::vector<std::string> messages;
  const auto fail = [&](const Plan& part, const std::string& why) {
    for (const auto& change : part.changes) failed.emplace(change.key, why);
    if (messages.empty() || messages.back() != why) messages.push_back(why);
  };
  std::map<model::Key, std::string> postponed;
  bool left = !last.left_over.empty();
  report.left_over = last.lost;
  std::string ended;  // why no more parts are tried
  std::vector<Range> open;
  add_halves({0, parts.size()}, open);
  while (!open.empty()) {
    const auto range = open.back();
    open.pop_back();
    const auto part = joined_parts(report.plan, parts, range);
    // A cancelled run ends without trying all that is left.
    if (ended.empty() && is_cancelled(input.options)) ended = kCancelled;
    if (!ended.empty()) {
      fail(part, ended);
      continue;
    }
    auto before = observe_before(input, state, report.plan);
    if (!before) {
      ended = before.error().message;
      fail(part, ended);
      continue;
    }
    auto attempt = transaction.run(part, *before, state);
    left = left || !attempt.left_over.empty();
    report.left_over.insert(report.left_over.end(), attempt.lost.begin(), attempt.lost.end());
    report.notes.insert(report.notes.end(), attempt.notes.begin(), attempt.notes.end());
    if (attempt.error && range.size() > 1) {
      add_halves(range, open);
      continue;
    }
    note_overruled(report, attempt.verification);
    if (attempt.error) {
      fail(part, attempt.error->message);
      continue;
    }
    carried_out.changes.insert(carried_out.changes.end(), part.changes.begin(), part.changes.end());
    postponed.merge(attempt.verification.postponed);
  }
  if (left) {
    for (auto& label : undo_rest(input, report.plan, carried_out, state, report.notes))
      report.left_over.push_back(std::move(label));
  }
  if (!messages.empty()) last.error = base::Error{base::Code::kRefused, base::join(messages, "; "), 0};
  if (messages.empty()) last.error.reset();
  if (carried_out.changes.empty()) return carried_out;
  if (auto now = observe_host(input.document, input.host, keys_of(state, report.plan),
                              {.thorough = true, .may_fail = may_fail_as_in(input.observation)})) {
    keep_aside(input.observation, *now);
    finish_report(report, *now, state, carried_out, postponed, failed, input.options);
  }
  return carried_out;
}

/// Resources that went and came back, or appeared, while the plan was carried out, and differ from the
/// document: by the run itself, as the interfaces of an adapter with new port types, or by
/// somebody else.
bool needs_second_pass(const Report& report, const Observation& before, const Observation& now,
                       const Options& options) {
  std::map<model::Key, const Change*> planned;
  for (const auto& change : report.plan.changes) planned.emplace(change.key, &change);
  return std::any_of(report.resources.begin(), report.resources.end(), [&](const ResourceReport& resource) {
    const auto change = planned.find(resource.key);
    if (change == planned.end() && !is_asked_for(resource.key, options)) return false;
    const auto* then = before.find(resource.key);
    const auto* is = now.find(resource.key);
    const bool had = then != nullptr && !then->instance.empty(), has = is != nullptr && !is->instance.empty();
    const bool another = had && (is == nullptr || is->instance != then->instance);
    // Where nothing was there to be changed, a plan is for files that name it.
    if (change != planned.end())
      return resource.status == Status::kPending &&
             (another || (!had && has && change->second->parent_object.empty()));
    return resource.status == Status::kDiffers && (another || !had);
  });
}

/// Any other difference appeared, or became something else, while the plan was carried out; verify() has
/// found what others changed.
void leave_for_next_time(Report& report, const Options& options) {
  for (auto& resource : report.resources) {
    if (resource.status != Status::kDiffers || !is_asked_for(resource.key, options)) continue;
    resource.status = Status::kPending;
    resource.reason = "appeared or was replaced during the apply; apply again";
  }
}

}  // namespace

RunOutcome run_plan(const RunInput& input, State& state, Report planned) {
  RunOutcome out{std::move(planned)};
  auto& report = out.report;
  auto aside = input.aside;
  Transaction transaction(input);
  if (auto done = begin_run(input, report.plan, state); !done) {
    report.error = done.error();
    report.exit = Exit::kError;
    return out;
  }
  auto before = state;
  const auto resources = report.resources;
  auto attempt = transaction.run(report.plan, input.observation, state);
  report.left_over = attempt.left_over;
  report.left_over.insert(report.left_over.end(), attempt.lost.begin(), attempt.lost.end());
  report.notes.insert(report.notes.end(), attempt.notes.begin(), attempt.notes.end());
  note_overruled(report, attempt.verification);
  Plan carried_out;
  bool stands = !attempt.error;  // what was done is to stay
  if (!attempt.error) {
    finish_report(report, *attempt.now, state, report.plan, attempt.verification.postponed, aside,
                  input.options);
    out.needs_second_pass = needs_second_pass(report, input.observation, *attempt.now, input.options);
    forget(*attempt.now, state);
    carried_out = report.plan;
  } else if (input.options.independent && !is_cancelled(input.options) &&
             components(report.plan).size() > 1) {
    carried_out = by_parts(input, state, transaction, report, attempt, aside);
    stands = true;
  }
  report.error = attempt.error;
  if (!report.error) leave_for_next_time(report, input.options);
  if (!report.left_over.empty()) {
    report.exit = Exit::kUndoIncomplete;
  } else if (report.error || !aside.empty()) {
    report.exit = Exit::kUndone;
  } else {
    report.exit = any_waiting(report, input.options) ? Exit::kPartly : Exit::kOk;
  }
  if (out.needs_second_pass && input.earlier == nullptr) return out;
  stands = stands || input.options.independent;
  if (!stands) {
    if (input.earlier == nullptr) abandon(input.host, input.options, input.on_disk, state, report);
    return out;
  }
  out.settled = true;
  auto error = settle(input.host, input.options, input.on_disk, state, JournalFile::kWritten, report);
  if (!error) return out;
  out.reverted = true;
  report.resources = resources;
  report.error = std::move(error);
  for (auto& left : undo(carried_out, input.host)) report.left_over.push_back(std::move(left));
  reinstate_undone(input.host, carried_out, before, report.notes);
  state = std::move(before);
  report.exit = report.left_over.empty() ? Exit::kUndone : Exit::kUndoIncomplete;
  if (input.earlier == nullptr) abandon(input.host, input.options, input.on_disk, state, report);
  return out;
}

void undo_earlier(const config::Document& document, system::Host& host, const Options& options,
                  const EarlierRun& earlier, Report& report) {
  for (auto& left : undo(earlier.plan, host)) report.left_over.push_back(std::move(left));
  auto state = earlier.before;
  if (auto after = observe_what_can_be(document, host, keys_of(state, earlier.plan))) {
    reinstate(earlier.plan, *after, state);
    forget(*after, state);
  } else {
    report.notes.push_back(not_reinstated(after.error()));
  }
  abandon(host, options, earlier.on_disk, state, report);
  report.exit = report.left_over.empty() ? Exit::kUndone : Exit::kUndoIncomplete;
  report.notes.emplace_back(
      "the adapter was re-initialized: `rdma-configctl apply` with the previous document, or the daemon, "
      "restores its interfaces' settings");
}

void defer(Comparison& comparison, const Options& options) {
  if (!options.unconfirmed && !options.awaited) return;
  const auto waits = [](const model::Key& key) {
    return kinds::find(key.kind)->traits().waits_for_confirmation;
  };
  std::erase_if(comparison.changes, [&](const Change& change) { return waits(change.key); });
  for (auto& resource : comparison.resources) {
    if (resource.status != Status::kDiffers || !waits(resource.key)) continue;
    resource.status = Status::kPending;
    resource.follows = !options.unconfirmed;
    resource.reason =
        options.unconfirmed ? "waits until the apply is confirmed" : "follows when the rest is done";
  }
}

bool is_asked_for(const model::Key& key, const Options& options) {
  return !options.only || options.only->contains(key);
}

bool any_waiting(const Report& report, const Options& options) {
  return std::any_of(report.resources.begin(), report.resources.end(), [&](const ResourceReport& r) {
    return (r.status == Status::kPending || r.status == Status::kLimited || r.status == Status::kUnmet) &&
           is_asked_for(r.key, options);
  });
}

}  // namespace rdmacfg::core::detail
