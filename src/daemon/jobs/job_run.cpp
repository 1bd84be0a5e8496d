// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/job_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "catalog/all.hpp"
#include "core/applied_state.hpp"
#include "core/guards/concealed.hpp"
#include "core/guards/delegation.hpp"
#include "core/guards/plausibility.hpp"
#include "core/plan.hpp"
#include "daemon/jobs/document_json.hpp"
#include "daemon/watch/duties.hpp"
#include "kinds/abilities.hpp"
#include "store/confined.hpp"
#include "store/damage.hpp"
#include "store/generations.hpp"
#include "store/held_record.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::daemon {

using base::Code;
using base::Result;
using model::Exit;
using model::Report;
using Json = nlohmann::ordered_json;

Report failure_report(base::Error error) {
  Report report;
  report.error = std::move(error);
  report.exit = Exit::kError;
  return report;
}

namespace {

/// The document of the job: its own texts, or the system's configuration. Nothing when there is none.
Result<std::optional<config::Document>> document_of(const Job& job, const std::string& host_name) {
  // Text that came over the bus may be hostile, and root's own files are not.
  if (!job.texts.empty()) {
    auto sent = parse_confined(job.texts, host_name);
    if (!sent) return base::fail(sent.error());
    core::require_version(*sent);
    core::warn_of_implausible(*sent);
    return std::optional(std::move(*sent));
  }
  config::Source source;
  source.host = host_name;
  auto read = config::read_files(source);
  if (!read && read.error().code == Code::kNotFound && job.by_itself) {
    return std::optional<config::Document>{};  // installed, but not configured
  }
  if (!read) return base::fail(read.error());
  auto document = config::parse_texts(std::move(*read), host_name, kinds::grammar());
  // A user who can write the file would apply it by another user's permission.
  const bool by_others = job.changes() && job.uid.value_or(0) != 0;
  if (job.by_itself || by_others) config::require_trusted_files(document);
  core::require_version(document);
  core::warn_of_implausible(document);
  return std::optional(std::move(document));
}

/// One that cannot be read counts as private. 0: none.
bool is_private_generation(std::uint64_t number, core::Context& context) {
  if (number == 0) return false;
  const auto texts = core::read_texts(context.host.files, context.paths, number);
  if (!texts) return texts.error().code != Code::kNotFound;
  return std::any_of(texts->files.begin(), texts->files.end(),
                     [](const config::Text& text) { return text.is_private; });
}

/// Whether not everybody may read what the job is to apply: its texts, or the generation that it goes back
/// to.
bool wants_private(const Job& job, core::Context& context) {
  if (std::any_of(job.texts.begin(), job.texts.end(), [](const auto& text) { return text.is_private; }))
    return true;
  const bool goes_back =
      job.verb == Job::Verb::kRollBack || job.verb == Job::Verb::kExpire || job.verb == Job::Verb::kConfirm;
  const auto ledger =
      goes_back ? core::read_ledger(context.host.files, context.paths) : Result<core::Ledger>(core::Ledger());
  if (!ledger) return true;
  if (job.verb == Job::Verb::kRollBack) {
    const auto target = core::rollback_target(*ledger, job.generation);
    return target && is_private_generation(*target, context);
  }
  return ledger->unconfirmed && is_private_generation(ledger->unconfirmed->previous, context);
}

Report run(const Job& job, core::Context& context, const core::Request& request, JobFacts& facts) {
  facts.wants_private = wants_private(job, context);
  const auto slow = job.awaited ? SlowSteps::kByLaterJob : SlowSteps::kAfterwards;
  const auto hold = [&] {
    return run_then_deferred([&] { return core::hold(request, context); }, slow, request, context);
  };
  switch (job.verb) {
    case Job::Verb::kShow:
    case Job::Verb::kHistory:
      if (job.texts.empty()) {
        facts.own_document = !core::active_is_private(context.host.files, context.paths);
        return core::look(request, context);
      }
      [[fallthrough]];
    case Job::Verb::kValidate:
    case Job::Verb::kDiff:
    case Job::Verb::kApply: {
      if (job.resumes) {
        (void)continues_hold(job.settled_at, job.settled, context);
        if (auto report = resume(slow, request, context)) return std::move(*report);
      }
      facts.document_judged = true;
      if (auto report = yield_to_newer_apply(job.applied_then, slow, request, context))
        return std::move(*report);
      auto document = document_of(job, request.host_name);
      facts.document_held = document.has_value();
      if (!document) return failure_report(document.error());
      if (!*document) return hold();
      facts.own_document = !job.texts.empty() || !config::is_private(**document);
      const bool applied =
          job.verb == Job::Verb::kApply && job.by_itself;  // it has something to fall back on
      if (!applied && model::has_errors((*document)->diagnostics)) return core::validate(**document);
      if (job.verb == Job::Verb::kValidate) return core::validate(**document);
      const auto is_active = [&] {
        const auto ledger = core::read_ledger(context.host.files, context.paths);
        return ledger && ledger->is_active(core::digest_of(**document));
      };
      if (applied && is_active() && continues_hold(job.settled_at, job.settled, context)) return hold();
      if (applied) {
        auto report = run_then_deferred([&] { return core::commit(**document, request, context); }, slow,
                                        request, context);
        facts.document_held = is_active();
        return report;
      }
      if (job.verb == Job::Verb::kApply) return core::commit(**document, request, context);
      return core::diff(**document, context.host, context.options);
    }
    case Job::Verb::kHold:
      apply_drift_policy(job.settled, request, context);
      return hold();
    case Job::Verb::kConfirm:
      return core::confirm(request, context);
    case Job::Verb::kRollBack:
      return core::roll_back(job.generation, request, context);
    case Job::Verb::kExpire:
      return core::expire(request, context);
  }
  return failure_report({Code::kInvalid, "unknown job", 0});
}

/// The document that a client's job applies, where it sends or names one (of root's own files root decides);
/// an empty document for one that goes back to none. An error where it cannot be read: read a second time,
/// nobody would have decided on it.
Result<std::optional<config::Document>> wanted_by(const Job& job, const core::Request& request,
                                                  core::Context& context) {
  auto& files = context.host.files;
  if (job.verb == Job::Verb::kApply && !job.texts.empty()) {
    auto sent = parse_confined(job.texts, request.host_name);
    if (!sent) return base::fail(sent.error());
    core::require_version(*sent);
    core::warn_of_implausible(*sent);
    return std::optional(std::move(*sent));
  }
  if (job.verb != Job::Verb::kRollBack) return std::optional<config::Document>{};
  const auto ledger = core::read_ledger(files, context.paths);
  const auto target = ledger ? core::rollback_target(*ledger, job.generation) : base::fail(ledger.error());
  if (!target) return base::fail(target.error());
  if (*target == 0) return std::optional(config::Document{});
  auto texts = core::read_texts(files, context.paths, *target);
  if (!texts) return base::fail(texts.error());
  return std::optional(core::parse_again(std::move(*texts), request.host_name));
}

/// Nothing without one. An error where it cannot be read, and so nobody knows what of it is root's.
Result<std::optional<config::Document>> active_document(const core::Request& request,
                                                        core::Context& context) {
  const auto unknown = [](const std::string& why) {
    return base::fail(Code::kRefused,
                      "the active document cannot be read, so only root may change it: " + why);
  };
  const auto now = core::look_up_ledger(context.host.files, context.paths);
  if (!now) return unknown(now.error().message);
  const auto active = now->ledger.active;
  if (active == 0 && now->lost && now->damage) return unknown(now->damage->message);
  if (active == 0) return std::optional<config::Document>{};
  auto texts = core::read_texts(context.host.files, context.paths, active);
  if (!texts) return unknown(texts.error().message);
  auto document = core::parse_again(std::move(*texts), request.host_name);
  if (model::has_errors(document.diagnostics))
    return unknown("it has errors, which `rdma-configctl validate` shows to root");
  return std::optional(std::move(document));
}

}  // namespace

core::RemovalGuard guard_for(const Job& job) {
  using core::RemovalGuard;
  if (job.by_itself || job.verb == Job::Verb::kHold) return RemovalGuard::kMost;
  const bool unseen = job.verb == Job::Verb::kApply && job.expect.empty() && job.confirm_s == 0;
  return unseen && !job.allow_removal ? RemovalGuard::kLifelines : RemovalGuard::kNone;
}

Report run_for_caller(const Job& job, core::Context& context, const core::Request& request, JobFacts& facts) {
  if (job.uid.value_or(0) == 0) return run(job, context, request, facts);
  if (!job.changes()) {
    return core::look_concealed(context, [&](core::Context& seen, bool& own_document) {
      auto report = run(job, seen, request, facts);
      own_document = facts.own_document;
      return report;
    });
  }
  const auto found = wanted_by(job, request, context);
  if (!found) return failure_report(found.error());
  const auto& wanted = *found;
  if (wanted) {
    const auto active = active_document(request, context);
    if (!active) return failure_report(active.error());
    auto beyond = core::beyond_delegation(*wanted, *active ? &**active : nullptr, context.host);
    if (!beyond.empty()) {
      Report report;
      report.diagnostics = wanted->diagnostics;
      report.diagnostics.insert(report.diagnostics.end(), beyond.begin(), beyond.end());
      config::arrange(report.diagnostics, *wanted);
      report.exit = Exit::kError;
      return report;
    }
  }
  // A document with errors was not judged as a whole.
  if (wanted && model::has_errors(wanted->diagnostics)) {
    if (job.verb == Job::Verb::kApply) return core::validate(*wanted);
    return failure_report(
        {Code::kRefused, "the document of that generation cannot be read now, so only root may go back to it",
         0});
  }
  return core::change_concealed(wanted ? &*wanted : nullptr, request, context,
                                [&] { return run(job, context, request, facts); });
}

bool refresh_hidden(core::Context& context, const std::set<std::string>& handles,
                    std::vector<std::string>& notes) {
  const auto journal =
      core::load_open_journal(context.host.files, context.options.paths, context.host.boot_id);
  if (!journal || *journal) return false;
  for (const auto* kind : kinds::all_kinds()) {
    const auto* hidden = kinds::ability<kinds::HasHiddenState>(kind);
    if (hidden == nullptr) continue;
    if (auto done = hidden->refresh_hidden(context.host, handles); !done)
      notes.push_back(done.error().message);
  }
  return true;
}

void keep_readings(const Job& job, const Report& report, system::Host& host,
                   std::vector<std::string>& notes) {
  if ((job.verb != Job::Verb::kHold && !job.by_itself) || report.resources.empty()) return;
  for (const auto* kind : kinds::all_kinds()) {
    const auto* keeper = kinds::ability<kinds::KeepsReadings>(kind);
    if (keeper == nullptr) continue;
    if (auto done = keeper->keep_readings(report.resources, host); !done)
      notes.push_back(done.error().message);
  }
}

Json status_json(core::Context& context, const JobFacts& facts, Job::Verb verb) {
  const auto ledger = core::read_ledger(context.host.files, context.paths);
  if (!ledger) return nullptr;
  Json out{{"active", ledger->active},
           {"unconfirmed", nullptr},
           {"report_drift", false},
           {"audit_s", 0},
           {"metrics", ""}};
  out["degraded"] = core::degraded(context.host.files);
  out["unwritten"] = core::has_unwritten(context.host.files);
  out["private"] = !facts.own_document || facts.wants_private ||
                   core::active_is_private(context.host.files, context.paths);
  out["document_judged"] = facts.document_judged;
  out["document_held"] = facts.document_held;
  const auto policy = policy_of(*ledger, system::linux_host_name(), context);
  out["report_drift"] = policy.drift == model::Drift::kReport;
  out["audit_s"] = policy.audit.value_or(model::Audit{}).seconds;
  out["metrics"] = policy.metrics.value_or(model::MetricsFolder{}).path;
  if (const auto last = core::last_apply(*ledger))
    out["last"] = {{"number", last->number}, {"when", last->when}, {"rolled_back", last->rolled_back}};
  if (const auto& waiting = ledger->unconfirmed) {
    out["unconfirmed"] = {
        {"generation", waiting->generation},
        {"deadline_ms", waiting->boot_id == context.host.boot_id ? waiting->deadline_ms : 0},
        {"deadline", waiting->deadline}};
  }
  if (verb != Job::Verb::kHistory) return out;
  Json list = Json::array();
  for (const auto& generation : ledger->generations) {
    list.push_back({{"number", generation.number},
                    {"when", generation.when},
                    {"who", generation.who},
                    {"what", generation.what},
                    {"fate", generation.fate},
                    {"active", generation.number == ledger->active}});
  }
  out["generations"] = std::move(list);
  return out;
}

}  // namespace rdmacfg::daemon
