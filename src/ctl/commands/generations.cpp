// SPDX-License-Identifier: Apache-2.0
// confirm, rollback and history.
#include <fmt/format.h>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "core/applied_state.hpp"
#include "ctl/changing.hpp"
#include "ctl/json.hpp"
#include "ctl/render/render_report.hpp"
#include "ctl/render/render_table.hpp"

namespace rdmacfg::ctl {

using base::Code;
using model::Exit;
using model::Report;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kTakenBack = "Done: the host is as it was before that apply.\n";

int finish(const Context& context, const base::Result<Report>& report, const Report& shown = {},
           const std::string& taken_back = {}) {
  if (!report) return refuse(context, report.error());
  const int status = status_of(context, *report);
  if (context.arguments.json) {
    emit(context, to_json(*report, context.arguments.command, status));
    return status;
  }
  if (report->error) context.say_error(report->error->message);
  if (!context.arguments.quiet || report->error)
    context.environment.out << render_applied(*report, context.out, shown, taken_back);
  context.say_open(*report);
  return status;
}

std::optional<base::Error> misplaced(const Context& context) {
  if (!context.offline()) return std::nullopt;
  return base::Error{Code::kInvalid,
                     fmt::format("{} cannot be combined with --root: an image has no generations",
                                 context.arguments.command),
                     0};
}

/// The changes that going back to generation `number` would make.
base::Result<Report> preview(const Context& context, system::Host& host, std::uint64_t number) {
  auto texts = core::read_texts(host.files, core::GenerationPaths(), number);
  if (!texts) return base::fail(texts.error());
  const auto document = core::parse_again(std::move(*texts), context.environment.host_name);
  return core::diff(document, host, options_of(context));
}

/// The timer comes some time before the deadline. While this runs it does not come again; hence a deadline
/// that is near is waited for, also one of an apply that has begun since.
void await_deadline(const Context& context, system::Host& host) {
  constexpr auto kNear = core::kRollbackAhead + std::chrono::seconds(3);
  for (;;) {
    const auto ledger = core::read_ledger(host.files, core::GenerationPaths());
    if (!ledger) return;  // core::expire says why
    const auto left = core::time_left(*ledger, host.boot_id, core::system_clock());
    if (!left || left->count() == 0 || *left > kNear) return;
    context.environment.sleep(*left);
  }
}

/// The ledger; a caller who may not read it asks the daemon.
base::Result<core::Ledger> ledger_of(const Context& context, system::Host& host) {
  auto ledger = core::read_ledger(host.files, core::GenerationPaths());
  if (ledger || ledger.error().code != Code::kDenied || context.arguments.local) return ledger;
  const auto service = context.environment.service();
  if (service != nullptr) return service->history();
  return base::fail(Code::kDenied,
                    "only root may read the history while rdma-configd is not running: use sudo");
}

std::string fate_of(const core::Ledger& ledger, const core::Generation& generation) {
  if (ledger.unconfirmed && ledger.unconfirmed->generation == generation.number)
    return "waits for confirmation until " +
           core::local_time(ledger.unconfirmed->deadline, std::chrono::system_clock::now());
  return generation.number == ledger.active ? "active" : generation.fate;
}

int roll_back_expired(const Context& context, system::Host& host) {
  await_deadline(context, host);
  const auto report = change_here(context, host, nullptr, [&](core::Context& core) {
    return core::expire(request_of(context, "rollback --expired"), core);
  });
  const bool overdue = report && model::has_note(report->notes, model::Note::Sort::kRollback);
  return finish(context, report, {}, overdue ? kTakenBack : "Nothing to do: no apply is overdue.\n");
}

base::Error unreadable_plan(std::uint64_t generation) {
  return {Code::kDenied,
          fmt::format("only root may read generation {}, so its plan cannot be shown: add --yes to go back "
                      "without a preview",
                      generation),
          0};
}

}  // namespace

int confirm(const Context& context) {
  if (const auto error = misplaced(context)) return refuse(context, *error);
  const auto service = service_for(context);
  if (const auto error = obstacle(context, service.get(), Question::kNone)) return refuse(context, *error);
  if (service != nullptr) {
    return finish(context,
                  change_there(context, [&](const Service::Call& call) { return service->confirm(call); }));
  }
  const auto host = context.environment.host("/");
  return finish(context, change_here(context, *host, nullptr, [&](core::Context& core) {
                  return core::confirm(request_of(context, "confirm"), core);
                }));
}

int rollback(const Context& context) {
  const auto& arguments = context.arguments;
  if (const auto error = misplaced(context)) return refuse(context, *error);
  const auto host = context.environment.host("/");
  if (arguments.rollback.expired) return roll_back_expired(context, *host);
  const auto service = service_for(context);
  const auto ledger = ledger_of(context, *host);
  if (!ledger) return refuse(context, ledger.error());
  const auto number = arguments.rollback.generation.value_or(0);
  const auto target = core::rollback_target(*ledger, number);
  if (!target) return refuse(context, target.error());
  // A generation that has been taken back meanwhile, by somebody else or because its time was over, is not
  // taken back twice.
  const auto from = number == 0 ? ledger->active : 0;
  // To take back what was not confirmed is what was asked for already; there may be little time.
  const bool asks = !arguments.yes && !ledger->unconfirmed;
  const auto question = asks ? Question::kAsked : Question::kNone;
  if (const auto error = obstacle(context, service.get(), question)) return refuse(context, *error);
  const std::string taken_back = ledger->unconfirmed ? kTakenBack : "";
  Report shown;
  if (asks) {
    auto plan = preview(context, *host, *target);
    if (!plan && plan.error().code == Code::kDenied && service != nullptr)
      return refuse(context, unreadable_plan(*target));
    if (!plan) return refuse(context, plan.error());
    shown = std::move(*plan);
    if (!shown.plan.empty()) {
      context.environment.out << render_plan(shown, context.out) << '\n' << std::flush;
      if (!agrees(context, shown)) {
        context.say("nothing was changed");
        return status_of(context, Exit::kError);
      }
    }
  }
  if (service != nullptr) {
    return finish(
        context,
        change_there(context,
                     [&](const Service::Call& call) { return service->roll_back(number, from, call); }),
        shown, taken_back);
  }
  return finish(context,
                change_here(context, *host, nullptr,
                            [&](core::Context& core) {
                              return past_daemon(context, core, [&] {
                                auto request = request_of(context, "rollback");
                                request.from = from;
                                return core::roll_back(number, request, core);
                              });
                            }),
                shown, taken_back);
}

namespace {

/// history show N: the files as they were applied.
int show_generation(const Context& context, std::uint64_t number) {
  const auto host = context.environment.host("/");
  const core::GenerationPaths paths;
  const auto ledger = core::read_ledger(host->files, paths);
  if (!ledger) return refuse(context, ledger.error());
  const auto* generation = ledger->find(number);
  if (generation == nullptr) {
    return refuse(
        context,
        {Code::kNotFound, fmt::format("there is no generation {}; see `rdma-configctl history`", number), 0});
  }
  const auto texts = core::read_texts(host->files, paths, number);
  if (!texts) return refuse(context, texts.error());
  if (context.arguments.json) {
    auto json = head(kDocumentSchema, "history", {}, 0);
    json["generation"] = number;
    json["files"] = Json::array();
    for (const auto& file : texts->files) json["files"].push_back({{"path", file.name}, {"text", file.text}});
    emit(context, std::move(json));
    return 0;
  }
  print_texts(context, texts->files);
  return 0;
}

}  // namespace

void print_texts(const Context& context, const std::vector<config::Text>& texts) {
  auto& out = context.environment.out;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out << (i == 0 ? "" : "\n")
        << context.out.paint("# " + clean(texts[i].name, context.out.utf8), Style::kBold) << '\n';
    for (const auto line : base::split(base::trim(texts[i].text), '\n'))
      out << clean(line, context.out.utf8) << '\n';
  }
}

int history(const Context& context) {
  if (const auto error = misplaced(context)) return refuse(context, *error);
  const auto& words = context.arguments.words;
  if (!words.empty()) {
    const auto number = words.size() == 2 && words[0] == "show" ? base::parse_number(words[1]) : std::nullopt;
    if (!number) {
      std::string why = "history takes no argument, or `show N` with the number of a generation";
      if (words.size() == 1 && base::parse_number(words[0]))
        why += fmt::format("; did you mean `history show {}`?", words[0]);
      return refuse(context, {Code::kInvalid, why, 0});
    }
    return show_generation(context, *number);
  }
  const auto host = context.environment.host("/");
  const auto ledger = ledger_of(context, *host);
  if (!ledger) return refuse(context, ledger.error());
  if (context.arguments.json) {
    Json list = Json::array();
    for (const auto& generation : ledger->generations) {
      list.push_back({{"number", generation.number},
                      {"when", generation.when},
                      {"who", generation.who},
                      {"what", generation.what},
                      {"active", generation.number == ledger->active},
                      {"fate", generation.fate}});
    }
    const auto& waiting = ledger->unconfirmed;
    emit(context,
         {{"schema", kHistorySchema},
          {"command", "history"},
          {"exit", {{"status", 0}, {"name", "ok"}}},
          {"error", nullptr},
          {"summary", {{"generations", ledger->generations.size()}}},
          {"active", ledger->active},
          {"unconfirmed", waiting ? Json{{"generation", waiting->generation}, {"deadline", waiting->deadline}}
                                  : Json(nullptr)},
          {"generations", std::move(list)}});
    return 0;
  }
  if (ledger->generations.empty()) {
    if (!context.arguments.quiet) context.environment.out << "Nothing has been applied yet.\n";
    return 0;
  }
  const auto now = std::chrono::system_clock::now();
  Table table{{{"GENERATION"}, {"WHEN"}, {"WHO"}, {"WHAT"}, {"", 0, true}}, {}};
  for (const auto& generation : ledger->generations) {
    const bool active = generation.number == ledger->active;
    table.rows.push_back({{std::to_string(generation.number), active ? Style::kBold : Style::kPlain},
                          {core::local_time(generation.when, now)},
                          {generation.who},
                          {generation.what},
                          {fate_of(*ledger, generation), active ? Style::kGood : Style::kDim}});
  }
  context.environment.out << render_table(table, context.out);
  return 0;
}

}  // namespace rdmacfg::ctl
