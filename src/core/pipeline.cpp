// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "core/compare.hpp"
#include "core/components.hpp"
#include "core/guards/removal.hpp"
#include "core/plan.hpp"
#include "core/remember.hpp"
#include "core/run_end.hpp"
#include "core/run_plan.hpp"
#include "core/run_start.hpp"
#include "core/selection.hpp"
#include "core/transaction.hpp"
#include "kinds/abilities.hpp"
#include "store/damage.hpp"
#include "store/held_record.hpp"
#include "store/state.hpp"

namespace rdmacfg::core {

using base::Result;
using model::Change;
using model::Exit;
using model::Plan;
using model::Report;
using model::Status;

using detail::any_waiting;
using detail::defer;
using detail::EarlierRun;
using detail::RunStart;
using detail::start_run;

namespace {

Report failed(base::Error error) {
  Report report;
  report.error = std::move(error);
  report.exit = Exit::kError;
  return report;
}

/// Lets each kind complete its changes: objects they stand on, interruptions, carried state.
Result<void> prepare(Plan& plan, kinds::World& world) {
  for (const auto* kind : kinds::all_kinds()) {
    std::vector<Change*> mine;
    for (auto& change : plan.changes) {
      if (change.key.kind == kind->name()) mine.push_back(&change);
    }
    if (mine.empty()) continue;
    if (auto done = kind->prepare(mine, world); !done) return done;
  }
  for (auto& change : plan.changes)
    change.parent_object = kinds::find(change.key.kind)->parent_object(change, world);
  return {};
}

/// "the first boot sets ib0, DCB of eth0 and 12 more: …"
std::string at_boot(std::span<const std::string> labels) {
  constexpr std::size_t kNamed = 6;
  return fmt::format("the first boot sets {}: only files can be changed with --root",
                     base::join_first(kNamed, labels, ", "));
}

/// Everything up to the first write.
Result<Report> make_plan(const config::Document& document, Observation& observation, const State& state,
                         const Options& options) {
  Report report;
  report.diagnostics = document.diagnostics;
  report.diagnostics.insert(report.diagnostics.end(), observation.diagnostics.begin(),
                            observation.diagnostics.end());
  config::arrange(report.diagnostics, document);
  if (document.sections.empty()) {
    for (const auto& skipped : document.skipped) report.notes.push_back("not used: " + skipped.text());
  }
  if (!observation.at_boot.empty()) report.notes.push_back(at_boot(observation.at_boot));
  auto comparison = compare(observation, state, options.retry_limited);
  defer(comparison, options);
  if (options.only) restrict_to(*options.only, comparison.changes);
  report.resources = std::move(comparison.resources);
  report.plan = order(std::move(comparison.changes));
  if (auto done = prepare(report.plan, observation.world); !done) return base::fail(done.error());
  return report;
}

/// The changes that would undo what somebody else has done: see Options::settled.
std::vector<Change> drift_in(const Report& report, const std::map<model::Key, std::string>& settled) {
  std::map<model::Key, const std::string*> instances;
  for (const auto& resource : report.resources) instances.emplace(resource.key, &resource.instance);
  std::vector<Change> out;
  for (const auto& change : report.plan.changes) {
    if (kinds::find(change.key.kind)->traits().only_repairs) {
      out.push_back(change);
      continue;
    }
    const auto then = settled.find(change.key);
    if (then == settled.end()) continue;
    // A device that went and came back is a new one. One that is gone, or on no object, is as before.
    const auto now = instances.find(change.key);
    const bool same = now == instances.end() || now->second->empty() || then->second.empty() ||
                      *now->second == then->second;
    if (same) out.push_back(change);
  }
  return out;
}

/// Whether a value that only root may read is among what is remembered of this run.
bool shows_hidden(system::Host& host, const Observation& observation) {
  return std::any_of(observation.observed.begin(), observation.observed.end(), [&](const auto& resource) {
    const auto* keeps = kinds::ability<kinds::KeepsSecrets>(kinds::find(resource.key.kind));
    return keeps != nullptr && keeps->is_secret(resource.key, host);
  });
}

/// The outcome of a run.
struct Pass {
  Report report;
  State before = {};               ///< what was remembered before it
  State on_disk = {};              ///< what state.json says
  State now = {};                  ///< what is remembered after it
  bool needs_second_pass = false;  ///< see detail::RunOutcome
  bool incomplete = false;         ///< see detail::RunStart
  bool settled = false;
  bool reverted = false;
};

struct PlannedRun {
  Report report{};
  std::map<model::Key, std::string> aside{};  ///< resources that take no part, with the reason
  bool errors_aside = false;                  ///< those that the document is wrong about are among them
};

Result<PlannedRun> plan_run(const config::Document& document, Observation& observation, const RunStart& start,
                            const Options& options) {
  PlannedRun out;
  for (const auto& desired : observation.desired) {
    const auto at = observation.unseen.find(desired.key.kind);
    if (at != observation.unseen.end()) out.aside.emplace(desired.key, at->second);
  }
  if (options.independent && model::has_errors(observation.diagnostics) &&
      validate(document).exit == Exit::kOk) {
    if (auto found = set_aside(observation)) {
      out.aside.merge(*found);
      out.errors_aside = true;
    }
  }
  const auto plan_without = [&](const std::map<model::Key, std::string>& left_alone) -> Result<Report> {
    for (auto& desired : observation.desired) {
      const auto at = left_alone.find(desired.key);
      if (at == left_alone.end()) continue;
      desired.ignore = true;
      out.aside.insert(*at);
    }
    auto planned = make_plan(document, observation, start.state, options);
    // Also what no entry wants, and would go.
    if (planned)
      std::erase_if(planned->plan.changes,
                    [&](const auto& change) { return left_alone.contains(change.key); });
    return planned;
  };
  auto planned = plan_without(options.left_alone);
  if (planned && options.settled && !start.recovered) {
    auto drifted = drift_in(*planned, *options.settled);
    auto left_alone = options.left_alone;
    for (const auto& change : drifted) left_alone.insert_or_assign(change.key, kDrifted);
    if (!drifted.empty()) planned = plan_without(left_alone);
    if (planned) planned->drifted = std::move(drifted);
  }
  if (!planned) return base::fail(planned.error());
  out.report = std::move(*planned);
  out.report.notes.insert(out.report.notes.begin(), start.notes.begin(), start.notes.end());
  return out;
}

/// An interrupted run took down something that no plan covers, and nothing has brought it back.
Exit exit_after(const RunStart& start, Exit exit) {
  return start.incomplete && exit == Exit::kOk ? Exit::kPartly : exit;
}

/// Ends a run that has nothing to change.
Pass finish_unchanged(system::Host& host, const Options& options, const RunStart& start,
                      detail::JournalFile journal, Report report) {
  Pass out{.report = std::move(report), .now = start.state, .settled = true};
  auto error = detail::settle(host, options, start.on_disk, start.state, journal, out.report);
  if (error) {
    out.reverted = true;
    out.report.error = std::move(error);
    out.report.exit = Exit::kError;
  }
  return out;
}

/// Whether the plan may be carried out; else the report says why not.
bool is_agreed(const config::Document& document, system::Host& host, const Options& options, Report& report) {
  if (options.guard_removal != RemovalGuard::kNone) {
    if (auto risky = risky_removal(document, report, host, options.guard_removal); !risky.message.empty()) {
      report.diagnostics.push_back(std::move(risky));
      report.exit = Exit::kError;
      return false;
    }
  }
  if (options.confirm && !options.confirm(report)) {
    report.notes.emplace_back("nothing was changed");
    report.exit = Exit::kError;
    return false;
  }
  return true;
}

/// One run, from a look at the host to the record of what was done.
/// @param waits    of the whole apply
/// @param earlier  the run of the same apply that this one follows; null for the first
Pass run_once(const config::Document& document, system::Host& host, const Options& options,
              detail::WaitBudget& waits, const EarlierRun* earlier) {
  auto start = start_run(host, options, earlier);
  if (!start) return {failed(start.error())};
  // By itself, what cannot be read (somebody has put a link in the place of our file) keeps nothing else from
  // being held.
  const auto may_fail = [&](const std::string& /*kind*/) { return options.independent; };
  auto observation = observe_host(document, host, keys_of(start->state, {}), {.may_fail = may_fail});
  if (!observation) return {failed(observation.error())};
  host.files.keep_private(config::is_private(document) || shows_hidden(host, *observation));
  observation->left = options.fields_left_alone;
  auto planned = plan_run(document, *observation, *start, options);
  if (!planned) return {failed(planned.error())};
  auto& report = planned->report;
  auto& aside = planned->aside;
  if (model::has_errors(report.diagnostics) && !planned->errors_aside) {
    report.exit = Exit::kError;
    return {std::move(report)};
  }
  tell_left(report.resources, *observation);
  for (auto& resource : report.resources) {
    const auto why = aside.find(resource.key);
    if (why == aside.end()) continue;
    resource.status = Status::kFailed;
    resource.reason = why->second;
  }
  if (report.plan.empty()) {
    forget(*observation, start->state);
    report.exit = !aside.empty() ? Exit::kUndone : any_waiting(report, options) ? Exit::kPartly : Exit::kOk;
    report.exit = exit_after(*start, report.exit);
    return finish_unchanged(
        host, options, *start,
        start->recovered || earlier != nullptr ? detail::JournalFile::kWritten : detail::JournalFile::kNone,
        std::move(report));
  }
  if (!is_agreed(document, host, options, report)) return {std::move(report)};
  Pass out{.report = {}, .before = start->state, .on_disk = start->on_disk};
  auto done = detail::run_plan(
      {document, host, options, *observation, start->on_disk, waits, std::move(aside), earlier}, start->state,
      std::move(report));
  out.report = std::move(done.report);
  out.report.exit = exit_after(*start, out.report.exit);
  out.incomplete = start->incomplete;
  out.now = std::move(start->state);
  out.needs_second_pass = done.needs_second_pass && earlier == nullptr;
  out.settled = done.settled;
  out.reverted = done.reverted;
  return out;
}

/// The report of an apply in two runs.
void join(Report& report, Report first) {
  std::set<model::Key> done;
  for (const auto& change : first.plan.changes) done.insert(change.key);
  for (auto& resource : report.resources) {
    if (resource.status == Status::kInSync && done.contains(resource.key)) resource.status = Status::kDone;
  }
  report.plan.changes.insert(report.plan.changes.begin(), std::make_move_iterator(first.plan.changes.begin()),
                             std::make_move_iterator(first.plan.changes.end()));
  report.drifted.insert(report.drifted.begin(), std::make_move_iterator(first.drifted.begin()),
                        std::make_move_iterator(first.drifted.end()));
  model::put_notes_before(report, first);
}

}  // namespace

Report validate(const config::Document& document, const config::Limits& limits) {
  Report report;
  report.diagnostics = document.diagnostics;
  if (model::has_errors(document.diagnostics)) {
    check_understood(document, report.diagnostics);
  } else {
    check_document(document, report.diagnostics);
  }
  config::name_host(report.diagnostics, document);
  config::arrange(report.diagnostics, document, limits);
  report.exit = model::has_errors(report.diagnostics) ? Exit::kError : Exit::kOk;
  return report;
}

Report diff(const config::Document& document, system::Host& host, const Options& options) {
  if (model::has_errors(document.diagnostics))
    return validate(document);  // and certainly not taken for one that drops everything
  auto state = host.offline ? load_state(host.files, options.paths.state)
                            : load_known_state(host.files, options.paths, host.boot_id);
  using Sort = model::Note::Sort;
  std::vector<model::Note> notes;
  const bool kept_from_us = !state && state.error().code == base::Code::kDenied;
  if (!state && is_damage(state.error())) {
    notes.emplace_back(state.error().message + "; the next apply sets it aside", Sort::kDamage);
    auto undamaged = host.offline ? load_state_before_run(host.files, options.paths)
                                  : load_undamaged_state(host.files, options.paths, host.boot_id);
    state = std::move(undamaged).value_or(State());
  } else if (kept_from_us) {
    notes.emplace_back(
        "only root may read what rdma-configd remembers of this document, so removals and values that an "
        "apply "
        "would give back are not shown");
    state = State();
  }
  if (!state) return failed(state.error());
  auto observation = observe_host(document, host, keys_of(*state, {}),
                                  {.thorough = true, .leave_out_denied = host.for_others});
  if (!observation) return failed(observation.error());
  for (const auto& [kind, why] : observation->unseen)
    notes.emplace_back(fmt::format("{}: not shown, since only root may read its files ({})", kind, why));
  auto report = make_plan(document, *observation, *state, options);
  if (!report) return failed(report.error());
  for (const auto& reason : degraded(host.files)) notes.emplace_back(degraded_note(reason), Sort::kDamage);
  report->notes.insert(report->notes.begin(), notes.begin(), notes.end());
  if (model::has_errors(report->diagnostics)) {
    report->exit = Exit::kError;
  } else if (auto why = too_long(report->plan); !why.empty()) {
    return failed({base::Code::kRefused, std::move(why), 0});
  } else if (!report->plan.empty()) {
    report->exit = Exit::kDiffers;
  } else {
    const bool partly = any_waiting(*report, options) || !observation->unseen.empty();
    report->exit = partly ? Exit::kPartly : Exit::kOk;
  }
  return std::move(*report);
}

Report apply(const config::Document& document, system::Host& host, const Options& options) {
  if (model::has_errors(document.diagnostics)) return validate(document);
  detail::WaitBudget waits(options.carrier_deadline);
  auto first = run_once(document, host, options, waits, nullptr);
  if (!first.needs_second_pass) return std::move(first.report);
  const EarlierRun earlier{first.report.plan, std::move(first.before), std::move(first.on_disk),
                           std::move(first.now)};
  auto again = options;
  again.confirm = nullptr;  // it belongs to what was agreed to
  auto second = run_once(document, host, again, waits, &earlier);
  auto& report = second.report;
  const bool succeeded = report.exit == Exit::kOk || report.exit == Exit::kPartly;
  if (!succeeded && options.independent && !second.settled) {
    // It could not begin; the first run's changes stay.
    report.exit = Exit::kUndone;
    auto error =
        detail::settle(host, options, earlier.on_disk, earlier.now, detail::JournalFile::kWritten, report);
    second.reverted = error.has_value();
    if (error) report.error = std::move(error);
  }
  if (second.reverted || (!succeeded && !options.independent))
    detail::undo_earlier(document, host, options, earlier, report);
  join(report, std::move(first.report));
  if (first.incomplete && report.exit == Exit::kOk) report.exit = Exit::kPartly;
  return std::move(report);
}

}  // namespace rdmacfg::core
