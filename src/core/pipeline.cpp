// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "core/compare.hpp"
#include "core/components.hpp"
#include "core/generations.hpp"
#include "core/leftovers.hpp"
#include "core/plan.hpp"
#include "core/remember.hpp"
#include "core/state.hpp"
#include "core/transaction.hpp"
#include "core/verify.hpp"
#include "kinds/all.hpp"

namespace rdmacfg::core {

using base::Result;
using model::Change;
using model::Exit;
using model::Plan;
using model::Report;
using model::ResourceReport;
using model::Status;

namespace {

Report failed(base::Error error) {
  Report report;
  report.error = std::move(error);
  report.exit = Exit::kError;
  return report;
}

bool any_waiting(const Report& report) {
  return std::any_of(report.resources.begin(), report.resources.end(), [](const ResourceReport& r) {
    return r.status == Status::kPending || r.status == Status::kLimited;
  });
}

/// Lets each kind complete its changes: what they stand on, interrupt and carry.
Result<void> prepare(Plan& plan, kinds::World& world) {
  for (const auto* kind : kinds::all()) {
    std::vector<Change*> mine;
    for (auto& change : plan.changes) {
      if (change.key.kind == kind->name()) mine.push_back(&change);
    }
    if (mine.empty()) continue;
    if (auto done = kind->prepare(mine, world); !done) return done;
  }
  for (auto& change : plan.changes) change.footing = kinds::find(change.key.kind)->footing(change, world);
  return {};
}

/// What cannot be taken back at once, and takes long, is not done before somebody has confirmed the rest, nor
/// while others wait for the rest.
void put_off(Comparison& comparison, const Options& options) {
  if (!options.unconfirmed && !options.awaited) return;
  const auto waits = [](const model::Key& key) { return kinds::find(key.kind)->waits_for_confirmation(); };
  std::erase_if(comparison.changes, [&](const Change& change) { return waits(change.key); });
  for (auto& resource : comparison.resources) {
    if (resource.status != Status::kDiffers || !waits(resource.key)) continue;
    resource.status = Status::kPending;
    resource.reason = options.unconfirmed ? "waits until the apply is confirmed" : kAfterwards;
  }
}

/// Everything up to the first write.
Result<Report> make_plan(const config::Document& document, Picture& picture, const State& state,
                         const Options& options) {
  Report report;
  report.diagnostics = document.diagnostics;
  report.diagnostics.insert(report.diagnostics.end(), picture.diagnostics.begin(), picture.diagnostics.end());
  if (document.sections.empty()) {
    for (const auto& skipped : document.skipped) report.notes.push_back("not used: " + skipped);
  }
  auto comparison = compare(picture, state, options.retry_limited);
  put_off(comparison, options);
  report.resources = std::move(comparison.resources);
  report.plan = order(std::move(comparison.changes));
  if (auto done = prepare(report.plan, picture.world); !done) return base::fail(done.error());
  return report;
}

/// Finishes what an interrupted run began: interfaces that it had made are known as ours, and what it had
/// taken down is put back. The new plan then goes on from there (recovery rolls forward).
Result<bool> recover(system::Host& host, State& state, const Options& options,
                     std::vector<std::string>& notes) {
  auto journal = load_journal(host.files, options.paths.journal);
  if (!journal) return base::fail(journal.error());
  if (!*journal) return false;
  clear_temporaries(host.files);
  // After a reboot the kernel's state is derived anew; only files outlive it, and those are whole or not
  // there.
  if ((*journal)->boot_id != host.boot_id || host.offline) return true;
  notes.emplace_back(
      "an apply that was interrupted was found; what it left is brought to what is wanted now");
  // The journal must not keep every later apply from running: what cannot be put back is said.
  for (const auto& what : put_back((*journal)->plan, host)) {
    notes.push_back("what an interrupted apply took down could not all be put back: " + what);
  }
  auto picture = take_picture(host, keys_of(state, (*journal)->plan));
  if (!picture) return base::fail(picture.error());
  remember((*journal)->plan, *picture, state);
  return true;
}

/// The report after a run: a new comparison, in which what was changed counts as done.
void finish_report(Report& report, Picture& now, const State& state, const Plan& carried_out,
                   const std::map<model::Key, std::string>& postponed,
                   const std::map<model::Key, std::string>& failed, const Options& options) {
  auto comparison = compare(now, state, false);
  put_off(comparison, options);
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
      resource.reason = "it was changed again meanwhile";
      for (auto& change : report.plan.changes) {
        if (change.key == resource.key) change.overruled = change.fields;
      }
    }
  }
  report.resources = std::move(comparison.resources);
}

/// One transaction: a plan carried out whole, or undone.
struct Attempt {
  std::optional<base::Error> error;    ///< then it was undone
  std::vector<std::string> left_over;  ///< what undoing could not restore
  Verification verification;
  std::optional<Picture> now;  ///< afterwards; of a success always there
};

class Transaction {
 public:
  /// `on_disk`: the state as it was last written.
  Transaction(const config::Document& document, system::Host& host, const Options& options, State on_disk,
              Report& report)
      : document_(document), host_(host), options_(options), on_disk_(std::move(on_disk)), report_(report) {}

  /// `before`: the host just before; `state`: what was remembered then, and is brought up to date.
  Attempt run(const Plan& plan, const Picture& before, State& state) {
    Attempt attempt;
    if (!written_) clear_temporaries(host_.files);
    if (!options_.take_back.empty()) {
      auto done = save_take_back(host_.files, options_.take_back, {host_.boot_id, plan, state});
      if (!done) {
        attempt.error = done.error().in("writing what it takes to roll back");
        return attempt;
      }
    }
    if (auto done = write_journal(host_.files, options_.paths.journal, {host_.boot_id, plan}); !done) {
      attempt.error = done.error().in("writing the journal");
      return attempt;
    }
    written_ = true;
    auto outcome = carry_out(plan, host_, options_.progress, options_.cancelled);
    if (!outcome.error) check(plan, before, state, outcome, attempt);
    if (outcome.error) {
      attempt.error = std::move(outcome.error);
      attempt.left_over = undo(plan, host_);
      if (auto after = take_picture(host_, keys_of(state, plan))) reinstate(plan, *after, state);
      record(state, "the record of this run could not be removed: ");
      return attempt;
    }
    remember(plan, *attempt.now, state);
    for (auto& [key, limits] : attempt.verification.limits) {
      // Of what is in a file, and on no object of the kernel's, nothing else may be remembered.
      const auto* observed = attempt.now->find(key);
      const bool filed = observed != nullptr && observed->instance.empty();
      if (filed || state.records.contains(key)) state.records[key].limits = std::move(limits);
    }
    record(state, "what was done could not be recorded: ");
    return attempt;
  }

  void record(const State& state, const std::string& otherwise) {
    if (auto done = conclude(host_, on_disk_, state, true, options_); !done) {
      report_.notes.push_back(otherwise + done.error().message);
    } else {
      on_disk_ = state;
    }
  }

  /// Whether anything at all may have been changed.
  [[nodiscard]] bool written() const { return written_; }

 private:
  void check(const Plan& plan, const Picture& before, const State& state, Outcome& outcome,
             Attempt& attempt) {
    auto now = take_picture(document_, host_, keys_of(state, plan), true, false);
    bool waited = false, in_vain = false;
    for (const auto* kind : kinds::all()) {
      std::vector<Change> mine;
      for (const auto& change : plan.changes) {
        if (change.key.kind == kind->name()) mine.push_back(change);
      }
      if (mine.empty() || !now) continue;
      const auto ended = kind->await(mine, now->world, options_.carrier_deadline);
      waited = waited || !ended || *ended != kinds::Waited::kNot;
      in_vain = in_vain || (ended && *ended == kinds::Waited::kInVain);
    }
    // The last moment: a batch cannot be left half way, and waiting for carrier takes its time.
    if (options_.cancelled && options_.cancelled()) {
      outcome.error = base::Error{base::Code::kRefused, "it was cancelled", 0};
      return;
    }
    if (waited) now = take_picture(document_, host_, keys_of(state, plan), true, in_vain);
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
  State on_disk_;
  Report& report_;
  bool written_ = false;
};

/// Notes in the plan of the report what somebody else has changed back at once.
void note_overruled(Report& report, const Verification& verification) {
  for (auto& change : report.plan.changes) {
    const auto at = verification.overruled.find(change.key);
    if (at != verification.overruled.end()) change.overruled = at->second;
  }
}

/// After the plan as a whole has failed and was undone: each part by itself. What succeeds stays.
void by_parts(const config::Document& document, system::Host& host, const Options& options, State& state,
              const Picture& picture, Transaction& transaction, Report& report, Attempt& last,
              std::map<model::Key, std::string>& failed) {
  const auto parts = components(report.plan);
  Plan carried_out;
  std::vector<std::string> messages;
  std::map<model::Key, std::string> postponed;
  for (const auto& part : parts) {
    auto before = take_picture(document, host, keys_of(state, report.plan), false, true);
    if (!before) {
      last.error = before.error();
      return;
    }
    keep_aside(picture, *before);
    auto attempt = transaction.run(part, *before, state);
    note_overruled(report, attempt.verification);
    report.left_over.insert(report.left_over.end(), attempt.left_over.begin(), attempt.left_over.end());
    if (attempt.error) {
      for (const auto& change : part.changes) failed.emplace(change.key, attempt.error->message);
      messages.push_back(attempt.error->message);
      continue;
    }
    carried_out.changes.insert(carried_out.changes.end(), part.changes.begin(), part.changes.end());
    postponed.merge(attempt.verification.postponed);
  }
  if (!messages.empty()) last.error = base::Error{base::Code::kRefused, base::join(messages, "; "), 0};
  if (messages.empty()) last.error.reset();
  if (carried_out.changes.empty()) return;
  if (auto now = take_picture(document, host, keys_of(state, report.plan), true, true)) {
    keep_aside(picture, *now);
    finish_report(report, *now, state, carried_out, postponed, failed, options);
  }
}

Report run_plan(const config::Document& document, system::Host& host, const Options& options,
                const Picture& picture, const State& on_disk, State& state, Report report,
                std::map<model::Key, std::string> aside) {
  Transaction transaction(document, host, options, on_disk, report);
  auto attempt = transaction.run(report.plan, picture, state);
  report.left_over = attempt.left_over;
  note_overruled(report, attempt.verification);
  if (!attempt.error) {
    finish_report(report, *attempt.now, state, report.plan, attempt.verification.postponed, aside, options);
    forget(*attempt.now, state);
    transaction.record(state, "what was done could not be recorded: ");
  } else if (options.independent && report.left_over.empty() && transaction.written() &&
             components(report.plan).size() > 1) {
    by_parts(document, host, options, state, picture, transaction, report, attempt, aside);
  }
  report.error = attempt.error;
  if (!transaction.written()) {
    report.exit = Exit::kError;
  } else if (!report.left_over.empty()) {
    report.exit = Exit::kUndoIncomplete;
  } else if (report.error || !aside.empty()) {
    report.exit = Exit::kUndone;
  } else {
    report.exit = any_waiting(report) ? Exit::kPartly : Exit::kOk;
  }
  return report;
}

}  // namespace

Report validate(const config::Document& document) {
  Report report;
  report.diagnostics = document.diagnostics;
  if (model::has_errors(document.diagnostics)) {
    check_understood(document, report.diagnostics);
  } else {
    check_document(document, report.diagnostics);
  }
  report.exit = model::has_errors(report.diagnostics) ? Exit::kError : Exit::kOk;
  return report;
}

Report diff(const config::Document& document, system::Host& host, const Options& options) {
  if (model::has_errors(document.diagnostics))
    return validate(document);  // and certainly not taken for one that drops everything
  auto state = load_state(host.files, options.paths.state);
  if (!state) return failed(state.error());
  auto picture = take_picture(document, host, keys_of(*state, {}), true, true);
  if (!picture) return failed(picture.error());
  auto report = make_plan(document, *picture, *state, options);
  if (!report) return failed(report.error());
  if (model::has_errors(report->diagnostics)) {
    report->exit = Exit::kError;
  } else if (!report->plan.empty()) {
    report->exit = Exit::kDiffers;
  } else {
    report->exit = any_waiting(*report) ? Exit::kPartly : Exit::kOk;
  }
  return std::move(*report);
}

Report apply(const config::Document& document, system::Host& host, const Options& options) {
  if (model::has_errors(document.diagnostics)) return validate(document);
  auto state = load_state(host.files, options.paths.state);
  if (!state) return failed(state.error());
  const State before = *state;
  std::vector<std::string> notes;
  auto recovered = recover(host, *state, options, notes);
  if (!recovered) return failed(recovered.error().in("finishing an interrupted apply"));
  auto picture = take_picture(document, host, keys_of(*state, {}), false, true);
  if (!picture) return failed(picture.error());
  std::map<model::Key, std::string> aside;
  bool set_apart = false;
  if (options.independent && model::has_errors(picture->diagnostics) &&
      validate(document).exit == Exit::kOk) {
    if (auto found = set_aside(*picture)) {
      aside = std::move(*found);
      set_apart = true;
    }
  }
  for (auto& desired : picture->desired) {
    const auto at = options.left_alone.find(desired.key);
    if (at == options.left_alone.end()) continue;
    desired.ignore = true;
    aside.insert(*at);
  }
  auto planned = make_plan(document, *picture, *state, options);
  if (!planned) return failed(planned.error());
  Report report = std::move(*planned);
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  if (model::has_errors(report.diagnostics) && !set_apart) {
    report.exit = Exit::kError;
    return report;
  }
  for (auto& resource : report.resources) {
    const auto why = aside.find(resource.key);
    if (why == aside.end()) continue;
    resource.status = Status::kFailed;
    resource.reason = why->second;
  }
  if (report.plan.empty()) {
    forget(*picture, *state);
    if (auto done = conclude(host, before, *state, *recovered, options); !done) return failed(done.error());
    report.exit = !aside.empty() ? Exit::kUndone : any_waiting(report) ? Exit::kPartly : Exit::kOk;
    return report;
  }
  if (options.confirm && !options.confirm(report)) {
    report.notes.emplace_back("nothing was changed");
    report.exit = Exit::kError;
    return report;
  }
  return run_plan(document, host, options, *picture, before, *state, std::move(report), std::move(aside));
}

}  // namespace rdmacfg::core
