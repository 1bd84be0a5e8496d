// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/service_check.hpp"
#include "kinds/host/unit_boot.hpp"
#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Severity;
using system::Unit;
using system::UnitAction;

namespace {

constexpr std::string_view kServiceKind = "service";
// There is one systemd, and what we set of its units outlives a reboot.
constexpr std::string_view kUnitKey = "unit";
/// In Change::carried: undoing stops a unit that ends after each start, too, which does not count as running.
constexpr std::string_view kAtRest = "it was at rest";

/// A unit that entries of another section need: enabled, as if a [[service]] said so, and perhaps running.
struct NeededUnit {
  std::string_view section;
  std::string_view unit;
  bool running;
  std::string_view after, after_id;  ///< the resource that is made right before it starts; empty: none
};
constexpr std::array kNeededUnits{
    NeededUnit{"srp_rule", "srp_daemon.service", true, "srp_initiator", "rules"},
    NeededUnit{"srp_initiator", "srp_daemon.service", true, "srp_initiator", "rules"},
    NeededUnit{"nvme_connection", "nvmf-autoconnect.service", false, "", ""}};

class ServiceKind final : public Kind, public NeedsWatching {
 public:
  ServiceKind()
      : Kind({.name = kServiceKind,
              .fields = model::specs<Service>(),
              .traits = {.listed_when_foreign = false, .rests_on_files = true}}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    const auto managers = bound.of("opensm");
    for (const auto* section : bound.of(kServiceKind)) {
      const auto* unit = section->find("name");
      if (unit == nullptr) continue;  // reported already, by the grammar
      const auto id = model::text_of(unit->value);
      if (id.find("@.") != std::string::npos) {
        diagnostics.push_back({Severity::kError,
                               unit->where,
                               fmt::format("[[service]] name: {} is a template, which has no state", id),
                               "write an instance of it, such as srp_daemon_port@mlx4_0:1.service",
                               {}});
        continue;  // and systemd fails whoever asks for one
      }
      refuse_against_opensm(managers, *section, id, diagnostics);
      refuse_own_unit(*section, id, diagnostics);
      auto desired = desired_of(*section, fields(), {std::string(kServiceKind), id}, id);
      if (desired.settings.empty()) {
        diagnostics.push_back({Severity::kWarning,
                               section->where,
                               fmt::format("[[service]] {}: neither enabled nor running is given", id),
                               "the entry has no effect",
                               {}});
      }
      out.push_back(std::move(desired));
    }
    need_units(bound, out);
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    const auto names = world.tracked(kServiceKind);
    if (names.empty() || world.offline()) return out;
    auto units = world.host().units.observe_units(names);
    if (!units) return base::fail(units.error());
    if (!*units) return out;
    for (const auto& unit : **units) {
      if (!unit.there()) continue;
      Observed observed;
      observed.key = {std::string(kServiceKind), unit.name};
      observed.label = unit.name;
      observed.instance = kUnitKey;
      Service service;
      service.enabled = starts_at_boot(unit, world.host().files);
      service.running = is_up(unit);
      observed.settings = model::to_attributes(service);
      Service facts;
      facts.active = unit.load == "masked" ? "masked" : UnitState{unit.active, unit.sub}.text();
      if (!unit.job.empty()) facts.job = unit.job;
      observed.facts = model::to_attributes(facts);
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    if (world.offline()) return;
    std::vector<std::string> names;
    for (const auto& resource : desired) {
      if (resource.key.kind == kServiceKind) names.push_back(resource.key.id);
    }
    if (names.empty()) return;
    auto units = world.host().units.observe_units(names);
    std::map<std::string, const Unit*> by_name;
    if (units && *units) {
      for (const auto& unit : **units) by_name.emplace(unit.name, &unit);
    }
    for (auto& resource : desired) {
      if (resource.key.kind != kServiceKind) continue;
      const auto at = by_name.find(resource.key.id);
      if (at == by_name.end()) {
        postpone(resource, units && *units ? "systemd has no such unit" : kNoSystemd);
      } else if (!at->second->there()) {
        const auto wanted = model::from_attributes<Service>(resource.settings);
        if (!wanted.enabled.value_or(false) && !wanted.running.value_or(false)) {
          resource.settings.clear();  // what is not there neither starts nor runs
        } else {
          postpone(resource, why_not_there(resource.key.id, world.host().files));
        }
      } else {
        check_unit(resource, *at->second, world.host().files, diagnostics);
        leave_generated(resource, *at->second, world.host().files);
        wait_for_need(resource, *at->second);
      }
    }
    warn_of_sockets(desired, world, diagnostics);
    warn_of_boot_words(desired, world.host().files, diagnostics);
    if (units && *units) warn_of_unreached(desired, **units, world.host().files, diagnostics);
  }

  Result<void> prepare(std::span<Change*> changes, World& /*world*/) const override {
    for (auto* change : changes) {
      const auto now = model::from_attributes<Service>(change->before);
      const auto wanted = model::from_attributes<Service>(change->after);
      if (now.running == true && wanted.running == false) {
        change->interrupts.push_back(change->label + " is stopped");
      }
      if (now.running == false && wanted.running == true) change->carried.emplace_back(kAtRest);
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    std::vector<std::string> names;
    for (const auto& change : changes) names.push_back(change.key.id);
    auto units = host.units.observe_units(names);
    if (!units) return base::fail(units.error());
    if (!*units) return base::fail(base::Code::kUnsupported, "no systemd answers");
    std::map<std::string, const Unit*> by_name;
    for (const auto& unit : **units) by_name.emplace(unit.name, &unit);
    for (const auto& change : changes) {
      const auto at = by_name.find(change.key.id);
      if (at == by_name.end() || !at->second->there()) {
        return base::fail(base::Code::kNotFound, change.key.id + ": there is no such unit");
      }
      const auto wanted = model::from_attributes<Service>(change.after);
      if (auto done = reach(*at->second, wanted, host); !done) return done;
    }
    return {};
  }

  Verdict judge(const Desired& desired, const Observed* observed,
                const std::vector<std::string>& /*differing*/, World& /*world*/) const override {
    Verdict verdict;
    if (observed == nullptr) return verdict;
    const auto facts = model::from_attributes<Service>(observed->facts);
    const auto wanted = model::from_attributes<Service>(desired.settings);
    const auto state = UnitState::parse(facts.active.value_or(""));
    if (wanted.running == true && facts.job) {
      verdict.sort = Verdict::Sort::kPending;
      verdict.reason = fmt::format("systemd has queued its {} job behind other jobs", *facts.job);
    } else if (wanted.running == true && state.restarts()) {
      verdict.warnings.push_back("exits after each start, and systemd restarts it: journalctl -u " +
                                 desired.key.id);
    } else if (wanted.running == true && state.active == "activating") {
      verdict.sort = Verdict::Sort::kPending;
      verdict.reason = "starting";
    }
    if (wanted.running == false && state.restarts()) {
      verdict.sort = Verdict::Sort::kPending;
      verdict.reason =
          "exited, and systemd is about to restart it; to stop it, run: systemctl stop " + desired.key.id;
    }
    if (state.active == "failed") {
      verdict.warnings.push_back("systemd reports it as failed: journalctl -u " + desired.key.id);
    }
    return verdict;
  }

  void watched(const model::ResourceReport& resource, system::Settings& out) const override {
    out.units.insert(resource.key.id);
  }

 private:
  /// A [[service]] that is there for the unit decides itself.
  static void need_units(const Bound& bound, std::vector<Desired>& out) {
    for (const auto& needed : kNeededUnits) {
      const bool given = std::any_of(out.begin(), out.end(), [&](const Desired& resource) {
        return resource.key.kind == kServiceKind && resource.key.id == needed.unit;
      });
      if (given) continue;
      for (const auto* section : bound.of(needed.section)) {
        if (section->entries.empty()) continue;
        auto& desired = out.emplace_back();
        desired.key = {std::string(kServiceKind), std::string(needed.unit)};
        desired.label = needed.unit;
        desired.where = section->where;
        desired.settings["enabled"] = true;
        if (needed.running) desired.settings["running"] = true;
        for (const auto* field : {"enabled", "running"}) desired.origins[field] = section->where;
        if (!needed.after.empty())
          desired.needs.push_back({std::string(needed.after), std::string(needed.after_id)});
        break;
      }
    }
  }

  /// Whether a generated unit starts at boot is not systemd's to set, over D-Bus. Of an init script, a
  /// program of the distribution changes the links (systemd-sysv-install), which `systemctl` calls and this
  /// service's confinement keeps from /etc.
  static void leave_generated(Desired& desired, const Unit& unit, system::Files& files) {
    const auto wanted = model::from_attributes<Service>(desired.settings);
    if (!is_generated(unit) || !wanted.enabled) return;
    if (!is_init_script(unit, files)) {
      if (starts_by_generator(unit, files) == wanted.enabled) return;
      desired.pending =
          "systemd generates it from a file that is not an init script, such as that of a container, and "
          "that file decides whether it starts at boot: change that file, or leave enabled out";
      desired.settings.erase("enabled");
      return;
    }
    const auto now = starts_by_links(script_of(unit), files);
    if (now == wanted.enabled) return;
    desired.pending = fmt::format("systemd generates it from an init script, and {}: run `systemctl {} {}`",
                                  now ? "its runlevel links decide whether it starts at boot"
                                      : "whether it starts at boot cannot be read",
                                  *wanted.enabled ? "enable" : "disable", unit.name);
    desired.settings.erase("enabled");
  }

  /// A start would be followed by a stop at once.
  static void wait_for_need(Desired& desired, const Unit& unit) {
    const auto wanted = model::from_attributes<Service>(desired.settings);
    if (wanted.running != true || !unit.stops_unneeded || is_up(unit)) return;
    desired.pending = "systemd stops it while no other unit needs it (StopWhenUnneeded=yes)";
    desired.settings.erase("running");
  }

  static void check_unit(Desired& desired, const Unit& unit, system::Files& files, Diagnostics& diagnostics) {
    const auto wanted = model::from_attributes<Service>(desired.settings);
    const auto refuse = [&](std::string_view key, std::string what, std::string hint) {
      diagnostics.push_back({Severity::kError,
                             desired.origins.at(std::string(key)),
                             fmt::format("[[service]] {}: {}", key, what),
                             std::move(hint),
                             {}});
    };
    if (unit.id != unit.name) {
      // Disabling it would take the alias away, and with it the unit that this entry is about.
      refuse("name", fmt::format("{} is an alias of {}", unit.name, unit.id),
             fmt::format("write name = \"{}\"", unit.id));
      return;
    }
    for (const std::string_view key : {"enabled", "running"}) {
      if (model::value_of(desired.settings, key) != model::Value{true}) continue;
      if (unit.load == "masked" || unit.file == "masked") {
        refuse(key, unit.name + " is masked", remedy_of_mask(unit, files));
      } else if (unit.load == "bad-setting" || unit.load == "error") {
        refuse(key, fmt::format("systemd cannot load {} ({})", unit.name, unit.load),
               "systemctl status " + unit.name + " shows the cause");
      }
    }
    if (wanted.enabled == true && unit.file == "static") {
      diagnostics.push_back(
          {Severity::kWarning,
           desired.origins.at("enabled"),
           fmt::format("[[service]] enabled: {} cannot be enabled, as its unit file has no [Install] section",
                       unit.name),
           "other units start it as they need it; leave enabled out",
           {}});
      desired.settings.erase("enabled");
    }
    if (wanted.enabled == false && unit.file == "static" && wanted.running != false) {
      diagnostics.push_back(
          {Severity::kWarning,
           desired.origins.at("enabled"),
           fmt::format("[[service]] enabled: other units or udev start {}, as its unit file has no [Install] "
                       "section",
                       unit.name),
           fmt::format("leave enabled out; `systemctl mask {}` keeps it from starting", unit.name),
           {}});
    }
    leave_indirect(desired, unit, files, diagnostics);
    if (wanted.enabled == true && unit.file == "transient") {
      refuse("enabled", fmt::format("{} is a transient unit, which the next boot removes", unit.name),
             "leave enabled out, or write a unit file for it");
    }
    if (wanted.running == true && unit.ends_by_itself) {
      refuse("running", unit.name + " exits on its own (Type=oneshot)", "leave running out");
    }
  }

  static Result<void> reach(const Unit& unit, const Service& wanted, system::Host& host) {
    const auto run = [&]() -> Result<void> {
      if (!wanted.running || (*wanted.running == is_up(unit) && !waits_for_restart(unit))) return {};
      return *wanted.running ? start_service(unit.name, host) : host.units.act(UnitAction::kStop, unit.name);
    };
    const auto enable = [&]() -> Result<void> {
      // Of an init script the links say so already; of other generated units this is pending.
      if (!wanted.enabled || is_generated(unit) || *wanted.enabled == is_enabled(unit)) return {};
      return host.units.set_enabled(unit.name, *wanted.enabled);
    };
    // Enabled first: a run that ends in between leaves a unit that starts at boot, not one that will not.
    if (auto done = enable(); !done) return done;
    return run();
  }
};

}  // namespace

model::SectionSpec service_section() {
  model::SectionSpec section{
      .name = "service",
      .doc = "A systemd unit that RDMA needs, such as rdma-ndd, iwpmd, srp_daemon or ibacm.",
      .identities = {{"name"}}};
  add_written(section.fields, model::specs<Service>());
  return section;
}

const Kind& service() {
  static const ServiceKind kInstanceOfKind;
  return kInstanceOfKind;
}

}  // namespace rdmacfg::kinds
