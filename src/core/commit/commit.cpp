// SPDX-License-Identifier: Apache-2.0
#include "core/commit/commit.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/commit/commit_run.hpp"
#include "model/note.hpp"
#include "store/damage.hpp"
#include "store/generations.hpp"
#include "system/files.hpp"

namespace rdmacfg::core {

using base::Code;
using base::Result;
using detail::error_report;
using detail::parsed;
using detail::Run;
using model::Exit;
using model::Report;

Clock system_clock() {
  return {[] {
            timespec now{};
            ::clock_gettime(CLOCK_BOOTTIME, &now);
            return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
          },
          [](std::chrono::milliseconds ahead) {
            const auto then = std::chrono::system_clock::now() + ahead;
            return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                               fmt::gmtime(std::chrono::system_clock::to_time_t(then)));
          }};
}

std::optional<std::chrono::milliseconds> time_left(const Ledger& ledger, const std::string& boot_id,
                                                   const Clock& clock) {
  const auto& waiting = ledger.unconfirmed;
  if (!waiting) return std::nullopt;
  if (waiting->boot_id != boot_id) return std::chrono::milliseconds(0);
  return std::chrono::milliseconds(std::max<std::int64_t>(waiting->deadline_ms - clock.boot_ms(), 0));
}

bool overdue(const Ledger& ledger, const std::string& boot_id, const Clock& clock) {
  const auto left = time_left(ledger, boot_id, clock);
  return left && left->count() == 0;
}

Report commit(const config::Document& document, const Request& request, Context& context) {
  const bool faulty = model::has_errors(document.diagnostics);
  if (context.host.offline || (faulty && !request.by_itself)) {
    return apply(document, context.host, context.options);
  }
  Run run(request, context);
  if (auto done = run.load(); !done) return error_report(done.error());
  if (const auto shared = run.shared()) return error_report(*shared);
  std::vector<model::Note> notes;
  if (const auto why = run.rollback_reason(); !why.empty()) {
    auto back = run.roll_back_unconfirmed(why);
    // One that still waits could not be recorded as rolled back: holding its generation would make it again.
    if (back.exit != Exit::kOk && back.exit != Exit::kPartly && (!request.by_itself || run.waits()))
      return run.finished(std::move(back));
    notes = std::move(back.notes);
  }
  const auto digest = digest_of(document);
  const auto held = run.ledger().active;
  Report report;
  if (faulty && held == 0) {
    report = apply(document, context.host, context.options);
  } else if (faulty) {
    report = run.held_instead_of(document.diagnostics, "the document has errors");
  } else if (request.by_itself && run.waits()) {
    notes.push_back(fmt::format("generation {} waits for confirmation and stays active until then",
                                run.ledger().unconfirmed->generation));
    report = run.held(run.ledger().unconfirmed->generation);
  } else if (run.waits()) {
    report = error_report(
        {Code::kBusy,
         fmt::format(
             "generation {} waits for confirmation until {}: `rdma-configctl confirm` or `rdma-configctl "
             "rollback` first",
             run.ledger().unconfirmed->generation, run.ledger().unconfirmed->deadline),
         0});
  } else if (request.by_itself && run.ledger().refuses(digest)) {
    const auto active = run.ledger().active;
    notes.push_back(
        active == 0 ? "the document was rolled back before and is not applied automatically until it changes"
                    : fmt::format("the document was rolled back before and is not applied automatically "
                                  "until it changes; generation {} stays active instead",
                                  active));
    if (active != 0) report = run.held(active);
  } else {
    report = run.fresh(document, digest);
    // Nothing was begun: the document does not fit this host.
    if (request.by_itself && report.exit == Exit::kError && model::has_errors(report.diagnostics) &&
        held != 0 && !run.ledger().is_active(digest)) {
      report = run.held_instead_of(report.diagnostics, "the document was not applied");
    }
  }
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  return run.finished(std::move(report));
}

Report hold(const Request& request, Context& context) {
  Run run(request, context);
  if (auto done = run.load(); !done) return error_report(done.error());
  if (const auto shared = run.shared()) return error_report(*shared);  // what is active may be the other's
  if (const auto why = run.rollback_reason(); !why.empty()) return run.ended(run.roll_back_unconfirmed(why));
  if (run.ledger().active != 0) return run.ended(run.held(run.ledger().active));
  return run.ended(run.interrupted() ? run.nothing() : Report{});
}

namespace {

/// Notes why the file is not what is gone by, unless a run has recorded that already.
void tell_ledger_damage(const LedgerNow& now, system::Files& files, Report& report) {
  if (!now.damage) return;
  const auto reasons = degraded(files);
  const auto& why = now.damage->message;
  if (std::any_of(reasons.begin(), reasons.end(),
                  [&](const auto& reason) { return reason.starts_with(why); }))
    return;
  report.notes.emplace_back(why + (now.lost ? "; the active generation is unknown" : "; its copy is used"),
                            model::Note::Sort::kDamage);
}

}  // namespace

Report look(const Request& request, Context& context) {
  auto now = look_up_ledger(context.host.files, context.paths);
  if (!now) return error_report(now.error());
  // An apply that waited when the host was rebooted is not held any more, recorded or not.
  const auto& waiting = now->ledger.unconfirmed;
  const bool over = waiting && waiting->boot_id != context.host.boot_id;
  const auto number = over ? waiting->previous : now->ledger.active;
  Report report;
  if (number == 0) {
    for (const auto& reason : degraded(context.host.files))  // else diff() says so
      report.notes.emplace_back(degraded_note(reason), model::Note::Sort::kDamage);
  } else if (auto texts = read_texts(context.host.files, context.paths, number); texts) {
    report = diff(parsed(std::move(*texts), request), context.host, context.options);
  } else {
    report = error_report(texts.error());
  }
  tell_ledger_damage(*now, context.host.files, report);
  return report;
}

std::string deadline_text(const Unconfirmed& waiting, std::string_view when) {
  const auto what =
      waiting.again() ? std::string("this change") : fmt::format("generation {}", waiting.generation);
  return fmt::format("{} is rolled back at {} unless you run `rdma-configctl confirm` before then", what,
                     when);
}

Report confirm(const Request& request, Context& context) {
  Run run(request, context);
  if (auto done = run.load(); !done) return error_report(done.error());
  if (const auto shared = run.shared()) return error_report(*shared);
  if (!run.waits() && !run.ledger().answered.empty()) {
    // Also where nothing was changed something may have waited for this (the initramfs).
    auto report = run.held(run.ledger().active);
    report.notes.insert(report.notes.begin(), run.ledger().answered);
    return run.finished(std::move(report));
  }
  if (!run.waits()) return error_report({Code::kNotFound, "no apply waits for confirmation", 0});
  if (const auto why = run.rollback_reason(); !why.empty()) {
    const bool late = run.is_overdue();
    auto report = run.roll_back_unconfirmed(why);
    if (report.error) report.notes.push_back(report.error->message);
    report.error =
        late ? base::Error{Code::kTimeout, "too late: the confirmation deadline has passed", 0}
             : base::Error{Code::kBusy, "the unconfirmed apply was interrupted and is being rolled back", 0};
    if (report.exit == Exit::kOk || report.exit == Exit::kPartly) report.exit = Exit::kError;
    return run.finished(std::move(report));
  }
  auto report = run.confirmed();
  if (report.error) return run.finished(std::move(report));
  // Work that had to wait for the confirmation is done now.
  auto rest = run.held(run.ledger().active);
  rest.notes.insert(rest.notes.begin(), report.notes.begin(), report.notes.end());
  // It is confirmed, even if later steps failed.
  if (rest.exit == Exit::kError || rest.exit == Exit::kUndone) {
    if (rest.error) rest.notes.push_back("deferred changes could not be made yet: " + rest.error->message);
    rest.error.reset();
    rest.exit = Exit::kPartly;
  }
  return run.finished(std::move(rest));
}

Result<std::uint64_t> rollback_target(const Ledger& ledger, std::uint64_t number) {
  if (ledger.unconfirmed) {
    if (number == 0 || number == ledger.unconfirmed->previous) return ledger.unconfirmed->previous;
    return base::fail(Code::kBusy, "an apply waits for confirmation: confirm it or roll it back first");
  }
  const auto target = number == 0 ? ledger.before(ledger.active) : number;
  if (target == 0) {
    return base::fail(Code::kNotFound,
                      "there is no earlier generation to go back to; see `rdma-configctl history`");
  }
  if (ledger.find(target) == nullptr) {
    return base::fail(Code::kNotFound,
                      fmt::format("there is no generation {}; see `rdma-configctl history`", target));
  }
  if (target == ledger.active) {
    return base::fail(Code::kInvalid, fmt::format("generation {} is already active", target));
  }
  return target;
}

Report roll_back(std::uint64_t number, const Request& request, Context& context) {
  Run run(request, context);
  if (auto done = run.load(); !done) return error_report(done.error());
  if (const auto shared = run.shared()) return error_report(*shared);
  const auto active = run.ledger().active;
  if (request.from != 0 && request.from != active) {
    return error_report({Code::kBusy,
                         fmt::format("generation {} is now active instead of {}, so nothing is rolled back: "
                                     "see `rdma-configctl history`",
                                     active, request.from),
                         0});
  }
  const auto target = rollback_target(run.ledger(), number);
  if (!target) return error_report(target.error());
  return run.finished(run.waits() ? run.roll_back_unconfirmed("asked for by " + request.who)
                                  : run.back_to(*target));
}

Report expire(const Request& request, Context& context) {
  Run run(request, context);
  if (auto done = run.load(); !done) return error_report(done.error());
  const auto why = run.rollback_reason();
  if (why.empty()) return run.ended({});
  return run.ended(run.roll_back_unconfirmed(why));
}

}  // namespace rdmacfg::core
