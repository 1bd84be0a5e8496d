// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/outcome.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace rdmacfg::daemon {

using model::Status;

bool ended_before_plan(const Outcome& outcome) {
  const auto& report = outcome.report;
  return report.error && !outcome.cancelled && report.plan.empty() && report.resources.empty() &&
         !model::has_errors(report.diagnostics);
}

bool succeeded(const model::Report& report) {
  return !report.error && (report.exit == model::Exit::kOk || report.exit == model::Exit::kPartly);
}

std::optional<bool> apply_failed(const Job& job, const Outcome& outcome) {
  if (job.verb != Job::Verb::kApply || outcome.cancelled) return std::nullopt;
  const bool failed = !succeeded(outcome.report);
  if (!job.by_itself || !outcome.status.is_object()) return failed;
  if (!outcome.status.value("document_judged", true)) return std::nullopt;
  // Active already: later runs repair what this one could not. Not active after success: the generation
  // before is held, as the document was rolled back once.
  return failed == outcome.status.value("document_held", true) ? std::nullopt : std::optional(failed);
}

bool tells_of_resources(const Job& job, const model::Report& report) {
  if (!report.resources.empty()) return true;
  using Verb = Job::Verb;
  const bool compares = job.verb == Verb::kApply || job.verb == Verb::kHold || job.verb == Verb::kConfirm;
  return compares && succeeded(report);
}

std::vector<std::string> with_reasons(const model::Report& report, model::Status status,
                                      DocumentValues values) {
  std::vector<std::string> out;
  std::set<std::string> said;
  for (const auto& resource : report.resources) {
    if (resource.status != status) continue;
    auto text = values == DocumentValues::kShown ? resource.label + ": " + resource.reason : resource.label;
    if (said.insert(text).second) out.push_back(std::move(text));
  }
  return out;
}

Waiting waiting_in(const model::Report& report) {
  std::set<std::pair<std::string, std::string>> pending, limited;  // as ctl counts them
  for (const auto& resource : report.resources) {
    if (resource.status == Status::kPending) pending.emplace(resource.key.id, resource.label);
    if (resource.status == Status::kLimited) limited.emplace(resource.key.id, resource.label);
  }
  std::erase_if(limited, [&](const auto& id) { return pending.contains(id); });
  const auto unmet = std::count_if(report.resources.begin(), report.resources.end(),
                                   [](const auto& resource) { return resource.status == Status::kUnmet; });
  return {pending.size(), limited.size(), static_cast<std::size_t>(unmet)};
}

std::string why_refused(const model::Report& report, DocumentValues values) {
  const bool is_private = values == DocumentValues::kLeftOut;
  constexpr const char* kPrivate = "only root may read the document, so the journal says why";
  for (const auto& diagnostic : report.diagnostics) {
    if (diagnostic.severity == model::Severity::kError)
      return diagnostic.where.text() + ": " + (is_private ? kPrivate : diagnostic.message);
  }
  if (is_private) return kPrivate;
  if (report.error) return report.error->message;
  return report.notes.empty() ? "another generation is active" : report.notes.front().text;
}

model::Report not_applied() {
  model::Report report;
  report.error = base::Error{base::Code::kBusy, "the configuration is not applied yet", 0};
  return report;
}

}  // namespace rdmacfg::daemon
