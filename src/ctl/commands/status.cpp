// SPDX-License-Identifier: Apache-2.0
// status: is everything as it should be?
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "ctl/json.hpp"
#include "ctl/outlook.hpp"
#include "ctl/render/blocks.hpp"
#include "ctl/render/render_report.hpp"
#include "ctl/render/render_table.hpp"
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

struct Picture {
  Outlook outlook;
  bool withdrawn = false;
  std::vector<const model::ResourceReport*> open;  ///< what is not as wanted

  [[nodiscard]] bool has(Status status) const {
    return std::any_of(open.begin(), open.end(), [&](const auto* one) { return one->status == status; });
  }
  /// Records of ours were damaged: somebody has to look at the disk, and then apply.
  [[nodiscard]] bool degraded() const {
    return !outlook.report.damage.empty() || (outlook.standing && !outlook.standing->damage.empty());
  }
  [[nodiscard]] bool daemon_missing() const {
    return !withdrawn && !outlook.daemon && outlook.standing && outlook.standing->active;
  }
};

Exit judge(const Picture& picture) {
  const auto& outlook = picture.outlook;
  if (outlook.report.exit == Exit::kError) return Exit::kError;
  const auto& daemon = outlook.daemon;
  const bool wrong =
      picture.has(Status::kDiffers) || picture.has(Status::kFailed) || picture.daemon_missing() ||
      picture.degraded() || (outlook.standing && outlook.standing->refused) ||
      (daemon && (!daemon->contended.empty() || !daemon->refused.empty() || !daemon->failing.empty()));
  if (wrong) return Exit::kDiffers;
  const bool waits = picture.has(Status::kPending) || picture.has(Status::kLimited) ||
                     picture.has(Status::kUnmet) || (outlook.standing && outlook.standing->unconfirmed);
  return waits ? Exit::kPartly : Exit::kOk;
}

Json json_of(const Picture& picture, int status) {
  const auto& outlook = picture.outlook;
  auto out = head(kStatusSchema, "status", outlook.report, status);
  out["summary"] = summary_json(outlook.report);
  out["summary"]["contended"] = outlook.daemon ? outlook.daemon->contended.size() : 0;
  if (const auto& daemon = outlook.daemon) {
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
  out["withdrawn"] = picture.withdrawn;
  out["degraded"] = picture.degraded();
  out["generation"] = nullptr;
  out["unconfirmed"] = nullptr;
  out["document"] = nullptr;
  if (const auto& standing = outlook.standing) {
    if (const auto& active = standing->active) {
      out["generation"] = {
          {"number", active->number}, {"when", active->when}, {"who", active->who}, {"what", active->what}};
    }
    if (const auto& waiting = standing->unconfirmed) {
      out["unconfirmed"] = {{"generation", waiting->generation},
                            {"deadline", waiting->deadline},
                            {"seconds_left", (standing->left.count() + 999) / 1000}};
    }
    if (outlook.document) {
      Json files = Json::array();
      for (const auto& file : outlook.document->files) files.push_back(file.name);
      const auto known = [&](bool flag) { return standing->compared ? Json(flag) : Json(nullptr); };
      out["document"] = {{"files", std::move(files)},
                         {"active", known(standing->is_active)},
                         {"rolled_back", known(standing->refused)}};
    }
  }
  Json resources = Json::array(), contended = Json::array();
  for (const auto* one : picture.open) resources.push_back(resource_json(*one));
  if (outlook.daemon) {
    for (const auto& [kind, id, why] : outlook.daemon->contended)
      contended.push_back({{"kind", kind}, {"id", id}, {"reason", why}});
  }
  out["resources"] = std::move(resources);
  out["contended"] = std::move(contended);
  out["notes"] = outlook.report.notes;
  return out;
}

using Row = std::pair<std::string, Cell>;

std::string document_text(const Outlook& outlook) {
  if (outlook.none) return outlook.standing && outlook.standing->gone ? "none any more" : "none";
  if (!outlook.document) return "cannot be read";
  const auto& files = outlook.document->files;
  auto text = files.empty() ? std::string("empty") : files.front().name;
  if (files.size() > 1) text += fmt::format(" and {}", count(files.size() - 1, "more file"));
  if (model::has_errors(outlook.document->diagnostics)) return text + ", with errors";
  const auto& standing = outlook.standing;
  if (!standing || !standing->compared || standing->lost) return text;
  if (standing->refused) return text + ", rolled back";
  if (!standing->active) return text + ", not applied yet";
  return text + (standing->is_active ? ", applied" : ", changed since it was applied");
}

void add_daemon(const Picture& picture, std::vector<Row>& rows) {
  const auto& daemon = picture.outlook.daemon;
  if (picture.withdrawn) {
    rows.emplace_back("daemon", Cell{"withdrawn: this host is its administrator's", Style::kNotice});
  } else if (!daemon) {
    rows.emplace_back("daemon", Cell{"not running", picture.daemon_missing() ? Style::kBad : Style::kDim});
  } else {
    const bool well = daemon->state == "idle" || daemon->state == "working";
    rows.emplace_back("daemon", Cell{fmt::format("{}, version {}", daemon->state, daemon->version),
                                     well ? Style::kGood : Style::kNotice});
    if (!daemon->refused.empty()) rows.emplace_back("refused", Cell{daemon->refused, Style::kBad});
    if (!daemon->failing.empty()) rows.emplace_back("failing", Cell{daemon->failing, Style::kBad});
  }
}

void add_open(const Picture& picture, std::vector<Row>& rows) {
  for (const auto status :
       {Status::kFailed, Status::kDiffers, Status::kUnmet, Status::kPending, Status::kLimited}) {
    std::vector<std::string> lines;
    std::set<std::string> said;
    for (const auto* one : picture.open) {
      if (one->status != status) continue;
      const auto label = one->label.empty() ? one->key.id : one->label;
      auto text = one->reason.empty() ? fmt::format("{} ({})", label, one->key.kind)
                                      : fmt::format("{}: {}", label, one->reason);
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
  if (!picture.outlook.daemon) return;
  bool first = true;
  for (const auto& [kind, id, why] : picture.outlook.daemon->contended) {
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
                                   [](const auto& one) { return one.status == Status::kForeign; });
  switch (exit) {
    case Exit::kOk:
      if (nothing) return {"nothing is configured", Style::kNotice};
      return {"everything is as the document says", Style::kGood};
    case Exit::kPartly:
      return {"something waits", Style::kNotice};
    case Exit::kError:
      return {"the host could not be compared with the document", Style::kBad};
    default:
      return {"something is wrong", Style::kBad};
  }
}

void print(const Context& context, const Picture& picture, Exit exit) {
  const auto& outlook = picture.outlook;
  const auto& look = context.out;
  const auto now = std::chrono::system_clock::now();
  std::vector<Row> rows;
  add_daemon(picture, rows);
  rows.emplace_back("document", Cell{document_text(outlook)});
  if (outlook.standing && outlook.standing->active) {
    const auto& active = *outlook.standing->active;
    rows.emplace_back("generation",
                      Cell{fmt::format("{}, applied {} by {} ({})", active.number,
                                       core::local_time(active.when, now), active.who, active.what)});
  } else if (outlook.standing && outlook.standing->lost) {
    rows.emplace_back("generation", Cell{"not known: its record is damaged", Style::kBad});
  } else if (outlook.standing) {
    rows.emplace_back("generation", Cell{"none: nothing has been applied yet", Style::kDim});
  }
  if (outlook.standing && outlook.standing->unconfirmed) {
    const auto& waiting = *outlook.standing->unconfirmed;
    rows.emplace_back("unconfirmed", Cell{fmt::format("generation {}, {} left (until {})", waiting.generation,
                                                      core::spoken(outlook.standing->left),
                                                      core::local_time(waiting.deadline, now)),
                                          Style::kNotice});
  }
  if (exit != Exit::kError) {
    rows.emplace_back("resources", Cell{resources_text(outlook.report)});
    add_open(picture, rows);
  }
  if (outlook.daemon && outlook.daemon->repairs > 0) {
    const auto& last = outlook.daemon->last_repair;
    const auto blank = last.find(' ');
    rows.emplace_back("repairs", Cell{fmt::format("{}, the last at {}:{}", outlook.daemon->repairs,
                                                  core::local_time(last.substr(0, blank), now),
                                                  blank == std::string::npos ? "" : last.substr(blank))});
  }
  Table table{{{""}, {""}, {"", 0, true}}, {}};
  for (auto& [name, cell] : rows) table.rows.push_back({{" "}, {name, Style::kDim}, cell});
  const auto [text, style] = headline(outlook.report, exit);
  context.environment.out << look.paint(text, style) << '\n' << render_table(table, look);
}

}  // namespace

int status(const Context& context) {
  if (context.offline()) {
    return refuse(context, {base::Code::kInvalid,
                            "status looks at the running system; for an image there is `diff --root`", 0});
  }
  if (context.arguments.timeout)
    context.environment.give_up_after(std::chrono::seconds(*context.arguments.timeout));
  const auto host = context.environment.host("/");
  Picture picture{outlook_of(context, *host), false, {}};
  const auto mark = host->files.read(core::kWithdrawnMark);
  picture.withdrawn = mark && mark->has_value();
  auto& report = picture.outlook.report;
  for (const auto& one : report.resources) {
    if (is_open(one.status)) picture.open.push_back(&one);
  }
  report.exit = judge(picture);
  if (picture.outlook.standing) {
    for (auto& note : core::notes_of(*picture.outlook.standing)) report.notes.push_back(std::move(note));
  }
  const int status = status_of(context, report);
  if (context.arguments.json) {
    emit(context, json_of(picture, status));
    return status;
  }
  if (report.exit == Exit::kError && picture.outlook.document && !context.arguments.quiet)
    tell(context, *picture.outlook.document, report.diagnostics);
  if (report.error) context.say_error(report.error->message);
  if (context.arguments.names) {
    const auto contended = picture.outlook.daemon ? picture.outlook.daemon->contended.size() : 0;
    context.environment.out << headline(report, report.exit).first << ": " << resources_text(report)
                            << (contended > 0 ? fmt::format(", {} contended", contended) : std::string())
                            << '\n';
    return status;
  }
  if (!context.arguments.quiet) print(context, picture, report.exit);
  // Facts in the lines above are not repeated.
  const bool counts_down = picture.outlook.standing && picture.outlook.standing->unconfirmed;
  for (const auto& note : report.notes) {
    if (!counts_down || note.starts_with("DEGRADED: ")) context.say(note);
  }
  return status;
}

}  // namespace rdmacfg::ctl
