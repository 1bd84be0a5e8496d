// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/srp/srp_initiator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "base/text.hpp"
#include "formats/drop_ins.hpp"
#include "formats/storage/srp_rules.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/package_table.hpp"
#include "kinds/others_file.hpp"
#include "kinds/storage/srp/srp_initiator_parse.hpp"
#include "kinds/storage/srp/srp_session.hpp"
#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Severity;

namespace {

constexpr std::string_view kSrpKind = "srp_initiator";
constexpr std::string_view kSrpId = "rules";
constexpr std::string_view kSrpLabel = "SRP initiator";
const std::string kSrpUnit = "srp_daemon.service";
constexpr std::string_view kSrpInstances = "srp_daemon_port@.service";
constexpr std::size_t kTargetsNamed = 3;
/// In Change::carried: undoing starts it again where the change has ended it.
constexpr std::string_view kSrpRan = "srp_daemon ran";

/// Somebody else's file stays as it is.
std::string rendered_srp_rules(std::string_view text) {
  return is_our_srp_file(text) ? render_srp_rules(parse_srp_rules(text)) : std::string(text);
}

constexpr std::array kSrpFiles{
    OwnedFile{.path = kSrpRulesFile,
              .what = "Targets of the SRP initiator, for srp_daemon.",
              .rendered = rendered_srp_rules},
    OwnedFile{
        .path = kSrpDropIn,
        .what = "Makes srp_daemon read our rules in place of /etc/srp_daemon.conf.",
        .rendered = [](std::string_view text) { return text.empty() ? std::string() : render_srp_drop_in(); },
        .after_write = OwnedFile::AfterWrite::kReloadUnits}};

Result<std::string> content_of(system::Files& files, std::string_view path) {
  const auto text = files.read(std::string(path));
  if (!text) return base::fail(text.error());
  return text->value_or("");
}

bool srp_ran(std::span<const Change> changes) {
  return std::any_of(changes.begin(), changes.end(), [](const Change& change) {
    return !change.origins.empty() &&
           std::find(change.carried.begin(), change.carried.end(), kSrpRan) != change.carried.end();
  });
}

/// Whether a daemon of a port runs on a unit that has other files now.
Result<bool> is_stale(system::Host& host) {
  const auto instances = host.units.observe_instances(std::string(kSrpInstances));
  if (!instances) return base::fail(instances.error());
  if (!*instances || (*instances)->empty()) return false;
  std::vector<std::string> names;
  for (const auto& instance : **instances) names.push_back(instance.name);
  const auto units = host.units.observe_units(names);
  if (!units) return base::fail(units.error());
  return *units && std::any_of((*units)->begin(), (*units)->end(),
                               [](const system::Unit& unit) { return unit.needs_reload; });
}

class SrpInitiatorKind final : public Kind, public NeedsWatching {
 public:
  SrpInitiatorKind()
      : Kind({.name = kSrpKind,
              .fields = model::specs<SrpInitiator>(),
              .traits = {.works_offline = true, .listed_when_foreign = false},
              .files = kSrpFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    const auto initiators = bound.of(kSrpKind), rules = bound.of("srp_rule");
    if (initiators.empty() && rules.empty()) return;
    const auto& section = initiators.empty() ? *rules.front() : *initiators.front();
    auto lines = srp_rules_of(bound, diagnostics);
    if (lines.empty()) {
      diagnostics.push_back({Severity::kWarning,
                             section.where,
                             fmt::format("[{}]: neither a rule nor others is given", section.path),
                             "the entry has no effect",
                             {}});
      return;
    }
    Desired desired;
    desired.key = {std::string(kSrpKind), std::string(kSrpId)};
    desired.label = kSrpLabel;
    desired.where = section.where;
    set_derived(desired, "rules", std::move(lines), section.where);
    set_derived(desired, "in_force", true, section.where);
    out.push_back(std::move(desired));
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto& files = world.host().files;
    const auto rules = content_of(files, kSrpRulesFile);
    if (!rules) return base::fail(rules.error());
    const auto drop_in = content_of(files, kSrpDropIn);
    if (!drop_in) return base::fail(drop_in.error());
    std::vector<Observed> out;
    SrpInitiator now, facts;
    if (is_our_srp_file(*rules)) now.rules = parse_srp_rules(*rules);
    if (*drop_in == render_srp_drop_in()) now.in_force = true;
    if (!now.rules && !now.in_force) return out;
    if (!world.offline()) {
      const auto sessions = observe_srp_sessions(files);
      if (!sessions) return base::fail(sessions.error());
      for (const auto& session : *sessions) {
        if (!facts.logged_in) facts.logged_in.emplace();
        facts.logged_in->push_back(text_of(session));
      }
    }
    out.push_back(observed_in_own_file({std::string(kSrpKind), std::string(kSrpId)}, std::string(kSrpLabel),
                                       model::to_attributes(now), model::to_attributes(facts)));
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    for (auto& resource : desired) {
      if (resource.key.kind != kSrpKind) continue;
      auto& host = world.host();
      refuse_foreign_file(resource, host.files, diagnostics);
      warn_of_own_rules(resource, host.files, diagnostics);
      warn_of_drop_ins(resource, host.files, diagnostics);
      if (world.offline()) continue;
      const auto unit = observe_unit(kSrpUnit, host);
      if (unit && !*unit) {
        postpone(resource, kNoSystemd);
      } else if (unit && !(*unit)->there()) {
        postpone(resource, without_program("srp_daemon", "srptools", host.files));
      }
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    if (changes.empty() || world.offline()) return {};
    const auto unit = observe_unit(kSrpUnit, world.host());
    if (!unit) return base::fail(unit.error());
    for (auto* change : changes) {
      if (*unit && is_up(**unit)) change->carried.emplace_back(kSrpRan);
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<SrpInitiator>(change.after);
      const bool in_force = wanted.rules && !wanted.rules->empty();
      const auto rules = in_force ? render_srp_rules(*wanted.rules) : std::string();
      const auto drop_in = in_force && wanted.in_force == true ? render_srp_drop_in() : std::string();
      // A drop-in without the file that it names would keep the daemon from starting.
      auto changed =
          in_force ? reach_file(kSrpRulesFile, rules, host) : reach_file(kSrpDropIn, drop_in, host);
      if (!changed) return base::fail(changed.error());
      auto other = in_force ? reach_file(kSrpDropIn, drop_in, host) : reach_file(kSrpRulesFile, rules, host);
      if (!other) return base::fail(other.error());
      if (host.offline) continue;
      const bool units = in_force ? *other : *changed;
      if (auto done = tell({.units = units, .rules = *changed || *other, .ran = srp_ran(changes)}, host);
          !done)
        return done;
    }
    return {};
  }

  /// A run that ended between the files and the restart leaves that to be done.
  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    return host.offline ? Result<void>{}
                        : tell({.units = true, .rules = true, .ran = srp_ran(changes)}, host);
  }

  Verdict judge(const Desired& desired, const Observed* observed,
                const std::vector<std::string>& /*differing*/, World& world) const override {
    Verdict verdict;
    if (observed == nullptr || world.offline()) return verdict;
    const auto sessions = observe_srp_sessions(world.host().files);
    const auto wanted = model::from_attributes<SrpInitiator>(desired.settings);
    if (!sessions || !wanted.rules) return verdict;
    const auto missing = not_logged_in(*wanted.rules, *sessions);
    if (missing.empty()) return verdict;
    verdict.sort = Verdict::Sort::kPending;
    verdict.reason =
        fmt::format("not logged in to {}; `rdma-configctl fabric targets` lists what the fabric offers",
                    base::join_first(kTargetsNamed, missing, " and "));
    return verdict;
  }

  void watched(const model::ResourceReport& /*resource*/, system::Settings& out) const override {
    out.units.insert(kSrpUnit);
  }

 private:
  static void refuse_foreign_file(const Desired& resource, system::Files& files, Diagnostics& diagnostics) {
    const auto text = content_of(files, kSrpRulesFile);
    if (!text || text->empty() || is_our_srp_file(*text)) return;
    diagnostics.push_back({Severity::kError,
                           resource.where,
                           fmt::format("{}: exists, and was not written by rdma-configd", kSrpRulesFile),
                           "write its rules as [[srp_rule]], and move it away",
                           {}});
  }

  static void warn_of_own_rules(const Desired& resource, system::Files& files, Diagnostics& diagnostics) {
    const auto text = files.read_linked(std::string(kSrpDaemonFile));
    const int line = text && *text ? first_srp_rule(**text) : 0;
    if (line == 0) return;
    diagnostics.push_back(
        {Severity::kWarning,
         resource.where,
         fmt::format("{}:{}: srp_daemon does not read this rule while the document has its own rules",
                     kSrpDaemonFile, line),
         "write it as an [[srp_rule]] entry, in the right order",
         {}});
  }

  /// Others' drop-ins of the unit by which srp_daemon reads other rules than ours: with `-f`, or as they
  /// reset the bind mount that puts ours in the place of its file.
  static void warn_of_drop_ins(const Desired& resource, system::Files& files, Diagnostics& diagnostics) {
    const auto name = kSrpDropIn.substr(kSrpDropIn.rfind('/') + 1);
    for (const auto& other : other_drop_ins(files, std::string(kSrpInstances), name)) {
      const auto text = files.read_linked(other.path);
      if (!text || !*text) continue;
      const auto commands = assigned_values(**text, "ExecStart");
      const auto mounts = assigned_values(**text, "BindReadOnlyPaths");
      const bool elsewhere = std::any_of(commands.begin(), commands.end(), [](const std::string& command) {
        const auto words = base::words_of(command);
        return std::any_of(words.begin(), words.end(),
                           [](std::string_view word) { return word.starts_with("-f"); });
      });
      const bool resets = other.after_ours && std::find(mounts.begin(), mounts.end(), "") != mounts.end();
      if (!elsewhere && !resets) continue;
      diagnostics.push_back(
          {Severity::kWarning,
           resource.where,
           fmt::format("{} makes srp_daemon read rules other than those of the document", other.path),
           elsewhere ? "remove -f from its ExecStart=" : "remove the line that resets BindReadOnlyPaths=",
           {}});
    }
  }

  /// @return whether it was another one before
  static Result<bool> reach_file(std::string_view path, const std::string& text, system::Host& host) {
    const auto now = content_of(host.files, path);
    if (!now) return base::fail(now.error());
    if (*now == text) return false;
    if (path == kSrpRulesFile && !now->empty() && !is_our_srp_file(*now)) {
      if (text.empty()) return false;
      const auto refused = refuse_others_file(*now, path, is_our_srp_file);
      return base::fail(refused.error());
    }
    const std::string file(path);
    auto done = text.empty() ? host.files.remove(file) : host.files.write(file, text);
    if (!done) return base::fail(done.error());
    return true;
  }

  /// Which files were written, and whether the daemon that reads them ran.
  struct Written {
    bool units = false, rules = false;
    bool ran = false;  ///< the daemon, before the change
  };

  /// The daemons of the ports are bound to srp_daemon.service, and restarted with it. Logins are the
  /// kernel's, and stay.
  static Result<void> tell(Written written, system::Host& host) {
    const auto unit = observe_unit(kSrpUnit, host);
    if (!unit) return base::fail(unit.error());
    if (!*unit) return {};
    const auto stale = is_stale(host);
    if (!stale) return base::fail(stale.error());
    if (written.units || *stale) {
      if (auto done = host.units.reload_manager(); !done) return done;
    }
    const bool up = (*unit)->active == "active" || (written.ran && (*unit)->active == "failed");
    if (!(written.units || written.rules || *stale) || !up) return {};
    if (auto done = host.units.act(system::UnitAction::kRestart, kSrpUnit); !done) return done;
    const auto now = observe_unit(kSrpUnit, host);
    if (!now) return base::fail(now.error());
    if (!*now || is_up(**now)) return {};
    return base::fail(base::Code::kIo,
                      fmt::format("{0}: exited after its restart; `journalctl -u {0}` shows why", kSrpUnit));
  }

  /// Targets that a rule names one by one; a rule for each membership of a partition counts once.
  static std::vector<std::string> not_logged_in(const std::vector<std::string>& lines,
                                                const std::vector<SrpSession>& sessions) {
    std::map<std::tuple<std::string, std::string, std::string>, bool> named;
    for (const auto& line : lines) {
      const auto rule = parse_srp_rule(line);
      if (!rule || !rule->allow || !rule->id_ext || !rule->ioc_guid) continue;
      auto& there =
          named[{rule->id_ext->text(), rule->ioc_guid->text(), rule->dgid ? rule->dgid->digits() : ""}];
      there = there || std::any_of(sessions.begin(), sessions.end(),
                                   [&](const SrpSession& session) { return matches(*rule, session); });
    }
    std::vector<std::string> out;
    for (const auto& [target, there] : named) {
      const auto& [id_ext, ioc_guid, dgid] = target;
      if (there) continue;
      out.push_back(
          fmt::format("id_ext={},ioc_guid={}{}{}", id_ext, ioc_guid, dgid.empty() ? "" : ",dgid=", dgid));
    }
    return out;
  }
};

}  // namespace

model::SectionSpec srp_initiator_section() {
  model::SectionSpec section{
      .name = kSrpKind,
      .repeated = false,
      .doc =
          "The SRP initiator: srp_daemon logs in to targets by the rules of [[srp_rule]], and its service is "
          "enabled and runs."};
  add_written(section.fields, model::specs<SrpInitiator>());
  return section;
}

model::SectionSpec srp_rule_section() {
  model::SectionSpec section{.name = "srp_rule",
                             .doc =
                                 "A rule of srp_daemon; the first one that matches a target decides whether, "
                                 "and with which options, "
                                 "the host logs in to it.",
                             .identities = {{"name"}}};
  add_written(section.fields, model::specs<SrpRuleEntry>());
  return section;
}

const Kind& srp_initiator() {
  static const SrpInitiatorKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
