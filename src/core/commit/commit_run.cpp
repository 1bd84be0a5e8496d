// SPDX-License-Identifier: Apache-2.0
#include "core/commit/commit_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "catalog/all.hpp"
#include "store/damage.hpp"
#include "store/held_record.hpp"
#include "store/ledger_seen.hpp"

namespace rdmacfg::core::detail {

using base::Result;
using model::Exit;
using model::Report;

bool succeeded(const Report& report) { return report.exit == Exit::kOk || report.exit == Exit::kPartly; }

Report error_report(base::Error error) {
  Report report;
  report.error = std::move(error);
  report.exit = Exit::kError;
  return report;
}

config::Document parsed(AppliedDocument remembered, const Request& request) {
  return parse_again(std::move(remembered), request.host_name);
}

namespace {

/// Of the same texts: whether each may be read by those that may read the document's.
bool is_as_private(const AppliedDocument& kept, const config::Document& document) {
  return std::equal(
      kept.files.begin(), kept.files.end(), document.files.begin(), document.files.end(),
      [](const auto& kept_text, const auto& text) { return kept_text.is_private == text.is_private; });
}

}  // namespace

Result<void> Run::load() {
  // A waiting apply and a journal are of this boot or of an earlier one; taken for the wrong one, the former
  // would be rolled back or kept too long, and what the latter took down would not be put back.
  if (context_.host.boot_id.empty())
    return base::fail(base::Code::kIo, "/proc/sys/kernel/random/boot_id cannot be read; nothing was changed");
  std::vector<std::string> reasons;
  // A file in the place of a folder makes every read and write below it fail. Once it is set aside, the
  // records are absent, which a run copes with.
  const auto& ledger = context_.paths.ledger;
  for (const auto& folder : {ledger.substr(0, ledger.rfind('/')), context_.paths.texts}) {
    const auto names = files().list(folder);
    if (!names && names.error().sys_errno == ENOTDIR)
      reasons.push_back(put_aside(files(), folder, names.error()));
  }
  auto now = look_up_ledger(files(), context_.paths);
  if (!now) return base::fail(now.error());
  auto rollback_record = load_rollback_record(files(), context_.paths.rollback_record);
  if (!rollback_record && rollback_record.error().sys_errno != 0)
    rollback_record = load_rollback_record(files(), context_.paths.rollback_record);
  if (!rollback_record && !is_damage(rollback_record.error())) return base::fail(rollback_record.error());
  ledger_ = std::move(now->ledger);
  committed_ = std::move(now->committed);
  lost_ = now->lost && ledger_.active == 0;
  if (now->damage) {
    const bool missing = now->damage->code == base::Code::kNotFound;
    reasons.push_back(missing ? now->damage->message
                              : put_aside(files(), context_.paths.ledger, *now->damage));
    reasons.back() +=
        now->lost ? "; the active generation is unknown, so nothing is removed" : "; its copy is used";
    const auto again = now->lost ? Result<void>() : save_ledger(files(), context_.paths.ledger, committed_);
    if (!again) reasons.back() += "; it could not be rewritten: " + again.error().message;
  }
  if (!rollback_record) {
    reasons.push_back(put_aside(files(), context_.paths.rollback_record, rollback_record.error()));
    if (waits()) reasons.back() += "; a rollback applies the generation before it instead";
    rollback_record_damaged_ = true;
  } else if (waits() && *rollback_record && (*rollback_record)->ledger &&
             (*rollback_record)->ledger->transaction < ledger_.transaction) {
    rollback_record_damaged_ = true;  // of an earlier apply
  } else {
    rollback_record_ = std::move(*rollback_record);
  }
  note_damage(degrade(files(), std::move(reasons)));
  shared_ = is_written_by_another(files(), committed_, context_.host.boot_id);
  // Without that file the other host is not noticed; nothing else depends on it.
  if (!shared_) (void)note_ledger_seen(files(), committed_, context_.host.boot_id);
  // Of an apply that is over: its last step was not done.
  if (rollback_record_ && !waits())
    tell_undone("the record of a finished apply could not be removed",
                files().remove(context_.paths.rollback_record));
  if (!committed_.generations.empty()) tell_undone(kNoCopy, save_backup(files(), context_.paths, committed_));
  return {};
}

void Run::note_damage(std::vector<std::string> reasons) {
  const auto notes = model::notes_about(model::Note::Sort::kDamage, std::move(reasons));
  notes_.insert(notes_.end(), notes.begin(), notes.end());
}

void Run::end_unwritten() {
  if (!has_unwritten(files()) || !rollback_reason().empty()) return;
  const auto held = load_held_record(files(), context_.options.paths, context_.host.boot_id);
  if (!held || *held) return;
  tell_undone("the reason why the host was DEGRADED could not be removed", clear_unwritten(files()));
}

Report Run::ended(Report report) {
  end_unwritten();
  report.notes.insert(report.notes.begin(), notes_.begin(), notes_.end());
  return report;
}

Report Run::finished(Report report) {
  report = ended(std::move(report));
  if (!request_.by_itself && succeeded(report)) {
    if (auto done = clear_degraded(files()); !done) note(report, done.error());
  }
  return report;
}

std::optional<base::Error> Run::shared() const {
  if (!shared_) return std::nullopt;
  return written_by_another(context_.paths.ledger);
}

std::string Run::rollback_reason() const {
  if (shared_ && waits() && ledger_.unconfirmed->boot_id != context_.host.boot_id) return {};  // it is theirs
  if (waits() && ledger_.unconfirmed->boot_id != context_.host.boot_id)
    return "the host was rebooted before it was confirmed";
  if (is_overdue()) return "it was not confirmed in time";
  return waits() && !ledger_.unconfirmed->complete ? "it was interrupted" : "";
}

bool Run::interrupted() {
  const auto journal = load_open_journal(files(), context_.options.paths, context_.host.boot_id);
  return !lost_ && (!journal || *journal);
}

Report Run::held_instead_of(const std::vector<model::Diagnostic>& faults, const std::string& why) {
  auto report = held(ledger_.active);
  report.diagnostics.insert(report.diagnostics.begin(), faults.begin(), faults.end());
  report.notes.insert(report.notes.begin(),
                      fmt::format("{}; generation {} stays active instead", why, ledger_.active));
  if (succeeded(report)) report.exit = Exit::kError;  // what is wanted is not what is
  return report;
}

Run::Application Run::application_of(const config::Document& document, const std::string& digest) {
  Application work{.document = document,
                   .digest = digest,
                   .number = 0,
                   .same = ledger_.is_active(digest),
                   .before = ledger_};
  work.number = work.same ? ledger_.active : next_number();
  if (!work.same) return work;
  // Somebody has removed it, and without it the daemon has nothing to hold; or the mode of a file has
  // changed.
  const auto kept = load_texts(files(), context_.paths.texts, work.number);
  work.needs_text = !kept || (!request_.of_others && !is_as_private(*kept, document));
  return work;
}

Result<void> Run::keep_text(Application& work) {
  if (!work.needs_text) return {};
  work.needs_text = false;
  auto done = save_texts(files(), context_.paths.texts, work.number, work.document, request_.of_others);
  // A killed run may have written the file without syncing its folder; the save above then wrote nothing.
  if (done) done = files().sync(context_.paths.texts);
  if (done) return {};
  if (holds(work)) {
    tell_undone(fmt::format("the text of generation {} could not be saved", work.number), done);
    return {};
  }
  work.needs_text = true;
  return base::fail(done.error().in(fmt::format("saving the text of generation {}", work.number)));
}

Result<void> Run::record(Application& work, const Report& report) {
  // At boot and on events one part may have failed; the document is what the host is held to all the same.
  const bool independent = request_.by_itself && context_.options.independent;
  if (!succeeded(report) && (!independent || report.exit == Exit::kError)) return {};
  if (auto done = keep_text(work); !done) return done;
  if (work.begun) return commit();
  std::erase(ledger_.refused, work.digest);
  if (!work.same) add(work.number, work.digest);
  // A run without changes is not recorded, except when it asked for confirmation.
  if ((!work.same || !request_.by_itself) &&
      (!work.same || !report.plan.empty() || (request_.confirm && ledger_.answered.empty())))
    ledger_.answered = request_.confirm ? kNothingToConfirm : "";
  return ledger_ == work.before ? Result<void>() : commit();
}

void Run::drop(const Application& work, Report& report) {
  ledger_ = work.before;
  if (!work.same && !ambiguous_) {
    // One that cannot be removed is replaced by the next generation's.
    tell_undone("the text of a generation that was never applied could not be removed",
                files().remove(fmt::format("{}/{}.json", context_.paths.texts, work.number)));
  }
  if (work.begun && !ambiguous_ && !end_unconfirmed(report)) {
    report.exit = Exit::kUndoIncomplete;
    report.left_over.push_back(
        fmt::format("{}: could not be removed; the next run rolls back that apply again",
                    context_.paths.rollback_record));
  }
  tell_ambiguous(report);
}

Report Run::awaiting(Report report) {
  if (is_overdue()) return too_late(std::move(report));
  const auto& waiting = *ledger_.unconfirmed;
  report.notes.emplace_back(deadline_text(waiting, waiting.deadline), model::Note::Sort::kDeadline);
  return report;
}

Report Run::fresh(const config::Document& document, const std::string& digest) {
  auto work = application_of(document, digest);
  auto options = options_for([&](const Report& report) { return record(work, report); });
  options.only = context_.options.only;
  if (holds(work)) {
    options.bracket.holds = true;
    options.bracket.transaction = 0;
  }
  const auto suspended =
      request_.by_itself && work.same ? this->suspended(document, options) : std::set<model::Key>();
  options.bracket.begin = [&](const model::Plan& plan, const State& state, RunPart part) -> Result<void> {
    if (auto done = keep_text(work); !done) return done;
    if (!request_.confirm) return {};
    auto done = begin_unconfirmed(work.number, digest, plan, state, part);
    work.begun = true;
    return done;
  };
  if (request_.confirm) {
    options.independent = false;
    options.unconfirmed = true;
  }
  auto report = apply(document, context_.host, options);
  note_suspended(report, suspended);
  const bool committed = !(ledger_ == work.before) && committed_ == ledger_;
  if (!committed) {
    drop(work, report);
    if (work.begun || !work.same || !succeeded(report)) return report;
  }
  if (work.begun) return awaiting(std::move(report));
  if (!work.same || !request_.by_itself) {
    if (request_.confirm) report.notes.emplace_back(kNothingToConfirm);
    forget_suspended(report);
  }
  return report;
}

Report Run::too_late(Report applied) {
  // The process that was to take it back waits for our lock.
  auto report = roll_back_unconfirmed("it was not confirmed in time");
  report.plan = std::move(applied.plan);
  report.diagnostics = std::move(applied.diagnostics);
  if (!succeeded(report)) return report;
  report.error = base::Error{
      base::Code::kTimeout,
      fmt::format("the apply took longer than the {} s allowed for its confirmation, and was rolled back",
                  request_.confirm->count()),
      0};
  report.exit = Exit::kUndone;
  return report;
}

Report Run::confirmed() {
  const auto number = ledger_.unconfirmed->generation;
  ledger_.unconfirmed.reset();
  ledger_.answered = fmt::format("generation {} is confirmed already", number);
  // Anything that is not on disk is not confirmed: the timer and the next boot would take it back.
  if (auto done = commit(); !done) {
    auto report = error_report(done.error().in(fmt::format("generation {} is not confirmed", number)));
    tell_ambiguous(report);
    return report;
  }
  Report report;
  report.notes.push_back(fmt::format("generation {} is confirmed", number));
  end_unconfirmed(report);
  forget_suspended(report);
  return report;
}

void Run::tell_undone(std::string_view failure, const Result<void>& done) {
  if (!done) notes_.push_back(fmt::format("{}: {}", failure, done.error().message));
}

void Run::note(Report& report, const base::Error& error) {
  report.notes.push_back("some changes could not be recorded: " + error.message);
}

void Run::merge(Report& report, Report other) {
  model::put_notes_before(other, report);
  other.left_over.insert(other.left_over.begin(), report.left_over.begin(), report.left_over.end());
  report = std::move(other);
}

Options Run::options_for(std::function<Result<void>(const Report&)> commit) {
  auto options = context_.options;
  options.only.reset();  // what goes back goes back as a whole
  options.bracket.committed = committed_.transaction;
  options.bracket.holds = !commit;
  if (!commit) return options;
  options.bracket.transaction = std::max(ledger_.transaction, committed_.transaction) + 1;
  options.bracket.commit = std::move(commit);
  return options;
}

Report Run::nothing() {
  return apply(parsed({{{"nothing", "version = 1\n"}}, ""}, request_), context_.host, options_for(nullptr));
}

}  // namespace rdmacfg::core::detail
