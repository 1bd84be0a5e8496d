// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "catalog/all.hpp"
#include "core/applied_state.hpp"
#include "core/plan.hpp"
#include "core/selection.hpp"
#include "ctl/changing.hpp"
#include "ctl/document_file.hpp"
#include "ctl/json.hpp"
#include "ctl/render/render_report.hpp"
#include "kinds/mounts.hpp"
#include "kinds/units.hpp"
#include "withdraw/withdraw.hpp"

namespace rdmacfg::ctl {

using model::Exit;
using model::Report;

namespace {

int finish(const Context& context, const config::Document& document, const Report& report,
           const Report& shown) {
  const int status = status_of(context, report);
  if (context.arguments.json) {
    emit(context, to_json(report, "apply", status));
    return status;
  }
  model::Diagnostics fresh;
  for (const auto& diagnostic : report.diagnostics) {
    const bool known =
        std::any_of(shown.diagnostics.begin(), shown.diagnostics.end(), [&](const auto& other) {
          return other.where == diagnostic.where && other.message == diagnostic.message;
        });
    if (!known) fresh.push_back(diagnostic);
  }
  tell(context, document, fresh);
  if (report.error) context.say_error(report.error->message);
  if (!context.arguments.quiet || report.error)
    context.environment.out << render_applied(report, context.out, shown);
  context.say_open(report);
  return status;
}

std::string what_of(const Arguments& arguments) {
  std::string out = "apply";
  if (arguments.confirm) out += fmt::format(" --confirm {}", *arguments.confirm);
  for (const auto& name : arguments.apply.only) out += " --only " + name;
  return out;
}

/// The rest of a document of which a part was applied.
void note_rest(const Context& context, Report& report) {
  if (!context.arguments.apply.selected) return;
  const auto rest =
      std::count_if(report.resources.begin(), report.resources.end(), [&](const auto& resource) {
        return resource.status == model::Status::kDiffers &&
               !context.arguments.apply.selected->contains(resource.key);
      });
  if (rest > 0)
    report.notes.push_back(fmt::format("{} {} from the active document and {} not selected", rest,
                                       rest == 1 ? "other resource differs" : "other resources differ",
                                       rest == 1 ? "was" : "were"));
}

bool withdrawn(system::Host& host) {
  const auto mark = host.files.read(core::kWithdrawnMark);
  return mark && mark->has_value();
}

/// The host is as asked for, but the next boot goes another way, so the run has failed.
void not_as_asked(Report& report, base::Error error) {
  report.left_over.push_back(error.message);
  report.error = std::move(error);
  report.exit = Exit::kUndoIncomplete;
  report.applied = true;
}

/// After a withdrawal, an apply that somebody asked for puts rdma-configd in charge again.
void take_back_in_charge(system::Host& host, Report& report) {
  if (!withdrawn(host)) return;
  if (const auto done = host.files.remove(core::kWithdrawnMark); !done) {
    not_as_asked(report,
                 done.error().in("applied, but still marked as withdrawn, so the next boot applies nothing"));
    return;
  }
  report.notes.emplace_back(
      "this host was withdrawn: its rdma-admin files (see rdma-configctl(1), withdraw) can go now, and "
      "`systemctl start rdma-configd` enforces the document from now on");
}

base::Error moved_on() {
  return {base::Code::kBusy, "the host changed while you were reading: review the new plan and apply again",
          0};
}

/// The requirements of --install, checked before anything is changed.
std::optional<base::Error> cannot_install(const Context& context, system::Host& host) {
  if (!context.arguments.apply.install) return std::nullopt;
  const auto wrong = [](std::string why) { return base::Error{base::Code::kInvalid, std::move(why), 0}; };
  if (context.arguments.config.size() != 1) {
    return wrong(
        "--install takes one FILE, which becomes /etc/rdma-configd/config.toml: rdma-configctl apply "
        "--install FILE");
  }
  if (context.arguments.dry_run) return wrong("--install and --dry-run cannot be combined");
  if (!context.environment.privileged)
    return base::Error{base::Code::kDenied, "--install writes /etc/rdma-configd: run it with sudo", 0};
  for (const std::string folder : {"/etc", "/run", "/usr/lib"}) {
    const auto names = host.files.list(folder + "/rdma-configd/conf.d");
    if (!names) continue;
    for (const auto& name : *names) {
      if (!name.starts_with('.') && name.ends_with(".toml")) {
        return wrong(
            fmt::format("--install: {}/rdma-configd/conf.d/{} would be merged with the file; remove it, or "
                        "put the file there yourself",
                        folder, name));
      }
    }
  }
  return std::nullopt;
}

/// Makes it permanent, or says that it is not.
void settle_in(const Context& context, const config::Document& document, system::Host& host, Report& report) {
  if (context.arguments.apply.selected) {
    if (document.files.size() == 1 && document.files.front().name.starts_with(core::kSelectionName))
      report.notes.emplace_back(
          "a part of the document is applied: `rdma-configctl diff` shows the rest, which follows with "
          "`rdma-configctl apply`, a reload or the next boot");
    return;
  }
  if (context.own_document() || context.arguments.config.empty()) return;
  if (context.arguments.apply.install) {
    host.files.keep_private(config::is_private(document));  // also where the daemon has applied it
    const auto lock = lock_installed_document(context);
    const auto done = lock ? host.files.write(kMainFile, document.files.front().text)
                           : base::Result<void>(base::fail(lock.error()));
    if (!done) {
      not_as_asked(report,
                   done.error().in("applied, but not installed: the next boot applies the installed file"));
    } else {
      report.notes.push_back(fmt::format("installed as {}", kMainFile));
    }
    return;
  }
  if (context.offline()) return;
  auto own = config::read_files({.root = "/", .file = {}, .host = host_name(context)});
  if (own) {
    const auto system = config::parse_texts(std::move(*own), host_name(context), kinds::grammar());
    if (core::digest_of(system) == core::digest_of(document)) return;
  }
  report.notes.push_back(
      "this is not the document in /etc/rdma-configd, which rdma-configd applies at its next start or "
      "reload: "
      "`rdma-configctl apply --install FILE` makes this one permanent");
}

/// Notes reasons for which the next boot does not make the host so again.
void note_next_boot(const Context& context, system::Host& host, Report& report) {
  if (context.offline()) return;
  const auto unit = kinds::observe_unit(core::kDaemonUnit, host);
  const auto state = unit && *unit ? (*unit)->file : std::string();
  // Files of an unconfirmed apply outlast a reboot, and the daemon takes them back.
  const auto* boot = context.arguments.confirm
                         ? "the next boot neither applies anything nor rolls this apply back"
                         : "the next boot applies nothing";
  // systemctl starts nothing for `unmask --now`: only "enable" has a start (systemctl(1)).
  if (state == "masked") {
    report.notes.push_back(
        fmt::format("{0} is masked, so {1}: `systemctl unmask {0}`, then `systemctl enable --now {0}`",
                    core::kDaemonUnit, boot));
  } else if (state == "disabled" || state == "enabled-runtime") {
    report.notes.push_back(
        fmt::format("{0} is not enabled, so {1}: `systemctl enable --now {0}`", core::kDaemonUnit, boot));
  }
  const auto mounts = kinds::observe_mounts(host.files);
  for (const std::string folder : {"/etc", "/var/lib/rdma-configd"}) {
    const auto memory = kinds::memory_below(folder, mounts);
    if (memory.empty()) continue;
    report.notes.push_back(
        fmt::format("{} is in memory ({}): its files are lost at a reboot; `rdma-configctl apply "
                    "--root DIR` prepares "
                    "the image that the host boots",
                    folder, memory));
    break;
  }
}

/// The deadline in the time zone of whoever reads it; with a question about it, nothing.
void speak_of_deadline(system::Host& host, bool asked, Report& report) {
  const auto ledger = core::read_ledger(host.files, core::GenerationPaths());
  if (!ledger || !ledger->unconfirmed) return;
  const auto is_deadline = [](const model::Note& note) { return note.sort == model::Note::Sort::kDeadline; };
  if (asked) std::erase_if(report.notes, is_deadline);
  const auto& waiting = *ledger->unconfirmed;
  const auto local = core::local_time(waiting.deadline, std::chrono::system_clock::now());
  for (auto& note : report.notes) {
    if (is_deadline(note)) note.text = core::deadline_text(waiting, local);
  }
}

bool can_ask(const Context& context) {
  const auto& environment = context.environment;
  return environment.in_terminal && environment.err_terminal && !context.arguments.json &&
         !context.arguments.yes && !context.arguments.apply.boot;
}

}  // namespace

int apply_agreed(const Context& context, const config::Document& document, system::Host& host,
                 Service* service, const Report* agreed) {
  const auto& arguments = context.arguments;
  Report shown = agreed != nullptr ? *agreed : Report();
  const auto expect = agreed != nullptr ? core::digest_of(agreed->plan) : std::string();
  bool moved = false;
  std::string too_long;
  const auto begins = [&](const Report& plan) {
    if (!arguments.apply.boot) too_long = core::too_long(plan.plan);
    if (!too_long.empty()) return false;
    moved = agreed != nullptr && core::digest_of(plan.plan) != expect;
    if (agreed == nullptr && !arguments.json && !arguments.apply.boot && !arguments.quiet) {
      context.environment.out << render_plan(plan, context.out) << '\n' << std::flush;
      shown = plan;
      shown.diagnostics.clear();
    }
    return !moved;
  };
  auto report = service != nullptr
                    ? change_there(context,
                                   [&](const Service::Call& call) {
                                     return service->apply({.texts = document.files,
                                                            .confirm_s = arguments.confirm.value_or(0),
                                                            .retry = arguments.apply.retry,
                                                            .allow_removal = arguments.apply.allow_removal,
                                                            .expect = expect},
                                                           call);
                                   })
                    : change_here(context, host, begins, [&](core::Context& core) {
                        return past_daemon(context, core, [&] {
                          return core::commit(document, request_of(context, what_of(arguments)), core);
                        });
                      });
  if (!report) return refuse(context, report.error());
  const bool good = report->exit == Exit::kOk || report->exit == Exit::kPartly;
  const bool settles = good && !report->error;
  if (good) take_back_in_charge(host, *report);
  if (settles) settle_in(context, document, host, *report);
  if (settles && !arguments.apply.boot) note_next_boot(context, host, *report);
  if (good) note_rest(context, *report);
  *report = placed(context, std::move(*report));
  report->diagnostics = together(document, *report);
  if (moved) report->error = moved_on();
  if (!too_long.empty()) report->error = base::Error{base::Code::kRefused, too_long, 0};
  const bool ask = arguments.confirm && good && can_ask(context);
  if (arguments.confirm && good) speak_of_deadline(host, ask, *report);
  // In this process the plan was shown before it was carried out.
  if (service != nullptr && agreed == nullptr && !arguments.json && !arguments.quiet) {
    const auto plan = render_plan(*report, context.out);
    if (!plan.empty()) context.environment.out << plan << '\n';
    shown = *report;
    shown.diagnostics.clear();
  }
  const int status = finish(context, document, *report, shown);
  if (!ask) return status;
  const int answer = ask_to_keep(context, host, status);
  const bool kept = answer == static_cast<int>(Exit::kOk);
  return kept && report->exit == Exit::kUndoIncomplete ? status : answer;
}

namespace {

int look_only(const Context& context, const config::Document& document, system::Host& host, Report plan) {
  add_removal_warning(context, document, host, plan);
  const int status = status_of(context, plan);
  if (context.arguments.json) {
    emit(context, to_json(plan, "apply", status));
    return status;
  }
  tell(context, document, plan.diagnostics);
  if (plan.error) context.say_error(plan.error->message);
  if (plan.exit == Exit::kError) return status;
  const bool quiet = context.arguments.quiet;
  if (!quiet || plan.exit != Exit::kOk) context.environment.out << render_diff(plan, context.out);
  if (!quiet) context.environment.out << "Dry run: nothing was changed.\n";
  return status;
}

/// With a document that has no errors of its own.
int apply_document(const Context& context, const config::Document& document, system::Host& host,
                   Service* service) {
  const auto& arguments = context.arguments;
  if (!arguments.dry_run && (arguments.yes || arguments.apply.boot))
    return apply_agreed(context, document, host, service, nullptr);

  auto plan = placed(context, core::diff(document, host, options_of(context)));
  plan.diagnostics = together(document, plan);
  if (arguments.dry_run || plan.exit == Exit::kError)
    return look_only(context, document, host, std::move(plan));
  tell(context, document, plan.diagnostics);
  if (!plan.plan.empty()) {
    context.environment.out << render_plan(plan, context.out) << '\n' << std::flush;
    warn_of_session(context, host, plan);
    if (!agrees(context, plan)) {
      context.say("nothing was changed");
      return status_of(context, Exit::kError);
    }
  }
  return apply_agreed(context, document, host, service, &plan);
}

/// The document that the host is held to; none where nothing is, and below another root.
base::Result<std::optional<config::Document>> held(const Context& context, system::Host& host) {
  if (context.offline()) return std::nullopt;
  const core::GenerationPaths paths;
  const auto ledger = core::read_ledger(host.files, paths);
  if (!ledger) return base::fail(ledger.error());
  if (ledger->active == 0) return std::nullopt;
  auto texts = core::read_texts(host.files, paths, ledger->active);
  if (!texts) return base::fail(texts.error().in(fmt::format("reading generation {}", ledger->active)));
  auto document = core::parse_again(std::move(*texts), host_name(context));
  if (model::has_errors(document.diagnostics))
    return base::fail(base::Code::kInvalid,
                      fmt::format("--only: the active generation {} was written by another version of "
                                  "rdma-configd; apply the whole document once",
                                  ledger->active));
  return document;
}

/// apply --only: the selected entries in the document that is held.
int apply_part(const Context& context, const config::Document& document, system::Host& host) {
  auto planned = placed(context, core::diff(document, host, options_of(context)));
  if (planned.exit == Exit::kError) {
    planned.diagnostics = together(document, planned);
    return look_only(context, document, host, std::move(planned));
  }
  const auto active = held(context, host);
  if (!active) return refuse(context, active.error());
  auto part =
      core::select(document, *active ? &**active : nullptr, planned, host, context.arguments.apply.only);
  if (!part) return refuse(context, part.error());
  Context narrowed = context;
  narrowed.arguments.apply.selected = std::move(part->keys);
  return apply_document(narrowed, part->document, host, nullptr);
}

}  // namespace

int apply(const Context& context) {
  const auto& arguments = context.arguments;
  if (!arguments.apply.only.empty() && (arguments.apply.boot || arguments.apply.install)) {
    return refuse(context,
                  {base::Code::kInvalid,
                   arguments.apply.boot ? "--only and --boot cannot be combined"
                                        : "--only applies a part of a document, --install keeps a whole "
                                          "one: leave one of them out",
                   0});
  }
  const auto service = arguments.dry_run ? nullptr : service_for(context);
  if (!arguments.dry_run) {
    const auto question = arguments.yes || arguments.apply.boot ? Question::kNone : Question::kAsked;
    if (const auto error = obstacle(context, service.get(), question)) return refuse(context, *error);
  }
  if (arguments.confirm && context.offline()) {
    return refuse(context,
                  {base::Code::kInvalid,
                   "--confirm cannot be combined with --root: changes to an image need no confirmation", 0});
  }
  const auto host = context.environment.host(context.root());
  if (arguments.apply.boot && withdrawn(*host)) return static_cast<int>(Exit::kOk);
  if (const auto error = cannot_install(context, *host)) return refuse(context, *error);
  const auto document = load(context);
  if (!document && arguments.apply.boot && document.error().code == base::Code::kNotFound) {
    return static_cast<int>(Exit::kOk);  // installed, but not configured: nothing is wanted of this host
  }
  if (!document) return refuse(context, document.error());
  if (model::has_errors(document->diagnostics)) return finish(context, *document, report_of(*document), {});

  if (!arguments.apply.only.empty()) return apply_part(context, *document, *host);
  return apply_document(context, *document, *host, service.get());
}

}  // namespace rdmacfg::ctl
