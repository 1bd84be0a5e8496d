// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iostream>

#include "base/text.hpp"
#include "ctl/blocks.hpp"
#include "ctl/command.hpp"
#include "ctl/json.hpp"
#include "ctl/progress.hpp"
#include "ctl/render_report.hpp"

namespace rdmacfg::ctl {

using model::Exit;
using model::Report;

namespace {

/// Why this run may not begin.
std::optional<base::Error> obstacle(const Context& context) {
  const auto& arguments = context.arguments;
  const auto& environment = context.environment;
  if (arguments.dry_run) return std::nullopt;
  const bool asks = !arguments.yes && !arguments.boot;
  if (asks && (arguments.json || !environment.in_terminal || !environment.err_terminal)) {
    return base::Error{base::Code::kInvalid,
                       arguments.json
                           ? "apply --json cannot ask: add --yes to apply, or --dry-run to look"
                           : "there is no terminal to ask on: add --yes to apply, or --dry-run to look",
                       0};
  }
  if (!context.offline() && !environment.privileged) {
    return base::Error{
        base::Code::kDenied,
        "apply changes network interfaces and files below /etc, which takes root: run it with sudo (diff "
        "and --dry-run do without)",
        0};
  }
  return std::nullopt;
}

/// Only a clear yes is one; the end of input is none.
bool ask(const Context& context, const Report& plan) {
  context.environment.err << context.err.paint(fmt::format("Apply {} {}? [y/N] ",
                                                           blocks_of(plan).size() == 1 ? "this" : "these",
                                                           count(blocks_of(plan).size(), "change")),
                                               Style::kBold)
                          << std::flush;
  std::string answer;
  if (!std::getline(context.environment.in, answer)) context.environment.err << '\n';
  answer = base::lower(base::trim(answer));
  return answer == "y" || answer == "yes";
}

/// Whether both plans do the same.
bool alike(const model::Plan& a, const model::Plan& b) {
  return std::equal(a.changes.begin(), a.changes.end(), b.changes.begin(), b.changes.end(),
                    [](const model::Change& one, const model::Change& other) {
                      return one.key == other.key && one.operation == other.operation &&
                             one.before == other.before && one.after == other.after;
                    });
}

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

/// Apply itself, under the lock and with the signals held back. `agreed`: the plan that was said yes to, if
/// asked.
int carry_out(const Context& context, const config::Document& document, system::Host& host,
              const Report* agreed) {
  const auto& environment = context.environment;
  const auto& arguments = context.arguments;
  std::shared_ptr<void> lock;
  if (!context.offline()) {
    auto taken = environment.lock([&](const std::string& holder) {
      context.say(fmt::format("{} is applying; waiting until it has finished", holder));
    });
    if (!taken) return refuse(context, taken.error());
    lock = *taken;
  }
  // An interface that goes down may take the ssh session along that this runs in.
  const auto signals = environment.hold_signals();
  Report shown = agreed != nullptr ? *agreed : Report();
  bool moved = false;
  auto options = options_of(context);
  Report report;
  {
    std::optional<Progress> progress;
    options.confirm = [&](const Report& plan) {
      if (agreed != nullptr) {
        moved = !alike(agreed->plan, plan.plan);
        if (moved) return false;
      } else if (!arguments.json && !arguments.boot) {
        environment.out << render_plan(plan, context.out) << '\n' << std::flush;
        shown = plan;
        shown.diagnostics.clear();
      }
      if (!arguments.json && !arguments.boot) progress.emplace(environment, context.err);
      return true;
    };
    options.progress = [&](std::size_t done, std::size_t total, const std::string& what) {
      if (progress) progress->step(done, total, what);
    };
    report = core::apply(document, host, options);
  }
  report.diagnostics = together(document, report);
  if (moved) {
    report.error = base::Error{base::Code::kBusy,
                               "the host changed while you were reading: look at the new plan and "
                               "apply again",
                               0};
  }
  return finish(context, document, report, shown);
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
  if (const auto error = obstacle(context)) return refuse(context, *error);
  const auto document = load(context);
  if (!document && context.arguments.boot && document.error().code == base::Code::kNotFound) {
    return static_cast<int>(Exit::kOk);  // installed, but not configured: nothing is wanted of this host
  }
  if (!document) return refuse(context, document.error());
  if (model::has_errors(document->diagnostics)) return finish(context, *document, report_of(*document), {});

  const auto host = context.environment.host(context.root());
  const auto& arguments = context.arguments;
  if (!arguments.dry_run && (arguments.yes || arguments.boot))
    return carry_out(context, *document, *host, nullptr);

  auto plan = core::diff(*document, *host, options_of(context));
  plan.diagnostics = together(*document, plan);
  if (arguments.dry_run || plan.exit == Exit::kError) return look_only(context, *document, plan);
  tell(context, *document, plan.diagnostics);
  if (!plan.plan.empty()) {
    context.environment.out << render_plan(plan, context.out) << '\n' << std::flush;
    if (!ask(context, plan)) {
      context.say("nothing was changed");
      return status_of(context, Exit::kError);
    }
  }
  return carry_out(context, *document, *host, &plan);
}

}  // namespace rdmacfg::ctl
