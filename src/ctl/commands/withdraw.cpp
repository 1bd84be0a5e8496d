// SPDX-License-Identifier: Apache-2.0
// withdraw: hands the host over before rdma-configd is removed.
#include "withdraw/withdraw.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "ctl/changing.hpp"
#include "ctl/json.hpp"

namespace rdmacfg::ctl {

using base::Code;
using core::Withdrawal;
using model::Exit;
using Json = nlohmann::ordered_json;

namespace {

std::string render(const Withdrawal& plan, const Terminal& terminal) {
  std::string out;
  const auto heading = [&](std::string_view text) {
    out += (out.empty() ? "" : "\n") + terminal.paint(text, Style::kBold) + '\n';
  };
  bool moved = false, blocks = false;
  for (const auto& file : plan.kept) (file.from == file.to ? blocks : moved) = true;
  if (moved) heading("Kept under another name, as your own file:");
  for (const auto& file : plan.kept) {
    if (file.from != file.to)
      out += fmt::format("  {} {} {}\n", file.from, terminal.utf8 ? "→" : "->",
                         file.to.substr(file.to.rfind('/') + 1));
  }
  if (blocks) heading("Keeps our lines, without the markers around them:");
  for (const auto& file : plan.kept) {
    if (file.from == file.to) out += fmt::format("  {}\n", file.to);
  }
  if (!plan.setup.empty()) heading("Replaces rdma-configd at boot:");
  for (const auto& file : plan.setup) out += fmt::format("  {}  {}\n", file.path, file.what);
  if (!plan.lost.empty()) heading("NOT preserved after the next boot:");
  for (const auto& setting : plan.lost) out += fmt::format("  {}\n", clean(setting, terminal.utf8));
  if (out.empty()) out = "Nothing of rdma-configd is left on this host.\n";
  return out;
}

Json json_of(const Withdrawal& plan, Exit exit) {
  Json kept = Json::array(), setup = Json::array();
  for (const auto& file : plan.kept) kept.push_back({{"from", file.from}, {"to", file.to}});
  for (const auto& file : plan.setup) setup.push_back({{"path", file.path}, {"what", file.what}});
  return {{"schema", kWithdrawalSchema},
          {"command", "withdraw"},
          {"error", nullptr},
          {"exit", {{"status", static_cast<int>(exit)}, {"name", exit == Exit::kOk ? "ok" : "differs"}}},
          {"kept", std::move(kept)},
          {"setup", std::move(setup)},
          {"lost", plan.lost},
          {"notes", plan.notes}};
}

bool says_yes(const Context& context) {
  context.environment.err << context.err.paint("Withdraw? [y/N] ", Style::kBold) << std::flush;
  return reads_yes(context);
}

/// The units that a withdrawal stops; they are started again when nothing was changed after all.
struct Daemon {
  bool withdrawn = false;  ///< the host was withdrawn before
  bool ran = false;

  /// It would put back what goes, and udev would start it again: the mark is there first.
  base::Result<void> stop(system::Host& host) {
    const auto mark = host.files.read(core::kWithdrawnMark);
    withdrawn = !mark || *mark;
    // Below --root: its host finds the mark when it boots.
    if (auto done = host.files.write(core::kWithdrawnMark, "rdma-configctl withdraw\n"); !done) return done;
    if (host.offline) return {};
    (void)host.files.remove(core::kAppliedMark);
    const std::vector<std::string> names{core::kDaemonUnit};
    const auto units = host.units.observe_units(names);
    if (!units) return base::fail(units.error());
    if (!*units || (*units)->empty() || (*units)->front().active == "inactive") return {};
    ran = true;
    return host.units.act(system::UnitAction::kStop, core::kDaemonUnit);
  }

  /// @return what could not be given back
  [[nodiscard]] std::vector<std::string> give_back(system::Host& host) const {
    std::vector<std::string> left;
    const auto mark = withdrawn ? base::Result<void>() : host.files.remove(core::kWithdrawnMark);
    if (!mark)
      left.push_back(
          fmt::format("the host is still marked as withdrawn, so the next boot applies nothing: {}",
                      mark.error().message));
    const auto started =
        ran ? host.units.act(system::UnitAction::kStart, core::kDaemonUnit) : base::Result<void>();
    if (!started)
      left.push_back(fmt::format("{} was stopped and could not be started again: {}", core::kDaemonUnit,
                                 started.error().message));
    return left;
  }
};

/// The document below --root; nothing without one, and on the running system, where what was applied counts.
base::Result<std::optional<config::Document>> image_of(const Context& context) {
  if (!context.offline()) return std::optional<config::Document>{};
  auto document = load(context);
  if (!document && document.error().code == Code::kNotFound) return std::optional<config::Document>{};
  if (!document) return base::fail(document.error());
  if (model::has_errors(document->diagnostics)) {
    tell(context, *document, document->diagnostics);
    return base::fail(Code::kInvalid, "the document has errors, so nothing can be handed over");
  }
  return std::optional(std::move(*document));
}

base::Result<Withdrawal> plan_of(const Context& context, core::Context& core) {
  const auto image = image_of(context);
  if (!image) return base::fail(image.error());
  return core::plan_withdrawal(host_name(context), core, *image ? &**image : nullptr);
}

model::Report run_withdraw(const Context& context, const Withdrawal& shown, core::Context& core) {
  model::Report report;
  const auto now = plan_of(context, core);
  if (!now || *now != shown) {
    report.error =
        now ? base::Error{Code::kBusy, "the host changed while you were reading: review the new list", 0}
            : now.error();
    report.exit = Exit::kError;
    return report;
  }
  if (auto done = core::withdraw(*now, core); !done) {
    report.error = done.error().in("withdrawing (run withdraw again to finish)");
    report.exit = Exit::kUndoIncomplete;
  }
  return report;
}

/// Ends a withdrawal that has changed nothing but the mark and the daemon.
base::Result<model::Report> given_up(const Daemon& daemon, system::Host& host,
                                     base::Result<model::Report> report) {
  auto left = daemon.give_back(host);
  if (left.empty()) return report;
  model::Report out;
  if (report) out = std::move(*report);
  if (!report) out.error = report.error();
  const auto why = out.error ? out.error->message : std::string("nothing was withdrawn");
  out.error = base::Error{Code::kIo, fmt::format("{}; {}", why, base::join(left, "; ")), 0};
  out.left_over = std::move(left);
  out.exit = Exit::kUndoIncomplete;
  return out;
}

base::Result<model::Report> carry_out(const Context& context, system::Host& host, const Withdrawal& shown) {
  Daemon daemon;
  if (auto done = daemon.stop(host); !done) return given_up(daemon, host, base::fail(done.error()));
  auto report = change_here(context, host, nullptr,
                            [&](core::Context& core) { return run_withdraw(context, shown, core); });
  if (!report || report->exit == Exit::kError) return given_up(daemon, host, std::move(report));
  return report;
}

}  // namespace

int withdraw(const Context& context) {
  const auto& arguments = context.arguments;
  if (!arguments.dry_run) {
    const auto question = arguments.yes ? Question::kNone : Question::kAsked;
    if (const auto error = obstacle(context, nullptr, question)) return refuse(context, *error);
  }
  const auto host = context.environment.host(context.root());
  core::Context core{*host, options_of(context)};
  const auto plan = plan_of(context, core);
  if (!plan) return refuse(context, plan.error());
  if (!arguments.json) context.environment.out << render(*plan, context.out) << std::flush;
  if (arguments.dry_run) {
    const auto exit = plan->empty() ? Exit::kOk : Exit::kDiffers;
    if (arguments.json) {
      emit(context, json_of(*plan, exit));
    } else if (!plan->empty()) {
      context.environment.out << "Dry run: nothing was changed.\n";
    }
    return static_cast<int>(exit);
  }
  if (!arguments.yes && !plan->empty() && !says_yes(context)) {
    context.say("nothing was changed");
    return static_cast<int>(Exit::kError);
  }
  const auto report = carry_out(context, *host, *plan);
  if (!report) return refuse(context, report.error());
  if (report->error) {
    if (arguments.json) {
      emit(context, to_json(*report, "withdraw", static_cast<int>(report->exit)));
    } else {
      context.say_error(report->error->message);
    }
    return static_cast<int>(report->exit);
  }
  if (arguments.json) {
    emit(context, json_of(*plan, Exit::kOk));
    return 0;
  }
  context.environment.out
      << (context.offline()
              ? "Withdrawn: the host of this image boots with these files, and rdma-configd applies nothing "
                "there.\n"
              : "Withdrawn: the network is as it was, the daemon is stopped, and nothing is applied at boot "
                "until `rdma-configctl apply`.\n");
  for (const auto& note : plan->notes)
    context.environment.out << "Note: " << clean(note, context.out.utf8) << '\n';
  return 0;
}

}  // namespace rdmacfg::ctl
