// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/plan.hpp"
#include "core/withdraw.hpp"
#include "ctl/changing.hpp"
#include "ctl/json.hpp"
#include "ctl/render_report.hpp"

namespace rdmacfg::ctl {

using model::Exit;
using model::Report;

namespace {

int finish(const Context& context, const config::Document& document, const Report& report,
           const Report& shown) {
  const int status = status_of(context, report.exit);
  if (context.arguments.json) {
    emit(context, to_json(report, "apply", status));
    return status;
  }
  model::Diagnostics fresh;
  for (const auto& one : report.diagnostics) {
    const bool known = std::any_of(
        shown.diagnostics.begin(), shown.diagnostics.end(),
        [&](const auto& other) { return other.where == one.where && other.message == one.message; });
    if (!known) fresh.push_back(one);
  }
  tell(context, document, fresh);
  if (report.error) context.say_error(report.error->message);
  context.environment.out << render_applied(report, context.out, shown);
  return status;
}

std::string what_of(const Arguments& arguments) {
  return arguments.confirm ? fmt::format("apply --confirm {}", *arguments.confirm) : "apply";
}

bool withdrawn(system::Host& host) {
  const auto mark = host.files.read(core::kWithdrawnMark);
  return mark && mark->has_value();
}

/// After a withdrawal, an apply that somebody asked for puts rdma-configd in charge again.
void take_back_in_charge(system::Host& host, Report& report) {
  if (!withdrawn(host)) return;
  if (const auto done = host.files.remove(core::kWithdrawnMark); !done) {
    report.notes.push_back("still marked as withdrawn: " + done.error().message);
    return;
  }
  report.notes.emplace_back(
      "this host was withdrawn: its rdma-admin files (see rdma-configctl(1), withdraw) can go now, and "
      "`systemctl start rdma-configd` holds it from now on");
}

base::Error moved_on() {
  return {base::Code::kBusy, "the host changed while you were reading: look at the new plan and apply again",
          0};
}

/// Apply itself. `agreed`: the plan that was said yes to, if asked.
int carry_out(const Context& context, const config::Document& document, system::Host& host, Service* service,
              const Report* agreed) {
  const auto& arguments = context.arguments;
  Report shown = agreed != nullptr ? *agreed : Report();
  const auto expect = agreed != nullptr ? core::digest_of(agreed->plan) : std::string();
  bool moved = false;
  const auto begins = [&](const Report& plan) {
    moved = agreed != nullptr && core::digest_of(plan.plan) != expect;
    if (agreed == nullptr && !arguments.json && !arguments.boot) {
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
                                                            .retry = arguments.retry,
                                                            .allow_removal = arguments.allow_removal,
                                                            .expect = expect},
                                                           call);
                                   })
                    : change_here(context, host, begins, [&](core::Context& core) {
                        return past_daemon(context, core, [&] {
                          return core::commit(document, request_of(context, what_of(arguments)), core);
                        });
                      });
  if (!report) return refuse(context, report.error());
  if (report->exit == Exit::kOk || report->exit == Exit::kPartly) take_back_in_charge(host, *report);
  *report = placed(context, std::move(*report));
  report->diagnostics = together(document, *report);
  if (moved) report->error = moved_on();
  return finish(context, document, *report, shown);
}

int look_only(const Context& context, const config::Document& document, const Report& plan) {
  const int status = status_of(context, plan.exit);
  if (context.arguments.json) {
    emit(context, to_json(plan, "apply", status));
    return status;
  }
  tell(context, document, plan.diagnostics);
  if (plan.error) context.say_error(plan.error->message);
  if (plan.exit == Exit::kError) return status;
  context.environment.out << render_diff(plan, context.out, false) << "Dry run: nothing was changed.\n";
  return status;
}

}  // namespace

int apply(const Context& context) {
  const auto& arguments = context.arguments;
  const auto service = arguments.dry_run ? nullptr : service_for(context);
  if (!arguments.dry_run) {
    if (const auto error = obstacle(context, service.get(), !arguments.yes && !arguments.boot))
      return refuse(context, *error);
  }
  if (arguments.confirm && context.offline()) {
    return refuse(context,
                  {base::Code::kInvalid,
                   "--confirm does not go with --root: nothing happens in an image that would have to be "
                   "confirmed",
                   0});
  }
  const auto host = context.environment.host(context.root());
  if (arguments.boot && withdrawn(*host)) return static_cast<int>(Exit::kOk);
  const auto document = load(context);
  if (!document && arguments.boot && document.error().code == base::Code::kNotFound) {
    return static_cast<int>(Exit::kOk);  // installed, but not configured: nothing is wanted of this host
  }
  if (!document) return refuse(context, document.error());
  if (model::has_errors(document->diagnostics)) return finish(context, *document, report_of(*document), {});

  if (!arguments.dry_run && (arguments.yes || arguments.boot))
    return carry_out(context, *document, *host, service.get(), nullptr);

  auto plan = placed(context, core::diff(*document, *host, options_of(context)));
  plan.diagnostics = together(*document, plan);
  if (arguments.dry_run || plan.exit == Exit::kError) return look_only(context, *document, plan);
  tell(context, *document, plan.diagnostics);
  if (!plan.plan.empty()) {
    context.environment.out << render_plan(plan, context.out) << '\n' << std::flush;
    if (!agrees(context, plan)) {
      context.say("nothing was changed");
      return status_of(context, Exit::kError);
    }
  }
  return carry_out(context, *document, *host, service.get(), &plan);
}

}  // namespace rdmacfg::ctl
