// SPDX-License-Identifier: Apache-2.0
#include "daemon/tell.hpp"

#include <fmt/format.h>
#include <sys/syslog.h>

#include <map>

#include "base/text.hpp"
#include "daemon/journal.hpp"

namespace rdmacfg::daemon {

using model::Status;

std::string fields_of(const model::Change& change, bool forward) {
  std::string out;
  for (const auto& field : change.fields) {
    const auto before = model::text_of(model::value_of(change.before, field));
    const auto after = model::text_of(model::value_of(change.after, field));
    out += fmt::format("{}{} {} → {}", out.empty() ? "" : ", ", field, forward ? before : after,
                       forward ? after : before);
  }
  return out;
}

std::string suspected(const std::string& suspect) {
  return suspect.empty() ? std::string() : "; suspected: " + suspect;
}

void tell(const Job& job, const model::Report& report, const Suspect& suspect) {
  std::map<model::Key, const model::ResourceReport*> resources;
  for (const auto& resource : report.resources) resources.emplace(resource.key, &resource);
  for (const auto& change : report.plan.changes) {
    const auto at = resources.find(change.key);
    const bool done = change.operation == model::Operation::kDelete
                          ? !report.error
                          : at != resources.end() && at->second->status == Status::kDone;
    if (!done) continue;
    const auto what = fields_of(change, true);
    const bool repair = job.verb == Job::Verb::kHold;
    const auto who = repair ? suspect(change.key) : std::string();
    log(repair ? LOG_NOTICE : LOG_INFO, repair ? Message::kRepaired : Message::kApplied,
        fmt::format("{} {} {}{}{}{}", repair ? "repaired:" : std::string(model::text_of(change.operation)),
                    change.key.kind, change.label, what.empty() ? "" : ": ", what, suspected(who)),
        {{"RDMA_KIND", change.key.kind},
         {"RDMA_RESOURCE", change.key.id},
         {"RDMA_FIELDS", base::join(change.fields, " ")},
         {"RDMA_SUSPECT", who},
         {"RDMA_JOB", job.what}});
  }
  for (const auto& resource : report.resources) {
    if (resource.status != Status::kFailed || job.left_alone.contains(resource.key)) continue;
    log(LOG_ERR, Message::kFailed,
        fmt::format("{} {}: {}", resource.key.kind, resource.label, resource.reason),
        {{"RDMA_KIND", resource.key.kind}, {"RDMA_RESOURCE", resource.key.id}});
  }
  for (const auto& note : report.notes) {
    const bool back = note.find("rolled back") != std::string::npos;
    log(back ? LOG_WARNING : LOG_INFO, back ? Message::kRolledBack : Message::kApplied, note);
  }
  for (const auto& one : report.diagnostics) {
    if (one.severity == model::Severity::kError)
      log(LOG_ERR, Message::kFailed, one.where.text() + ": " + one.message);
  }
  if (report.error) log(LOG_ERR, Message::kFailed, report.error->message);
  for (const auto& left : report.left_over) log(LOG_ERR, Message::kFailed, "could not be undone: " + left);
}

}  // namespace rdmacfg::daemon
