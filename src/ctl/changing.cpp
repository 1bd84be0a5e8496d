// SPDX-License-Identifier: Apache-2.0
#include "ctl/changing.hpp"

#include <fmt/format.h>

#include <iostream>

#include "base/text.hpp"
#include "ctl/render/blocks.hpp"
#include "ctl/render/render_report.hpp"
#include "store/damage.hpp"
#include "store/lock.hpp"

namespace rdmacfg::ctl {

using base::Code;
using model::Report;

namespace {

/// Nobody reads progress of a run that is a program's, or of one at boot.
bool tells(const Context& context) { return !context.arguments.json && !context.arguments.apply.boot; }

}  // namespace

std::unique_ptr<Service> service_for(const Context& context) {
  const auto& arguments = context.arguments;
  if (context.offline() || arguments.local || arguments.apply.boot || arguments.rollback.expired ||
      arguments.apply.wait || !arguments.apply.only.empty())
    return nullptr;
  return context.environment.service();
}

std::optional<base::Error> obstacle(const Context& context, const Service* service, Question question) {
  const auto& arguments = context.arguments;
  const auto& environment = context.environment;
  if (question == Question::kAsked &&
      (arguments.json || !environment.in_terminal || !environment.err_terminal)) {
    return base::Error{
        Code::kInvalid,
        arguments.json
            ? fmt::format("{} --json cannot ask: add --yes{}", arguments.command,
                          arguments.command == "apply" ? " to apply, or --dry-run to preview" : "")
            : fmt::format("no terminal to prompt on: add --yes{}",
                          arguments.command == "apply" ? " to apply, or --dry-run to preview" : ""),
        0};
  }
  if (!context.offline() && !environment.privileged && service == nullptr) {
    return base::Error{
        Code::kDenied,
        fmt::format(
            "{} changes network interfaces and files below /etc, which requires root: run it with sudo{}",
            arguments.command,
            arguments.command == "apply"      ? " (diff and --dry-run do not)"
            : arguments.command == "withdraw" ? " (--dry-run does not)"
                                              : ""),
        0};
  }
  return std::nullopt;
}

bool reads_yes(const Context& context) {
  std::string answer;
  if (!std::getline(context.environment.in, answer)) context.environment.err << '\n';
  answer = base::lower(base::trim(answer));
  return answer == "y" || answer == "yes";
}

bool agrees(const Context& context, const Report& plan) {
  const auto changes = blocks_of(plan).size();
  context.environment.err << context.err.paint(
                                 fmt::format("Apply {} {}? [y/N] ", changes == 1 ? "this" : "these",
                                             count(changes, "change")),
                                 Style::kBold)
                          << std::flush;
  return reads_yes(context);
}

core::Request request_of(const Context& context, std::string action) {
  const auto& environment = context.environment;
  const auto sudo = environment.variable("SUDO_USER");
  std::string who = context.arguments.apply.boot ? "boot" : "root";
  if (environment.privileged && !sudo.empty() && sudo != "root") who = sudo + " (sudo)";
  if (context.arguments.rollback.expired) who = "the timer";
  if (!environment.privileged) who.clear();  // the daemon knows
  return {.who = who,
          .what = std::move(action),
          .host_name = host_name(context),
          .by_itself = context.arguments.apply.boot,
          .confirm =
              context.arguments.confirm
                  ? std::optional(std::chrono::seconds(static_cast<std::int64_t>(*context.arguments.confirm)))
                  : std::nullopt};
}

base::Result<Report> change_here(const Context& context, system::Host& host, const Begins& begins,
                                 const std::function<Report(core::Context&)>& change) {
  const auto& environment = context.environment;
  std::shared_ptr<void> lock;
  auto taken = environment.lock(context.root(), [&](const std::string& holder) {
    if (!context.arguments.json) context.say(core::waits_for(holder));
  });
  if (!taken) return base::fail(taken.error());
  lock = *taken;
  const auto signals = environment.hold_signals();
  const auto precedence = environment.take_precedence();
  core::Context core{host, options_of(context)};
  const bool exposed = !context.offline() && !core::narrow(host.files, core.paths).empty();
  std::optional<Progress> progress;
  core.options.confirm = [&](const Report& plan) {
    if (begins && !begins(plan)) return false;
    if (tells(context)) progress.emplace(environment, context.err);
    return true;
  };
  core.options.progress = [&](std::size_t done, std::size_t total, const std::string& what) {
    if (progress) progress->step(done, total, what);
  };
  auto report = change(core);
  if (exposed) core::tell_damage(host.files, core::narrow(host.files, core.paths), report);
  return report;
}

Report past_daemon(const Context& context, core::Context& core, const std::function<Report()>& change) {
  const auto active = [&core] {
    const auto ledger = core::read_ledger(core.host.files, core.paths);
    return ledger ? ledger->active : 0;
  };
  const auto before = active();
  auto report = change();
  const bool good = report.exit == model::Exit::kOk || report.exit == model::Exit::kPartly;
  if (!good || context.offline() || context.arguments.apply.boot) return report;
  if (report.plan.empty() && active() == before) return report;
  const auto told =
      core.host.files.write(core::kAppliedMark, fmt::format("{}\n", core::system_clock().boot_ms()));
  if (!told)
    report.notes.push_back(
        "a running rdma-configd could not be notified of this apply, and may treat it as drift: " +
        told.error().message);
  return report;
}

base::Result<Report> change_there(const Context& context,
                                  const std::function<base::Result<Report>(const Service::Call&)>& change) {
  std::optional<Progress> progress;
  if (tells(context)) progress.emplace(context.environment, context.err);
  return change({.who = request_of(context, "").who,
                 .progress = [&](std::size_t done, std::size_t total, const std::string& what) {
                   if (progress) progress->step(done, total, what);
                 }});
}

}  // namespace rdmacfg::ctl
