// SPDX-License-Identifier: Apache-2.0
#include "core/commit_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kinds/all.hpp"

namespace rdmacfg::core::detail {

using base::Result;
using model::Exit;
using model::Report;

bool good(const Report& report) { return report.exit == Exit::kOk || report.exit == Exit::kPartly; }

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
  const auto let_be = request_.by_itself && same ? this->let_be(document, options) : std::set<model::Key>();
  const Ledger before = ledger_;
  base::Error trouble;
  bool begun = false;
  const auto asked = options.confirm;
  options.confirm = [&](const Report& plan) {
    if (asked && !asked(plan)) return false;
    if (!request_.confirm) return true;
    begun = true;
    auto done = begin_unconfirmed(document, digest);
    if (done) return true;
    trouble = done.error();
    return false;
  };
  if (request_.confirm) {
    options.independent = false;
    options.unconfirmed = true;
    options.take_back = context_.paths.take_back;
  }
  auto report = apply(document, context_.host, options);
  say_let_be(report, let_be);
  if (!trouble.message.empty()) report.error = std::move(trouble);
  if (begun && !good(report)) {
    ledger_ = before;
    if (!same) (void)files().remove(fmt::format("{}/{}.json", context_.paths.texts, next_number()));
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
    const auto& waiting = *ledger_.unconfirmed;
    const auto what =
        waiting.again() ? std::string("what was changed") : fmt::format("generation {}", waiting.generation);
    report.notes.push_back(fmt::format("{} goes at {} unless `rdma-configctl confirm` is called before", what,
                                       waiting.deadline));
  }
  const bool counts = good(report) || (options.independent && report.exit != Exit::kError);
  if (begun || !counts) return report;
  std::erase(ledger_.refused, digest);
  if (!same) {
    if (auto done = add(document, digest); !done) note(report, done.error());
  } else if (!load_texts(files(), context_.paths.texts, ledger_.active)) {
    // Somebody has removed it; without it the daemon has nothing to hold.
    if (auto done = save_texts(files(), context_.paths.texts, ledger_.active, document); !done)
      note(report, done.error());
  }
  if (!same || !request_.by_itself) {
    // What changes nothing is not written down, but that it was asked to be confirmed.
    if (!same || !report.plan.empty() || (request_.confirm && ledger_.answered.empty()))
      ledger_.answered = request_.confirm ? kNothingToConfirm : "";
    if (request_.confirm) report.notes.emplace_back(kNothingToConfirm);
    forget_let_be(report);
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
  ledger_.answered = fmt::format("generation {} is confirmed already", number);
  // What is not on disk is not confirmed: the timer and the next boot would take it back.
  if (auto done = save(); !done) {
    return error_report(done.error().in(fmt::format("generation {} is not confirmed", number)));
  }
  Report report;
  report.notes.push_back(fmt::format("generation {} is confirmed", number));
  end_unconfirmed(report);
  forget_let_be(report);
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
  ledger_.answered.clear();
  forget_let_be(report);
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
  if (!ledger_.is_active(digest)) {
    if (auto done = add(document, digest); !done) return done;
  }
  ledger_.answered.clear();
  const std::chrono::milliseconds within = *request_.confirm;
  ledger_.unconfirmed = Unconfirmed{.generation = ledger_.active,
                                    .previous = previous,
                                    .boot_id = context_.host.boot_id,
                                    .deadline_ms = context_.clock.boot_ms() + within.count(),
                                    .deadline = context_.clock.utc(within)};
  if (auto done = save_ledger(files(), context_.paths.ledger, ledger_); !done) return done;
  auto armed = context_.host.timers.arm(kRollbackTimer, within - std::min(within, kRollbackAhead));
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
