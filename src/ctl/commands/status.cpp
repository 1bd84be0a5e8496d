// SPDX-License-Identifier: Apache-2.0
// status: is everything as it should be?
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "ctl/host_status.hpp"
#include "ctl/json.hpp"
#include "ctl/render/blocks.hpp"
#include "ctl/render/render_report.hpp"
#include "ctl/render/render_table.hpp"
#include "store/damage.hpp"
#include "withdraw/withdraw.hpp"

namespace rdmacfg::ctl {

using model::Exit;
using model::Status;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMostLines = 8;  ///< of one sort; it is one screen

bool is_open(Status status) {
  return status == Status::kDiffers || status == Status::kFailed || status == Status::kPending ||
         status == Status::kLimited || status == Status::kUnmet;
}

struct StatusView {
  HostStatus host_status;
  bool withdrawn = false;
  std::vector<const model::ResourceReport*> open;  ///< what is not as wanted

  [[nodiscard]] bool has(Status status) const {
    return std::any_of(open.begin(), open.end(),
                       [&](const auto* resource) { return resource->status == status; });
  }
  /// Records of ours were damaged: somebody has to look at the disk, and then apply.
  [[nodiscard]] bool degraded() const {
    return model::has_note(host_status.report.notes, model::Note::Sort::kDamage) ||
           (host_status.applied_state && !host_status.applied_state->damage.empty());
  }
  [[nodiscard]] bool daemon_missing() const {
    return !withdrawn && !host_status.daemon && host_status.applied_state &&
           host_status.applied_state->active;
  }
};

Exit judge(const StatusView& view) {
  const auto& host_status = view.host_status;
  if (host_status.report.exit == Exit::kError) return Exit::kError;
  const auto& daemon = host_status.daemon;
  const bool wrong =
      view.has(Status::kDiffers) || view.has(Status::kFailed) || view.daemon_missing() || view.degraded() ||
      (host_status.applied_state && host_status.applied_state->refused) ||
      (daemon && (!daemon->contended.empty() || !daemon->refused.empty() || !daemon->failing.empty()));
  if (wrong) return Exit::kDiffers;
  const bool waits = view.has(Status::kPending) || view.has(Status::kLimited) || view.has(Status::kUnmet) ||
                     (host_status.applied_state && host_status.applied_state->unconfirmed);
  return waits ? Exit::kPartly : Exit::kOk;
}

Json json_of(const StatusView& view, int status) {
  const auto& host_status = view.host_status;
  auto out = head(kStatusSchema, "status", host_status.report, status);
  out["summary"] = summary_json(host_status.report);
  out["summary"]["contended"] = host_status.daemon ? host_status.daemon->contended.size() : 0;
  if (const auto& daemon = host_status.daemon) {
    out["daemon"] = {
        {"version", daemon->version},
        {"state", daemon->state},
        {"refused", daemon->refused},
        {"failing", daemon->failing},
        {"repairs", daemon->repairs},
        {"last_repair", daemon->last_repair.empty() ? Json(nullptr) : Json(daemon->last_repair)}};
  } else {
    out["daemon"] = nullptr;
  }
  out["withdrawn"] = view.withdrawn;
  out["degraded"] = view.degraded();
  out["generation"] = nullptr;
  out["unconfirmed"] = nullptr;
  out["document"] = nullptr;
  if (const auto& applied_state = host_status.applied_state) {
    if (const auto& active = applied_state->active) {
      out["generation"] = {
          {"number", active->number}, {"when", active->when}, {"who", active->who}, {"what", active->what}};
    }
    if (const auto& waiting = applied_state->unconfirmed) {
      out["unconfirmed"] = {{"generation", waiting->generation},
                            {"deadline", waiting->deadline},
                            {"seconds_left", (applied_state->left.count() + 999) / 1000}};
    }
    if (host_status.document) {
      Json files = Json::array();
      for (const auto& file : host_status.document->files) files.push_back(file.name);
      const auto known = [&](bool flag) { return applied_state->compared ? Json(flag) : Json(nullptr); };
      out["document"] = {{"files", std::move(files)},
                         {"active", known(applied_state->is_active)},
                         {"rolled_back", known(applied_state->refused)}};
    }
  }
  Json resources = Json::array(), contended = Json::array();
  for (const auto* resource : view.open) resources.push_back(resource_json(*resource));
  if (host_status.daemon) {
    for (const auto& [kind, id, why] : host_status.daemon->contended)
      contended.push_back({{"kind", kind}, {"id", id}, {"reason", why}});
  }
  out["resources"] = std::move(resources);
  out["contended"] = std::move(contended);
  out["notes"] = model::note_texts(host_status.report.notes);
  return out;
}

using Row = std::pair<std::string, Cell>;

std::string document_text(const HostStatus& host_status) {
  if (host_status.none)
    return host_status.applied_state && host_status.applied_state->gone ? "none any more" : "none";
  if (!host_status.document) return "cannot be read";
  const auto& files = host_status.document->files;
  auto text = files.empty() ? std::string("empty") : files.front().name;
  if (files.size() > 1) text += fmt::format(" and {}", count(files.size() - 1, "more file"));
  if (model::has_errors(host_status.document->diagnostics)) return text + ", with errors";
  const auto& applied_state = host_status.applied_state;
  if (!applied_state || !applied_state->compared || applied_state->lost) return text;
  if (applied_state->refused) return text + ", rolled back";
  if (!applied_state->active) return text + ", not applied yet";
  return text + (applied_state->is_active ? ", applied" : ", changed since it was applied");
}

void add_daemon(const StatusView& view, std::vector<Row>& rows) {
  const auto& daemon = view.host_status.daemon;
  if (view.withdrawn) {
    rows.emplace_back("daemon", Cell{"withdrawn: rdma-configd does not manage this host", Style::kNotice});
  } else if (!daemon) {
    rows.emplace_back("daemon", Cell{"not running", view.daemon_missing() ? Style::kBad : Style::kDim});
  } else {
    const bool well = daemon->state == "idle" || daemon->state == "working";
    rows.emplace_back("daemon", Cell{fmt::format("{}, version {}", daemon->state, daemon->version),
                                     well ? Style::kGood : Style::kNotice});
    if (!daemon->refused.empty()) rows.emplace_back("refused", Cell{daemon->refused, Style::kBad});
    if (!daemon->failing.empty()) rows.emplace_back("failing", Cell{daemon->failing, Style::kBad});
  }
}

void add_open(const StatusView& view, std::vector<Row>& rows) {
  for (const auto status :
       {Status::kFailed, Status::kDiffers, Status::kUnmet, Status::kPending, Status::kLimited}) {
    std::vector<std::string> lines;
    std::set<std::string> said;
    for (const auto* resource : view.open) {
      if (resource->status != status) continue;
      const auto label = resource->label.empty() ? resource->key.id : resource->label;
      auto text = resource->reason.empty() ? fmt::format("{} ({})", label, resource->key.kind)
                                           : fmt::format("{}: {}", label, resource->reason);
      if (said.insert(text).second) lines.push_back(std::move(text));
    }
    const auto more = lines.size() > kMostLines ? lines.size() - kMostLines : 0;
    if (more > 0) lines.resize(kMostLines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      rows.emplace_back(i == 0 ? std::string(model::text_of(status)) : "",
                        Cell{lines[i], i == 0 ? style_of(status) : style_of(status)});
    }
    if (more > 0) rows.emplace_back("", Cell{fmt::format("and {} more", more), Style::kDim});
  }
  if (!view.host_status.daemon) return;
  bool first = true;
  for (const auto& [kind, id, why] : view.host_status.daemon->contended) {
    rows.emplace_back(std::exchange(first, false) ? "contended" : "",
                      Cell{fmt::format("{} {}: {}", kind, id, why), Style::kBad});
  }
}

std::string resources_text(const model::Report& report) {
  const auto tally = tally_of(report.resources);
  std::vector<std::string> parts;
  const auto add = [&](int number, const char* what) {
    if (number > 0) parts.push_back(fmt::format("{} {}", number, what));
  };
  add(tally.in_sync, "in sync");
  add(tally.failed, "failed");
  add(tally.differs, "differing");
  add(tally.unmet, "unmet");
  add(tally.pending, "pending");
  add(tally.limited, "limited");
  return parts.empty() ? "none in the document" : base::join(parts, ", ");
}

std::pair<std::string_view, Style> headline(const model::Report& report, Exit exit) {
  if (exit == Exit::kPartly && model::has_status(report, Status::kUnmet))
    return {"an expectation is not met", Style::kBad};
  const bool nothing = std::all_of(report.resources.begin(), report.resources.end(),
                                   [](const auto& resource) { return resource.status == Status::kForeign; });
  switch (exit) {
    case Exit::kOk:
      if (nothing) return {"nothing is configured", Style::kNotice};
      return {"everything matches the document", Style::kGood};
    case Exit::kPartly:
      return {"something is waiting", Style::kNotice};
    case Exit::kError:
      return {"the host could not be compared with the document", Style::kBad};
    default:
      return {"something is wrong", Style::kBad};
  }
}

void print(const Context& context, const StatusView& view, Exit exit) {
  const auto& host_status = view.host_status;
  const auto& look = context.out;
  const auto now = std::chrono::system_clock::now();
  std::vector<Row> rows;
  add_daemon(view, rows);
  rows.emplace_back("document", Cell{document_text(host_status)});
  if (host_status.applied_state && host_status.applied_state->active) {
    const auto& active = *host_status.applied_state->active;
    rows.emplace_back("generation",
                      Cell{fmt::format("{}, applied {} by {} ({})", active.number,
                                       core::local_time(active.when, now), active.who, active.what)});
  } else if (host_status.applied_state && host_status.applied_state->lost) {
    rows.emplace_back("generation", Cell{"not known: its record is damaged", Style::kBad});
  } else if (host_status.applied_state) {
    rows.emplace_back("generation", Cell{"none: nothing has been applied yet", Style::kDim});
  }
  if (host_status.applied_state && host_status.applied_state->unconfirmed) {
    const auto& waiting = *host_status.applied_state->unconfirmed;
    rows.emplace_back("unconfirmed", Cell{fmt::format("generation {}, {} left (until {})", waiting.generation,
                                                      core::spoken(host_status.applied_state->left),
                                                      core::local_time(waiting.deadline, now)),
                                          Style::kNotice});
  }
  if (exit != Exit::kError) {
    rows.emplace_back("resources", Cell{resources_text(host_status.report)});
    add_open(view, rows);
  }
  if (host_status.daemon && host_status.daemon->repairs > 0) {
    const auto& last = host_status.daemon->last_repair;
    const auto blank = last.find(' ');
    rows.emplace_back("repairs", Cell{fmt::format("{}, the last at {}:{}", host_status.daemon->repairs,
                                                  core::local_time(last.substr(0, blank), now),
                                                  blank == std::string::npos ? "" : last.substr(blank))});
  }
  Table table{{{""}, {""}, {"", 0, true}}, {}};
  for (auto& [name, cell] : rows) table.rows.push_back({{" "}, {name, Style::kDim}, cell});
  const auto [text, style] = headline(host_status.report, exit);
  context.environment.out << look.paint(text, style) << '\n' << render_table(table, look);
}

}  // namespace

int status(const Context& context) {
  if (context.offline()) {
    return refuse(context, {base::Code::kInvalid,
                            "status cannot be combined with --root: it describes the running system; for an "
                            "image use `diff --root`",
                            0});
  }
  if (context.arguments.timeout)
    context.environment.give_up_after(std::chrono::seconds(*context.arguments.timeout));
  const auto host = context.environment.host("/");
  StatusView view{.host_status = host_status_of(context, *host), .open = {}};
  const auto mark = host->files.read(core::kWithdrawnMark);
  view.withdrawn = mark && mark->has_value();
  auto& report = view.host_status.report;
  for (const auto& resource : report.resources) {
    if (is_open(resource.status)) view.open.push_back(&resource);
  }
  report.exit = judge(view);
  if (const auto& state = view.host_status.applied_state) {
    for (auto& note : core::notes_of(*state)) report.notes.push_back(std::move(note));
  }
  const int status = status_of(context, report);
  if (context.arguments.json) {
    emit(context, json_of(view, status));
    return status;
  }
  if (report.exit == Exit::kError && view.host_status.document && !context.arguments.quiet)
    tell(context, *view.host_status.document, report.diagnostics);
  if (report.error) context.say_error(report.error->message);
  if (context.arguments.names) {
    const auto contended = view.host_status.daemon ? view.host_status.daemon->contended.size() : 0;
    context.environment.out << headline(report, report.exit).first << ": " << resources_text(report)
                            << (contended > 0 ? fmt::format(", {} contended", contended) : std::string())
                            << '\n';
    return status;
  }
  if (!context.arguments.quiet) print(context, view, report.exit);
  // Facts in the lines above are not repeated.
  const bool counts_down = view.host_status.applied_state && view.host_status.applied_state->unconfirmed;
  for (const auto& note : report.notes) {
    if (!counts_down || note.sort == model::Note::Sort::kDamage) context.say(note.text);
  }
  return status;
}

}  // namespace rdmacfg::ctl
