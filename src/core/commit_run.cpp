// SPDX-License-Identifier: Apache-2.0
#include "core/commit_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/leftovers.hpp"
#include "core/plan.hpp"
#include "core/remember.hpp"
#include "core/transaction.hpp"
#include "kinds/all.hpp"

namespace rdmacfg::core::detail {

using base::Result;
using model::Exit;
using model::Report;

namespace {

bool good(const Report& report) { return report.exit == Exit::kOk || report.exit == Exit::kPartly; }

}  // namespace

Report error_report(base::Error error) {
  Report report;
  report.error = std::move(error);
  report.exit = Exit::kError;
  return report;
}

config::Document parsed(Remembered remembered, const Request& request) {
  return parse_again(std::move(remembered), request.host_name);
}

Result<void> Run::load() {
  auto ledger = load_ledger(files(), context_.paths.ledger);
  if (!ledger) return base::fail(ledger.error());
  ledger_ = std::move(*ledger);
  return {};
}

std::string Run::fallen() const {
  if (is_overdue()) return "it was not confirmed in time";
  return waits() && !ledger_.unconfirmed->complete ? "it was interrupted" : "";
}

bool Run::interrupted() {
  const auto journal = load_journal(files(), context_.options.paths.journal);
  return !journal || *journal;
}

Report Run::held(std::uint64_t number) {
  auto texts = load_texts(files(), context_.paths.texts, number);
  if (!texts) return error_report(texts.error());
  auto options = context_.options;
  options.independent = true;
  options.unconfirmed = waits();
  return apply(parsed(std::move(*texts), request_), context_.host, options);
}

Report Run::held_instead_of(const std::vector<model::Diagnostic>& faults, const std::string& why) {
  auto report = held(ledger_.active);
  report.diagnostics.insert(report.diagnostics.begin(), faults.begin(), faults.end());
  report.notes.insert(report.notes.begin(),
                      fmt::format("{}; generation {} is held instead", why, ledger_.active));
  if (good(report)) report.exit = Exit::kError;  // what is wanted is not what is
  return report;
}

Report Run::fresh(const config::Document& document, const std::string& digest) {
  const bool same = ledger_.is_active(digest);
  auto options = context_.options;
  const bool confirm = request_.confirm && !same;
  const Ledger before = ledger_;
  base::Error trouble;
  bool begun = false;
  const auto asked = options.confirm;
  options.confirm = [&](const Report& plan) {
    if (asked && !asked(plan)) return false;
    if (!confirm) return true;
    begun = true;
    auto done = begin_unconfirmed(document, digest);
    if (done) return true;
    trouble = done.error();
    return false;
  };
  if (confirm) {
    options.independent = false;
    options.unconfirmed = true;
    options.take_back = context_.paths.take_back;
  }
  auto report = apply(document, context_.host, options);
  if (!trouble.message.empty()) report.error = std::move(trouble);
  if (begun && !good(report)) {
    ledger_ = before;
    (void)files().remove(fmt::format("{}/{}.json", context_.paths.texts, next_number()));
    if (auto done = save(); done) {
      end_unconfirmed(report);
    } else {
      note(report, done.error());
    }
    return report;
  }
  if (begun && is_overdue()) return too_late(std::move(report));
  // At boot and on events one part may have failed; the document is what the host is held to all the same.
  if (begun) {
    ledger_.unconfirmed->complete = true;
    if (auto done = save(); !done) note(report, done.error());
    report.notes.push_back(
        fmt::format("generation {} goes at {} unless `rdma-configctl confirm` is called before",
                    ledger_.unconfirmed->generation, ledger_.unconfirmed->deadline));
  }
  const bool counts = good(report) || (options.independent && report.exit != Exit::kError);
  if (begun || !counts) return report;
  std::erase(ledger_.refused, digest);
  if (!same) {
    if (auto done = add(document, digest); !done) note(report, done.error());
  }
  if (!(ledger_ == before)) {
    if (auto done = save(); !done) note(report, done.error());
  }
  return report;
}

Report Run::too_late(Report applied) {
  // Whoever was to take it back waits for our lock.
  auto report = taken_back("it was not confirmed in time");
  report.plan = std::move(applied.plan);
  report.diagnostics = std::move(applied.diagnostics);
  if (!good(report)) return report;
  report.error = base::Error{
      base::Code::kTimeout,
      fmt::format("applying took longer than the {} s in which it was to be confirmed; it was rolled back",
                  request_.confirm->count()),
      0};
  report.exit = Exit::kUndone;
  return report;
}

Report Run::confirmed() {
  const auto number = ledger_.unconfirmed->generation;
  ledger_.unconfirmed.reset();
  // What is not on disk is not confirmed: the timer and the next boot would take it back.
  if (auto done = save(); !done) {
    return error_report(done.error().in(fmt::format("generation {} is not confirmed", number)));
  }
  Report report;
  report.notes.push_back(fmt::format("generation {} is confirmed", number));
  end_unconfirmed(report);
  return report;
}

Report Run::taken_back(const std::string& why) {
  const auto waiting = *ledger_.unconfirmed;
  Report report;
  auto take_back = load_take_back(files(), context_.paths.take_back);
  if (!take_back) {
    report.notes.push_back(take_back.error().message + ": the generation before is applied instead");
    take_back = std::optional<TakeBack>();
  }
  clear_temporaries(files());
  const bool here = *take_back && (*take_back)->boot_id == context_.host.boot_id;
  bool exact = here;
  if (here) exact = undone(std::move(**take_back), report);
  mark(waiting.generation, "rolled back: " + why);
  ledger_.active = waiting.previous;
  ledger_.unconfirmed.reset();
  if (auto done = save(); !done) {
    // All is still there that the next try needs: the deadline, and how to take it back.
    report.error = done.error().in("the rollback could not be recorded");
    report.exit = Exit::kError;
    return report;
  }
  end_unconfirmed(report);
  report.notes.insert(report.notes.begin(),
                      fmt::format("generation {} was rolled back: {}", waiting.generation, why));
  // After a reboot the kernel's state is new; files still are as the unconfirmed generation had them.
  if (!exact) {
    auto again = waiting.previous != 0 ? held(waiting.previous) : nothing();
    if (good(again)) report.left_over.clear();
    merge(report, std::move(again));
  }
  return report;
}

Report Run::back_to(std::uint64_t number) {
  const auto active = ledger_.active;
  auto texts = load_texts(files(), context_.paths.texts, number);
  if (!texts) return error_report(texts.error());
  auto report = apply(parsed(std::move(*texts), request_), context_.host, context_.options);
  if (!good(report)) return report;
  if (number < active) {
    mark(active, fmt::format("rolled back to {}", number));
  } else {
    refuse(active);  // it stays one to go back to; by itself its document would take the place of this one
  }
  welcome(number);
  ledger_.active = number;
  if (auto done = save(); !done) note(report, done.error());
  report.notes.push_back(fmt::format("generation {} is active again", number));
  return report;
}

std::uint64_t Run::next_number() const {
  return ledger_.generations.empty() ? 1 : ledger_.generations.back().number + 1;
}

void Run::note(Report& report, const base::Error& error) {
  report.notes.push_back("what was done could not all be recorded: " + error.message);
}

void Run::merge(Report& report, Report other) {
  other.notes.insert(other.notes.begin(), report.notes.begin(), report.notes.end());
  other.left_over.insert(other.left_over.begin(), report.left_over.begin(), report.left_over.end());
  report = std::move(other);
}

Result<void> Run::save() {
  prune(files(), context_.paths, ledger_);
  return save_ledger(files(), context_.paths.ledger, ledger_);
}

bool Run::undone(TakeBack take_back, Report& report) {
  const auto& plan = take_back.plan;
  // It may have been killed half way, or be under way in a process that was; or what was killed is a later
  // run, whose journal says what it had made.
  const auto journal = load_journal(files(), context_.options.paths.journal);
  const bool another = journal && *journal && digest_of((*journal)->plan) != digest_of(plan);
  if (!journal || (*journal && !another)) report.left_over = put_back(plan, context_.host);
  for (auto& left : undo(plan, context_.host)) report.left_over.push_back(std::move(left));
  report.exit = report.left_over.empty() ? Exit::kOk : Exit::kUndoIncomplete;
  bool whole = report.left_over.empty() && !another;
  if (auto picture = take_picture(context_.host, keys_of({}, plan))) {
    auto state = std::move(take_back.before);
    reinstate(plan, *picture, state);
    // Records of what the plan does not speak of are of later runs: with them it goes as it came.
    if (const auto now = load_state(files(), context_.options.paths.state)) {
      for (const auto& one : now->records) {
        const auto& key = one.first;
        const bool planned = std::any_of(plan.changes.begin(), plan.changes.end(),
                                         [&](const auto& change) { return change.key == key; });
        const auto before = state.records.find(key);
        if (planned || (before != state.records.end() && before->second == one.second)) continue;
        state.records.insert_or_assign(key, one.second);
        whole = false;
      }
    }
    if (auto done = save_state(files(), context_.options.paths.state, state); !done) {
      note(report, done.error());
    }
  }
  if (another) return whole;
  if (auto done = files().remove(context_.options.paths.journal); !done) note(report, done.error());
  return whole;
}

Result<void> Run::add(const config::Document& document, const std::string& digest) {
  const auto number = next_number();
  if (auto done = save_texts(files(), context_.paths.texts, number, document); !done) return done;
  ledger_.generations.push_back(
      {number, digest, context_.clock.utc(std::chrono::milliseconds(0)), request_.who, request_.what, {}});
  ledger_.active = number;
  return {};
}

Result<void> Run::begin_unconfirmed(const config::Document& document, const std::string& digest) {
  const auto previous = ledger_.active;
  std::erase(ledger_.refused, digest);
  // One that a killed run has left would be taken for this apply's.
  if (auto done = files().remove(context_.paths.take_back); !done) return done;
  if (auto done = add(document, digest); !done) return done;
  const std::chrono::milliseconds within = *request_.confirm;
  ledger_.unconfirmed = Unconfirmed{.generation = ledger_.active,
                                    .previous = previous,
                                    .boot_id = context_.host.boot_id,
                                    .deadline_ms = context_.clock.boot_ms() + within.count(),
                                    .deadline = context_.clock.utc(within)};
  if (auto done = save_ledger(files(), context_.paths.ledger, ledger_); !done) return done;
  auto armed = context_.host.timers.arm(kRollbackTimer, within);
  if (!armed) return base::fail(armed.error().in("arming the rollback"));
  return {};
}

void Run::end_unconfirmed(Report& report) {
  if (auto done = files().remove(context_.paths.take_back); !done) note(report, done.error());
  (void)context_.host.timers.disarm(kRollbackTimer);  // one that fires finds nothing to do
}

void Run::mark(std::uint64_t number, std::string fate) {
  auto* generation = ledger_.find(number);
  if (generation == nullptr) return;
  generation->fate = std::move(fate);
  refuse(number);
}

void Run::refuse(std::uint64_t number) {
  const auto* generation = ledger_.find(number);
  if (generation == nullptr || ledger_.refuses(generation->digest)) return;
  ledger_.refused.push_back(generation->digest);
}

void Run::welcome(std::uint64_t number) {
  auto* generation = ledger_.find(number);
  if (generation == nullptr) return;
  generation->fate.clear();
  std::erase(ledger_.refused, generation->digest);
}

Report Run::nothing() {
  return apply(parsed({{{"nothing", "version = 1\n"}}, ""}, request_), context_.host, context_.options);
}

}  // namespace rdmacfg::core::detail
