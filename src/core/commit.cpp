// SPDX-License-Identifier: Apache-2.0
#include "core/commit.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "core/leftovers.hpp"
#include "core/remember.hpp"
#include "core/transaction.hpp"
#include "kinds/all.hpp"

namespace rdmacfg::core {

using base::Code;
using base::Result;
using model::Exit;
using model::Report;

namespace {

Report error_report(base::Error error) {
  Report report;
  report.error = std::move(error);
  report.exit = Exit::kError;
  return report;
}

bool good(const Report& report) { return report.exit == Exit::kOk || report.exit == Exit::kPartly; }

config::Document parsed(std::vector<config::Text> texts, const Request& request) {
  return config::parse_texts(std::move(texts), request.host_name, kinds::grammar());
}

/// One run of commit(), hold() and the others.
class Run {
 public:
  Run(const Request& request, Context& context) : request_(request), context_(context) {}

  Result<void> load() {
    auto ledger = load_ledger(files(), context_.paths.ledger);
    if (!ledger) return base::fail(ledger.error());
    ledger_ = std::move(*ledger);
    return {};
  }

  Ledger& ledger() { return ledger_; }
  [[nodiscard]] bool waits() const { return ledger_.unconfirmed.has_value(); }
  [[nodiscard]] bool is_overdue() const { return overdue(ledger_, context_.host.boot_id, context_.clock); }

  Report held(std::uint64_t number) {
    auto texts = load_texts(files(), context_.paths.texts, number);
    if (!texts) return error_report(texts.error());
    auto options = context_.options;
    options.independent = true;
    return apply(parsed(std::move(*texts), request_), context_.host, options);
  }

  Report fresh(const config::Document& document, const std::string& digest) {
    const auto* active = ledger_.find(ledger_.active);
    const bool same = active != nullptr && active->digest == digest;
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
      end_unconfirmed(report);
      ledger_ = before;
      (void)files().remove(fmt::format("{}/{}.json", context_.paths.texts, next_number()));
      save(report);
      return report;
    }
    // At boot and on events one part may have failed; the document is what the host is held to all the same.
    if (begun) {
      report.notes.push_back(
          fmt::format("generation {} goes at {} unless `rdma-configctl confirm` is called before",
                      ledger_.unconfirmed->generation, ledger_.unconfirmed->deadline));
    }
    const bool counts = good(report) || (options.independent && report.exit != Exit::kError);
    if (begun || !counts) return report;
    std::erase(ledger_.refused, digest);
    if (!same) {
      if (auto done = add(document.files, digest); !done) note(report, done.error());
    }
    if (!(ledger_ == before)) save(report);
    return report;
  }

  Report confirmed() {
    Report report;
    const auto& waiting = *ledger_.unconfirmed;
    report.notes.push_back(fmt::format("generation {} is confirmed", waiting.generation));
    ledger_.unconfirmed.reset();
    save(report);
    if (report.error) return report;
    end_unconfirmed(report);
    return report;
  }

  /// The apply that waits for confirmation goes, and nothing of it stays.
  Report taken_back(const std::string& why) {
    const auto waiting = *ledger_.unconfirmed;
    Report report;
    auto take_back = load_take_back(files(), context_.paths.take_back);
    if (!take_back) return error_report(take_back.error());
    clear_temporaries(files());
    const bool here = *take_back && (*take_back)->boot_id == context_.host.boot_id;
    if (here) {
      // It may have been killed half way, or be under way in a process that was.
      const auto journal = load_journal(files(), context_.options.paths.journal);
      if (!journal || *journal) report.left_over = put_back((*take_back)->plan, context_.host);
      for (auto& left : undo((*take_back)->plan, context_.host)) report.left_over.push_back(std::move(left));
      report.exit = report.left_over.empty() ? Exit::kOk : Exit::kUndoIncomplete;
      if (auto picture = take_picture(context_.host, keys_of({}, (*take_back)->plan))) {
        auto state = std::move((*take_back)->before);
        reinstate((*take_back)->plan, *picture, state);
        if (auto done = save_state(files(), context_.options.paths.state, state); !done)
          note(report, done.error());
      }
      if (auto done = files().remove(context_.options.paths.journal); !done) note(report, done.error());
    }
    mark(waiting.generation, "rolled back: " + why);
    ledger_.active = waiting.previous;
    ledger_.unconfirmed.reset();
    save(report);
    end_unconfirmed(report);
    report.notes.insert(report.notes.begin(),
                        fmt::format("generation {} was rolled back: {}", waiting.generation, why));
    // After a reboot the kernel's state is new; files still are as the unconfirmed generation had them.
    if (!here) merge(report, waiting.previous != 0 ? held(waiting.previous) : nothing());
    if (here && !report.left_over.empty() && waiting.previous != 0) {
      auto again = held(waiting.previous);
      if (good(again)) report.left_over.clear();
      merge(report, std::move(again));
    }
    return report;
  }

  Report back_to(std::uint64_t number) {
    const auto active = ledger_.active;
    auto texts = load_texts(files(), context_.paths.texts, number);
    if (!texts) return error_report(texts.error());
    auto report = apply(parsed(std::move(*texts), request_), context_.host, context_.options);
    if (!good(report)) return report;
    mark(active, fmt::format("rolled back to {}", number));
    ledger_.active = number;
    save(report);
    report.notes.push_back(fmt::format("generation {} is active again", number));
    return report;
  }

 private:
  system::Files& files() { return context_.host.files; }

  [[nodiscard]] std::uint64_t next_number() const {
    return ledger_.generations.empty() ? 1 : ledger_.generations.back().number + 1;
  }

  static void note(Report& report, const base::Error& error) {
    report.notes.push_back("what was done could not all be recorded: " + error.message);
  }

  static void merge(Report& report, Report other) {
    other.notes.insert(other.notes.begin(), report.notes.begin(), report.notes.end());
    other.left_over.insert(other.left_over.begin(), report.left_over.begin(), report.left_over.end());
    report = std::move(other);
  }

  void save(Report& report) {
    prune(files(), context_.paths, ledger_);
    if (auto done = save_ledger(files(), context_.paths.ledger, ledger_); !done) note(report, done.error());
  }

  Result<void> add(const std::vector<config::Text>& texts, const std::string& digest) {
    const auto number = next_number();
    if (auto done = save_texts(files(), context_.paths.texts, number, texts); !done) return done;
    ledger_.generations.push_back(
        {number, digest, context_.clock.utc(std::chrono::milliseconds(0)), request_.who, request_.what, {}});
    ledger_.active = number;
    return {};
  }

  /// Before the first write: the deadline on disk, and a timer that outlives us.
  Result<void> begin_unconfirmed(const config::Document& document, const std::string& digest) {
    const auto previous = ledger_.active;
    std::erase(ledger_.refused, digest);
    if (auto done = add(document.files, digest); !done) return done;
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

  void end_unconfirmed(Report& report) {
    if (auto done = files().remove(context_.paths.take_back); !done) note(report, done.error());
    (void)context_.host.timers.disarm(kRollbackTimer);  // one that fires finds nothing to do
  }

  void mark(std::uint64_t number, std::string fate) {
    auto* generation = ledger_.find(number);
    if (generation == nullptr) return;
    generation->fate = std::move(fate);
    if (!ledger_.refuses(generation->digest)) ledger_.refused.push_back(generation->digest);
  }

  /// A host that nothing is wanted of: what we made goes, what we changed is given back.
  Report nothing() {
    return apply(parsed({{"nothing", "version = 1\n"}}, request_), context_.host, context_.options);
  }

  const Request& request_;
  Context& context_;
  Ledger ledger_;
};

}  // namespace

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

bool overdue(const Ledger& ledger, const std::string& boot_id, const Clock& clock) {
  const auto& waiting = ledger.unconfirmed;
  return waiting && (waiting->boot_id != boot_id || clock.boot_ms() >= waiting->deadline_ms);
}

Report commit(const config::Document& document, const Request& request, Context& context) {
  if (context.host.offline || model::has_errors(document.diagnostics)) {
    return apply(document, context.host, context.options);
  }
  Run run(request, context);
  if (auto done = run.load(); !done) return error_report(done.error());
  std::vector<std::string> notes;
  if (run.is_overdue()) {
    auto back = run.taken_back("it was not confirmed in time");
    if (back.exit != Exit::kOk && back.exit != Exit::kPartly && !request.by_itself) return back;
    notes = std::move(back.notes);
  }
  const auto digest = digest_of(document.files);
  Report report;
  if (request.by_itself && run.waits()) {
    notes.push_back(fmt::format("generation {} waits for confirmation and is held until then",
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
        active == 0 ? "the document was rolled back before and is not applied by itself until it changes"
                    : fmt::format("the document was rolled back before and is not applied by itself until it "
                                  "changes; generation {} is held instead",
                                  active));
    if (active != 0) report = run.held(active);
  } else {
    report = run.fresh(document, digest);
  }
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  return report;
}

Report hold(const Request& request, Context& context) {
  Run run(request, context);
  if (auto done = run.load(); !done) return error_report(done.error());
  if (run.is_overdue()) return run.taken_back("it was not confirmed in time");
  if (run.ledger().active == 0) return {};
  return run.held(run.ledger().active);
}

Report look(const Request& request, Context& context) {
  auto ledger = load_ledger(context.host.files, context.paths.ledger);
  if (!ledger) return error_report(ledger.error());
  if (ledger->active == 0) return {};
  auto texts = load_texts(context.host.files, context.paths.texts, ledger->active);
  if (!texts) return error_report(texts.error());
  return diff(parsed(std::move(*texts), request), context.host, context.options);
}

Report confirm(const Request& request, Context& context) {
  Run run(request, context);
  if (auto done = run.load(); !done) return error_report(done.error());
  if (!run.waits()) return error_report({Code::kNotFound, "no apply waits for confirmation", 0});
  if (run.is_overdue()) {
    auto report = run.taken_back("it was not confirmed in time");
    report.error = base::Error{Code::kTimeout, "it is too late: the time to confirm is over", 0};
    if (report.exit == Exit::kOk || report.exit == Exit::kPartly) report.exit = Exit::kError;
    return report;
  }
  auto report = run.confirmed();
  if (report.error) return report;
  // What had to wait for the confirmation is done now.
  auto rest = run.held(run.ledger().active);
  rest.notes.insert(rest.notes.begin(), report.notes.begin(), report.notes.end());
  return rest;
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
    return base::fail(Code::kInvalid, fmt::format("generation {} is the active one already", target));
  }
  return target;
}

Report roll_back(std::uint64_t number, const Request& request, Context& context) {
  Run run(request, context);
  if (auto done = run.load(); !done) return error_report(done.error());
  const auto target = rollback_target(run.ledger(), number);
  if (!target) return error_report(target.error());
  return run.waits() ? run.taken_back("asked for by " + request.who) : run.back_to(*target);
}

Report expire(const Request& request, Context& context) {
  Run run(request, context);
  if (auto done = run.load(); !done) return error_report(done.error());
  if (!run.is_overdue()) return {};
  return run.taken_back("it was not confirmed in time");
}

}  // namespace rdmacfg::core
