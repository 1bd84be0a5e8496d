// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "core/compare.hpp"
#include "core/plan.hpp"
#include "core/remember.hpp"
#include "core/state.hpp"
#include "core/transaction.hpp"
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

/// A document with errors is not carried out, and certainly not taken for one that drops everything.
Report refused(const config::Document& document) {
  Report report;
  report.diagnostics = document.diagnostics;
  report.exit = Exit::kError;
  return report;
}

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

/// Lets each kind complete its changes: what they interrupt, what they carry.
Result<void> prepare(Plan& plan, kinds::World& world) {
  for (const auto* kind : kinds::all()) {
    std::vector<Change*> mine;
    for (auto& change : plan.changes) {
      if (change.key.kind == kind->name()) mine.push_back(&change);
    }
    if (mine.empty()) continue;
    if (auto done = kind->prepare(mine, world); !done) return done;
  }
  return {};
}

/// Everything up to the first write.
Result<Report> make_plan(const config::Document& document, Picture& picture, const State& state,
                         const Options& options) {
  Report report;
  report.diagnostics = document.diagnostics;
  report.diagnostics.insert(report.diagnostics.end(), picture.diagnostics.begin(), picture.diagnostics.end());
  auto comparison = compare(picture, state, options.retry_limited);
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
  // After a reboot the kernel's state is derived anew; only files outlive it, and those are whole or not
  // there.
  if ((*journal)->boot_id != host.boot_id || host.offline) return true;
  notes.emplace_back("an apply that was interrupted was found; it is finished now");
  for (const auto* kind : kinds::all()) {
    std::vector<Change> mine;
    for (const auto& change : (*journal)->plan.changes) {
      if (change.key.kind == kind->name()) mine.push_back(change);
    }
    if (mine.empty()) continue;
    // The journal must not keep every later apply from running: what cannot be put back is said.
    if (auto done = kind->recover(mine, host); !done) {
      notes.push_back("what an interrupted apply took down could not all be put back: " +
                      done.error().message);
    }
  }
  auto picture = take_picture(host);
  if (!picture) return base::fail(picture.error());
  remember((*journal)->plan, *picture, state);
  return true;
}

/// Settings of changed resources that are not as wanted, told apart: by the fabric, waiting, or not done at
/// all.
struct Verification {
  std::vector<std::string> failures;
  std::map<model::Key, std::string> postponed;
  std::map<model::Key, std::map<std::string, Limit>> limits;
};

Verification verify(const Plan& plan, const Picture& before, Picture& now, const Outcome& outcome,
                    const State& state) {
  Verification result{.failures = {}, .postponed = outcome.postponed, .limits = {}};
  std::map<model::Key, const model::Desired*> desired;
  for (const auto& one : now.desired) desired.emplace(one.key, &one);
  for (const auto& change : plan.changes) {
    if (result.postponed.contains(change.key)) continue;
    const auto* kind = kinds::find(change.key.kind);
    const auto* observed = now.find(change.key);
    if (change.operation == model::Operation::kDelete) {
      if (observed != nullptr)
        result.failures.push_back(
            fmt::format("{}: it is still there, although the kernel said it is removed", change.label));
      continue;
    }
    if (observed == nullptr) {
      const bool only_drops =
          !change.fields.empty() &&
          std::all_of(change.fields.begin(), change.fields.end(), [&](const std::string& field) {
            return model::value_of(change.after, field) == model::Value{};
          });
      if (only_drops) continue;
      if (kind->reachable(change.key, now.world)) {
        result.failures.push_back(
            fmt::format("{}: it is not there, although the kernel said it is made", change.label));
      } else {
        result.postponed[change.key] = "its device was removed meanwhile";
      }
      continue;
    }
    auto differing = differing_fields(change.after, observed->settings);
    if (differing.empty()) continue;
    // What lives in a file is still there when the device is gone; what lives in the kernel is not.
    const bool gone = std::all_of(differing.begin(), differing.end(), [&](const std::string& field) {
      return change.before.contains(field) && !observed->settings.contains(field);
    });
    if (gone) {
      result.postponed[change.key] = "its device was removed meanwhile";
      continue;
    }
    const auto at = desired.find(change.key);
    kinds::Verdict verdict;
    if (at != desired.end()) {
      // What was to be given back is not in the document any more, but it is what was asked of the kernel.
      auto asked = *at->second;
      asked.settings = change.after;
      verdict = kind->judge(asked, observed, differing, now.world);
    }
    for (const auto& field : differing) {
      const auto& wanted = model::value_of(change.after, field);
      const auto& got = model::value_of(observed->settings, field);
      const bool explained =
          std::find(verdict.fields.begin(), verdict.fields.end(), field) != verdict.fields.end();
      if (explained && verdict.sort == kinds::Verdict::Sort::kLimited) {
        result.limits[change.key][field] = {wanted, got, verdict.reason};
      } else if (!explained) {
        result.failures.push_back(fmt::format("{}: {} is {}, although the kernel accepted {}", change.label,
                                              field, model::text_of(got), model::text_of(wanted)));
      }
    }
  }
  // A rename takes links down: what was right before and was not to be changed has to be right still.
  std::set<model::Key> planned;
  for (const auto& change : plan.changes) planned.insert(change.key);
  for (const auto& change : compare(now, state, false).changes) {
    const auto* then = before.find(change.key);
    const auto* observed = now.find(change.key);
    if (planned.contains(change.key) || !desired.contains(change.key) || then == nullptr ||
        observed == nullptr || then->instance != observed->instance)
      continue;
    for (const auto& field : change.fields) {
      if (model::value_of(then->settings, field) == model::value_of(observed->settings, field)) continue;
      result.failures.push_back(fmt::format("{}: {} is {} now, and was {}", change.label, field,
                                            model::text_of(model::value_of(observed->settings, field)),
                                            model::text_of(model::value_of(then->settings, field))));
    }
  }
  return result;
}

/// The report after a successful run: a new comparison, in which what was changed counts as done.
void finish_report(Report& report, Picture& now, const State& state, const Verification& verification) {
  auto comparison = compare(now, state, false);
  std::set<model::Key> planned;
  for (const auto& change : report.plan.changes) planned.insert(change.key);
  for (auto& resource : comparison.resources) {
    const bool changed = planned.contains(resource.key);
    if (const auto at = verification.postponed.find(resource.key); at != verification.postponed.end()) {
      resource.status = Status::kPending;
      resource.reason = at->second;
    } else if (changed && resource.status == Status::kInSync) {
      resource.status = Status::kDone;
    } else if (changed && resource.status == Status::kDiffers) {
      resource.status = Status::kPending;
      resource.reason = "it was changed again meanwhile";
    }
  }
  report.resources = std::move(comparison.resources);
}

}  // namespace

Report validate(const config::Document& document) {
  Report report;
  report.diagnostics = document.diagnostics;
  if (!model::has_errors(report.diagnostics)) check_document(document, report.diagnostics);
  report.exit = model::has_errors(report.diagnostics) ? Exit::kError : Exit::kOk;
  return report;
}

Report diff(const config::Document& document, system::Host& host, const Options& options) {
  if (model::has_errors(document.diagnostics)) return refused(document);
  auto state = load_state(host.files, options.paths.state);
  if (!state) return failed(state.error());
  auto picture = take_picture(document, host, true, true);
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
  if (model::has_errors(document.diagnostics)) return refused(document);
  auto state = load_state(host.files, options.paths.state);
  if (!state) return failed(state.error());
  const State before = *state;
  std::vector<std::string> notes;
  auto recovered = recover(host, *state, options, notes);
  if (!recovered) return failed(recovered.error().in("finishing an interrupted apply"));
  auto picture = take_picture(document, host, false, true);
  if (!picture) return failed(picture.error());
  auto planned = make_plan(document, *picture, *state, options);
  if (!planned) return failed(planned.error());
  Report report = std::move(*planned);
  report.notes = std::move(notes);
  if (model::has_errors(report.diagnostics)) {
    report.exit = Exit::kError;
    return report;
  }
  if (report.plan.empty()) {
    forget(*picture, *state);
    if (auto done = conclude(host, before, *state, *recovered, options); !done) return failed(done.error());
    report.exit = any_waiting(report) ? Exit::kPartly : Exit::kOk;
    return report;
  }
  if (options.confirm && !options.confirm(report)) {
    report.notes.emplace_back("nothing was changed");
    report.exit = Exit::kError;
    return report;
  }
  if (auto done = write_journal(host.files, options.paths.journal, {host.boot_id, report.plan}); !done) {
    return failed(done.error().in("writing the journal"));
  }
  auto outcome = carry_out(report.plan, host, options.progress);
  Verification verification;
  Result<Picture> now = base::fail(base::Code::kRefused, "");
  if (!outcome.error) {
    for (const auto* kind : kinds::all()) {
      std::vector<Change> mine;
      for (const auto& change : report.plan.changes) {
        if (change.key.kind == kind->name()) mine.push_back(change);
      }
      if (!mine.empty()) (void)kind->await(mine, host, options.carrier_deadline);
    }
    now = take_picture(document, host, true, false);
    if (!now) {
      outcome.error = now.error();
    } else {
      verification = verify(report.plan, *picture, *now, outcome, *state);
      if (!verification.failures.empty()) {
        outcome.error = base::Error{base::Code::kRefused, base::join(verification.failures, "; "), 0};
      }
    }
  }
  if (outcome.error) {
    report.error = outcome.error;
    report.left_over = undo(report.plan, host);
    report.exit = report.left_over.empty() ? Exit::kUndone : Exit::kUndoIncomplete;
    State restored = before;
    if (auto after = take_picture(host)) reinstate(report.plan, *after, restored);
    if (auto done = conclude(host, before, restored, true, options); !done) {
      report.notes.push_back("the record of this run could not be removed: " + done.error().message);
    }
    return report;
  }
  remember(report.plan, *now, *state);
  for (auto& [key, limits] : verification.limits) state->records[key].limits = std::move(limits);
  forget(*now, *state);
  finish_report(report, *now, *state, verification);
  if (auto done = conclude(host, before, *state, true, options); !done) {
    report.notes.push_back("what was done could not be recorded: " + done.error().message);
  }
  report.exit = any_waiting(report) ? Exit::kPartly : Exit::kOk;
  return report;
}

}  // namespace rdmacfg::core
