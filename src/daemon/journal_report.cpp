// SPDX-License-Identifier: Apache-2.0
#include "daemon/journal_report.hpp"

#include <fmt/format.h>
#include <sys/syslog.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "daemon/journal.hpp"
#include "store/damage.hpp"

namespace rdmacfg::daemon {

using model::Operation;
using model::Status;

namespace {

/// " (mode datagram, mtu 2044)"; values of several lines, such as a file, are left out.
std::string in_parentheses(const model::Attributes& settings) {
  std::string out;
  for (const auto& [name, value] : settings) {
    if (std::holds_alternative<std::monostate>(value)) continue;
    const auto text = model::text_of(value);
    if (text.find('\n') == std::string::npos)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, text);
  }
  return out.empty() ? out : " (" + out + ")";
}

/// nullptr for a field or kind that this program does not know.
const model::FieldSpec* spec_of(const model::Key& key, const std::string& field) {
  const auto* kind = kinds::find(key.kind);
  if (kind == nullptr) return nullptr;
  for (const auto& spec : kind->fields()) {
    if (spec.name == field) return &spec;
  }
  return nullptr;
}

std::string updated(const model::Change& change, const model::Attributes& from, const model::Attributes& to) {
  std::string out;
  for (const auto& field : change.fields) {
    out +=
        fmt::format("{}{} {} → {}", out.empty() ? "" : ", ", spoken(change.key, field),
                    model::text_of(model::value_of(from, field)), model::text_of(model::value_of(to, field)));
  }
  return out;
}

/// That it takes a service with it, which its fields do not say.
std::string interrupted_services(const model::Change& change) {
  const auto* kind = kinds::find(change.key.kind);
  if (kind == nullptr || !kind->traits().interrupts_services || change.interrupts.empty()) return {};
  return fmt::format(" ({})", base::join(change.interrupts, "; "));
}

}  // namespace

std::string spoken(const model::Key& key, const std::string& field) {
  const auto* spec = spec_of(key, field);
  return spec == nullptr || spec->spoken.empty() ? field : std::string(spec->spoken);
}

std::string contended_name(const model::Key& key, const std::string& field) {
  const auto* spec = spec_of(key, field);
  return spec == nullptr || spec->lacking.empty() ? spoken(key, field) : std::string(spec->lacking);
}

std::string name_of(const model::Key& key, const std::string& label) {
  auto kind = key.kind;
  std::replace(kind.begin(), kind.end(), '_', ' ');
  const auto said = base::lower(label);
  return said == kind || said.starts_with(kind + " ") ? label : key.kind + " " + label;
}

std::string done_by(const model::Change& change, Creation creation) {
  switch (change.operation) {
    case Operation::kCreate:
      return (creation == Creation::kAgain ? "made again" : "made") + in_parentheses(change.after);
    case Operation::kDelete:
      return "removed" + in_parentheses(change.before);
    case Operation::kUpdate:
      break;
  }
  return updated(change, change.before, change.after);
}

std::string drift_of(const model::Change& change) {
  switch (change.operation) {
    case Operation::kCreate:
      return "is gone" + in_parentheses(change.after);
    case Operation::kDelete:
      return "is there" + in_parentheses(change.before);
    case Operation::kUpdate:
      break;
  }
  return updated(change, change.after, change.before);
}

std::vector<std::string> fields_of(const model::Change& change) {
  if (change.operation == Operation::kUpdate) return change.fields;
  std::vector<std::string> out;
  for (const auto& [name, value] : change.operation == Operation::kCreate ? change.after : change.before) {
    if (!std::holds_alternative<std::monostate>(value)) out.push_back(name);
  }
  return out;
}

std::string for_catalog(std::string text) {
  // REPLACE_VAR_MAX of systemd's catalog.c is 256 with name and "=".
  constexpr std::size_t kMost = 200;
  if (text.size() <= kMost) return text;
  auto end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // within a character
  return text.substr(0, end) + "…";
}

std::string suspected(const std::string& suspect) {
  return suspect.empty() ? std::string() : fmt::format("; cause unknown, but {} also sets this", suspect);
}

namespace {

void report_change(const Job& job, const model::Change& change, const Suspect& suspect) {
  const bool hold = job.verb == Job::Verb::kHold;
  const auto blamed = hold ? suspect(change.key) : std::nullopt;
  // A resource that was not as wanted before, such as a device that came, was broken by nobody.
  const bool repair = hold && blamed.has_value();
  const auto who = blamed.value_or("");
  const auto what = done_by(change, blamed ? Creation::kAgain : Creation::kFirst);
  // Of an apply, who asked for it knows what to make of it.
  const bool in_full = hold || change.operation == Operation::kUpdate;
  const auto verb = repair ? "repaired:"
                    : hold ? "configured:"
                           : std::string(model::text_of(change.operation));
  log(hold ? LOG_NOTICE : LOG_INFO, repair ? Message::kRepaired : Message::kApplied,
      fmt::format("{} {}{}{}{}", verb, name_of(change.key, change.label), in_full ? ": " + what : "",
                  in_full ? interrupted_services(change) : "", suspected(who)),
      {{"RDMA_KIND", change.key.kind},
       {"RDMA_RESOURCE", change.key.id},
       {"RDMA_FIELDS", base::join(fields_of(change), " ")},
       {"RDMA_CHANGE", for_catalog(what)},
       {"RDMA_SUSPECT", who},
       {"RDMA_JOB", job.what}});
}

}  // namespace

void report_to_journal(const Job& job, const model::Report& report, const Suspect& suspect,
                       RepeatFilter* filter) {
  std::map<model::Key, const model::ResourceReport*> resources;
  for (const auto& resource : report.resources) resources.emplace(resource.key, &resource);
  std::set<model::Key> drifted;  // told when it did
  for (const auto& change : report.drifted) drifted.insert(change.key);
  for (const auto& change : report.plan.changes) {
    const auto at = resources.find(change.key);
    const bool done = change.operation == Operation::kDelete
                          ? !report.error
                          : at != resources.end() && at->second->status == Status::kDone;
    if (done) report_change(job, change, suspect);
  }
  for (const auto& resource : report.resources) {
    const auto left = job.fields_left_alone.find(resource.key);
    const bool known_fight = left != job.fields_left_alone.end() && left->second.why == resource.reason;
    if (resource.status != Status::kFailed || known_fight || job.left_alone.contains(resource.key) ||
        drifted.contains(resource.key))
      continue;
    log(LOG_ERR, Message::kFailed,
        fmt::format("{}: {}", name_of(resource.key, resource.label), resource.reason),
        {{"RDMA_KIND", resource.key.kind}, {"RDMA_RESOURCE", resource.key.id}});
  }
  // A finding of several holds or expiries in a row is reported once.
  const bool repeats = job.verb == Job::Verb::kHold || job.verb == Job::Verb::kExpire;
  if (!repeats) filter = nullptr;
  const auto known = [&](const std::string& text) { return filter != nullptr && !filter->fresh(text); };
  for (const auto& note : report.notes) {
    if (known(note.text)) continue;
    const bool back = note.sort == model::Note::Sort::kRollback;
    const bool damaged = note.sort == model::Note::Sort::kDamage;
    log(back || damaged ? LOG_WARNING : LOG_INFO,
        back      ? Message::kRolledBack
        : damaged ? Message::kTrouble
                  : Message::kNoted,
        damaged ? core::degraded_note(note.text) : note.text);
  }
  for (const auto& diagnostic : report.diagnostics) {
    const auto text = diagnostic.where.text() + ": " + diagnostic.message;
    if (diagnostic.severity == model::Severity::kError && !known(text)) log(LOG_ERR, Message::kFailed, text);
  }
  if (report.error && !known(report.error->message)) log(LOG_ERR, Message::kFailed, report.error->message);
  for (const auto& left : report.left_over) {
    const auto text = "could not be undone: " + left;
    if (!known(text)) log(LOG_ERR, Message::kFailed, text);
  }
  if (filter != nullptr) filter->ended();
}

void Expectations::report_to_journal(const model::Report& report) {
  if (report.resources.empty()) return;
  std::set<model::Key> now;
  for (const auto& resource : report.resources) {
    const auto& key = resource.key;
    if (resource.status == Status::kUnmet) {
      now.insert(key);
      if (unmet_.contains(key)) continue;
      log(LOG_WARNING, Message::kUnmet,
          fmt::format("not as expected: {}: {}", resource.label, resource.reason),
          {{"RDMA_KIND", key.kind},
           {"RDMA_RESOURCE", key.id},
           {"RDMA_REASON", for_catalog(resource.reason)}});
    } else if (resource.status == Status::kInSync && unmet_.contains(key)) {
      log(LOG_NOTICE, Message::kMet, fmt::format("as expected again: {}", resource.label),
          {{"RDMA_KIND", key.kind}, {"RDMA_RESOURCE", key.id}});
    } else if (resource.status != Status::kInSync && unmet_.contains(key)) {
      now.insert(key);  // not known now: a counter was reset, say
    }
  }
  unmet_ = std::move(now);
}

void report_drift(const model::Report& report, const std::vector<model::Key>& fresh,
                  const std::function<std::string(const model::Key& key)>& suspect) {
  for (const auto& change : report.drifted) {
    if (std::find(fresh.begin(), fresh.end(), change.key) == fresh.end()) continue;
    const auto who = suspect(change.key);
    const auto what = drift_of(change);
    log(LOG_NOTICE, Message::kDrifted,
        fmt::format("drifted: {}: {}{}", name_of(change.key, change.label), what, suspected(who)),
        {{"RDMA_KIND", change.key.kind},
         {"RDMA_RESOURCE", change.key.id},
         {"RDMA_FIELDS", base::join(fields_of(change), " ")},
         {"RDMA_CHANGE", for_catalog(what)},
         {"RDMA_SUSPECT", who}});
  }
}

}  // namespace rdmacfg::daemon
