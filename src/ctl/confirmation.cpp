// SPDX-License-Identifier: Apache-2.0
// Keeps administrators from cutting themselves off: the question after an apply, and a warning before it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "core/applied_state.hpp"
#include "core/guards/removal.hpp"
#include "ctl/changing.hpp"
#include "ctl/render/terminal.hpp"
#include "kinds/kind.hpp"
#include "kinds/mounts.hpp"
#include "kinds/ports/link_of_change.hpp"
#include "system/linux/dbus/bus_limits.hpp"

namespace rdmacfg::ctl {

namespace {

constexpr std::chrono::milliseconds kTick{1000};
/// After the deadline: an undo may have systemd read its unit files, and services that hang take up to 25 s
/// each.
constexpr auto kUndo = system::BusLimits::kReload + std::chrono::seconds(60);
constexpr auto kTicksToUndo = kUndo / kTick;

kinds::Traits traits_of(const model::Change& change) {
  const auto* kind = kinds::find(change.key.kind);
  return kind == nullptr ? kinds::Traits() : kind->traits();
}

/// The address of this host that an ssh client is connected to: "client port server port" (ssh(1)).
std::optional<model::IpAddress> session_address(const Context& context) {
  const auto connection = context.environment.variable("SSH_CONNECTION");
  const auto words = base::split(connection, ' ');
  if (words.size() != 4) return std::nullopt;
  auto text = words[2].substr(0, words[2].find('%'));
  constexpr std::string_view kMapped = "::ffff:";
  if (text.starts_with(kMapped)) text.remove_prefix(kMapped.size());
  const auto parsed = model::IpAddress::parse(text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

bool stops(const model::Change& change) {
  return !change.interrupts.empty() || change.operation == model::Operation::kDelete;
}

/// An interface that keeps running meanwhile (Linux 6.2 and later).
bool renames(const model::Change& change) {
  if (!traits_of(change).names_interface) return false;
  const auto now = model::text_at(change.before, "name"), then = model::text_at(change.after, "name");
  return !now.empty() && !then.empty() && now != then;
}

/// A warning where a plan interrupts the way to the host's own file systems, else empty. A backend that the
/// document drops says nothing of that: NetworkManager does not get such an interface back for now.
std::string root_interrupted(system::Host& host, const model::Report& plan) {
  const auto interrupts = [](const model::Change& change) {
    return traits_of(change).spares_root ? !change.interrupts.empty() : stops(change);
  };
  if (std::none_of(plan.plan.changes.begin(), plan.plan.changes.end(), interrupts)) return {};
  const auto servers = kinds::observe_root_servers(host);
  if (servers.empty()) return {};
  const auto indexes = kinds::interfaces_to(servers, host);
  const auto links = system::observe_links(host);
  if (!indexes || !links) return {};
  std::vector<std::string> names;
  for (const auto& link : *links) {
    const bool hit = std::any_of(plan.plan.changes.begin(), plan.plan.changes.end(), [&](const auto& change) {
      return interrupts(change) && kinds::is_about_link(change, traits_of(change), link, *links);
    });
    if (hit && indexes->contains(link.index)) names.push_back(link.name);
  }
  if (names.empty()) return {};
  return fmt::format(
      "this host reaches its own file systems ({} of {}) over {}, which is interrupted: programs block until "
      "it returns, possibly including the one that restores it",
      servers.front().where, servers.front().peer.text(), base::join(names, ", "));
}

}  // namespace

void add_removal_warning(const Context& context, const config::Document& document, system::Host& host,
                         model::Report& plan) {
  if (context.offline() || context.arguments.apply.allow_removal || plan.exit == model::Exit::kError) return;
  if (auto warning = core::removal_warning(document, plan, host); !warning.message.empty())
    plan.diagnostics.push_back(std::move(warning));
  if (auto warning = root_interrupted(host, plan); !warning.empty()) {
    plan.diagnostics.push_back({model::Severity::kWarning,
                                {},
                                std::move(warning),
                                "set this in the initramfs or at boot, or with a console at hand",
                                {}});
  }
}

void warn_of_session(const Context& context, system::Host& host, const model::Report& plan) {
  if (context.offline()) return;
  if (const auto warning = root_interrupted(host, plan); !warning.empty())
    context.environment.err << hanging_paragraph("warning", Style::kBad, warning, context.err, 0);
  const auto address = session_address(context);
  if (!address) return;
  const auto there = host.inet.observe_addresses();
  const auto links = system::observe_links(host);
  if (!there || !links) return;
  const auto at = std::find_if(there->begin(), there->end(),
                               [&](const auto& held) { return held.prefix.address == *address; });
  if (at == there->end()) return;
  const auto link = std::find_if(links->begin(), links->end(),
                                 [&](const auto& candidate) { return candidate.index == at->index; });
  if (link == links->end()) return;
  const auto hit = [&](const auto& how) {
    return std::any_of(plan.plan.changes.begin(), plan.plan.changes.end(), [&](const auto& change) {
      return how(change) && kinds::is_about_link(change, traits_of(change), *link, *links);
    });
  };
  std::string what;
  if (hit(stops)) {
    what = "which is interrupted";
  } else if (hit(renames)) {
    what = "which is renamed: firewall rules for its old name no longer apply";
  } else {
    return;
  }
  const auto advice =
      context.arguments.confirm
          ? std::string(
                "if you are cut off, the changes are rolled back when the confirmation deadline passes")
          : std::string("with --confirm 5m the changes are rolled back if you are cut off");
  context.environment.err << hanging_paragraph(
      "warning", Style::kBad,
      fmt::format("this ssh session comes in through {} ({}), {}; {}", link->name, address->text(), what,
                  advice),
      context.err, 0);
}

namespace {

/// An apply that waits for confirmation, as the ledger has it from one look to the next.
struct PendingConfirmation {
  enum class State { kWaits, kOverdue, kKept, kTakenBack, kUnknown };
  core::Unconfirmed unconfirmed;
  std::chrono::milliseconds left{0};
  State state = State::kWaits;

  void look(system::Host& host) {
    const auto ledger = core::read_ledger(host.files, core::GenerationPaths());
    left = std::chrono::milliseconds(0);
    if (!ledger) {
      state = State::kUnknown;
    } else if (ledger->unconfirmed && ledger->unconfirmed->generation == unconfirmed.generation) {
      left = core::time_left(*ledger, host.boot_id, core::system_clock()).value_or(left);
      state = left.count() > 0 ? State::kWaits : State::kOverdue;
    } else {
      state = is_kept(*ledger) ? State::kKept : State::kTakenBack;
    }
  }

 private:
  [[nodiscard]] bool is_kept(const core::Ledger& ledger) const {
    // Applied once more, it stays active either way; confirming it leaves an answer.
    if (unconfirmed.again()) return !ledger.answered.empty();
    const auto* generation = ledger.find(unconfirmed.generation);
    return generation != nullptr && generation->fate.empty();
  }
};

/// Waits for the rollback. @return the exit status, true of what the ledger says then
int await_end(const Context& context, system::Host& host, PendingConfirmation pending, int status) {
  using State = PendingConfirmation::State;
  if (pending.state == State::kOverdue) {
    context.say("not confirmed in time: the changes are being rolled back");
    for (std::chrono::milliseconds::rep ticks = 0; ticks < kTicksToUndo && pending.state == State::kOverdue;
         ++ticks) {
      context.environment.sleep(kTick);
      pending.look(host);
    }
  }
  if (pending.state == State::kKept) {
    context.say("another session has confirmed the changes");
    return status;
  }
  if (pending.state == State::kTakenBack) {
    context.say("the changes were rolled back; see `rdma-configctl history`");
    return static_cast<int>(model::Exit::kUndone);
  }
  context.say("cannot tell whether the changes were rolled back; see `rdma-configctl status`");
  return static_cast<int>(model::Exit::kUndoIncomplete);
}

}  // namespace

int ask_to_keep(const Context& context, system::Host& host, int status) {
  auto& environment = context.environment;
  const auto ledger = core::read_ledger(host.files, core::GenerationPaths());
  if (!ledger || !ledger->unconfirmed)
    return status;  // nothing was changed, or somebody has answered already
  PendingConfirmation pending{*ledger->unconfirmed};
  pending.look(host);
  const auto until = core::local_time(pending.unconfirmed.deadline, std::chrono::system_clock::now());
  const auto then = [&](const char* command, int (*run)(const Context&)) {
    Context other{environment, context.arguments, context.out, context.err};
    other.arguments.command = command;
    other.arguments.words.clear();
    other.arguments.config.clear();
    other.arguments.confirm.reset();
    other.arguments.yes = true;
    return run(other);
  };
  while (pending.state == PendingConfirmation::State::kWaits) {
    environment.err << kClearLine
                    << context.err.paint(fmt::format("Keep these changes? [y/n] {} left, until {}: ",
                                                     core::spoken(pending.left), until),
                                         Style::kBold)
                    << std::flush;
    if (environment.readable(std::min(kTick, pending.left))) {
      std::string answer;
      if (!std::getline(environment.in, answer)) break;
      answer = base::lower(base::trim(answer));
      if (answer == "y" || answer == "yes") return then("confirm", confirm);
      if (answer == "n" || answer == "no") {
        const int back = then("rollback", rollback);
        const bool done =
            back == static_cast<int>(model::Exit::kOk) || back == static_cast<int>(model::Exit::kPartly);
        return done ? static_cast<int>(model::Exit::kUndone) : back;
      }
    }
    pending.look(host);
  }
  environment.err << kClearLine << std::flush;
  if (pending.state != PendingConfirmation::State::kWaits)
    return await_end(context, host, std::move(pending), status);
  context.say(fmt::format(  // nobody can answer here any more
      "not confirmed: the changes are rolled back at {} unless `rdma-configctl confirm` keeps them", until));
  return status;
}

}  // namespace rdmacfg::ctl
