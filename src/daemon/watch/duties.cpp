// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/duties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace rdmacfg::daemon {

using model::Exit;
using model::Report;
using model::Status;

namespace {

bool succeeded(const Report& report) {
  return !report.error && (report.exit == Exit::kOk || report.exit == Exit::kPartly);
}

/// Two runs, one after the other, as one.
Report joined(Report first, Report then) {
  std::map<model::Key, Status> before;
  for (const auto& resource : first.resources) before.emplace(resource.key, resource.status);
  for (auto& resource : then.resources) {
    const auto at = before.find(resource.key);
    if (at != before.end() && at->second == Status::kDone && resource.status == Status::kInSync)
      resource.status = Status::kDone;
  }
  const auto put_before = [](auto& all, auto& earlier) {
    all.insert(all.begin(), std::make_move_iterator(earlier.begin()), std::make_move_iterator(earlier.end()));
  };
  put_before(then.plan.changes, first.plan.changes);
  put_before(then.drifted, first.drifted);
  model::put_notes_before(then, first);
  put_before(then.left_over, first.left_over);
  then.diagnostics = std::move(first.diagnostics);
  if (!succeeded(first) && then.exit != Exit::kUndoIncomplete) {
    then.exit = first.exit;
    if (first.error) then.error = std::move(first.error);
  }
  return then;
}

}  // namespace

bool leaves_something(const Report& report) {
  return std::any_of(report.resources.begin(), report.resources.end(), [](const auto& resource) {
    return resource.status == Status::kPending && resource.follows;
  });
}

Report run_then_deferred(const std::function<Report()>& run, SlowSteps slow, const core::Request& request,
                         core::Context& context) {
  context.options.awaited = true;
  auto report = run();
  context.options.awaited = false;
  const bool hopeless = report.exit == Exit::kError || !report.left_over.empty();
  if (slow == SlowSteps::kByLaterJob || hopeless || !leaves_something(report)) return report;
  return joined(std::move(report), core::hold(request, context));
}

std::optional<Report> resume(SlowSteps slow, const core::Request& request, core::Context& context) {
  const auto ledger = core::read_ledger(context.host.files, context.paths);
  if (!ledger || ledger->active == 0) return std::nullopt;
  auto report = run_then_deferred([&] { return core::hold(request, context); }, slow, request, context);
  report.notes.push_back(
      fmt::format("unclean shutdown of the daemon: still enforcing generation {}; the configuration is read "
                  "at the next reload",
                  ledger->active));
  return report;
}

kinds::DaemonPolicy policy_of(const core::Ledger& ledger, const std::string& host_name,
                              core::Context& context) {
  const auto texts = core::read_texts(context.host.files, context.paths, ledger.active);
  if (!texts) return {};
  return kinds::daemon_policy(core::parse_again(*texts, host_name).sections);
}

void apply_drift_policy(const std::map<model::Key, std::string>& settled, const core::Request& request,
                        core::Context& context) {
  const auto ledger = core::read_ledger(context.host.files, context.paths);
  if (ledger && policy_of(*ledger, request.host_name, context).drift == model::Drift::kReport)
    context.options.settled = settled;
}

bool continues_hold(std::uint64_t settled_at, const std::map<model::Key, std::string>& settled,
                    core::Context& context) {
  const auto ledger = core::read_ledger(context.host.files, context.paths);
  if (!ledger || settled_at == 0 || ledger->active != settled_at) return false;
  context.options.settled = settled;
  return true;
}

std::string applied_mark(system::Files& files, const std::string& path) {
  auto text = files.read(path);
  return text && *text ? std::move(**text) : std::string();
}

std::optional<Report> yield_to_newer_apply(const std::optional<std::string>& then, SlowSteps slow,
                                           const core::Request& request, core::Context& context) {
  if (!then || applied_mark(context.host.files) == *then) return std::nullopt;
  auto report = run_then_deferred([&] { return core::hold(request, context); }, slow, request, context);
  report.notes.emplace_back(
      "another apply preceded the scheduled one: its generation stays active; the configuration is read at "
      "the next reload");
  return report;
}

}  // namespace rdmacfg::daemon
