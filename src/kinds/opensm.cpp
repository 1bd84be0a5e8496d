// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "kinds/entry.hpp"
#include "kinds/opensm_file.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Guid;
using model::Observed;
using model::Severity;
using system::Unit;
using system::UnitAction;

namespace {

constexpr std::string_view kKind = "opensm";
constexpr std::string_view kInstance = "unit";
constexpr const char* kStarter = "opensm.service";       // starts the instances at boot
constexpr std::string_view kPorts = "ports ";            // in Change::carried: PORTS before, for undoing
constexpr std::string_view kStarterOff = "starter off";  // likewise: opensm.service was not enabled
constexpr std::int64_t kPriorityMost = 15;

bool runs(const Unit& unit) {
  return unit.active == "active" || unit.active == "activating" || unit.job == "start";
}

/// The starter and the instances of ports, by unit name; empty when no systemd answers.
Result<std::map<std::string, Unit>> observe_units(system::Host& host, const std::set<Guid>& guids) {
  std::vector<std::string> names{kStarter};
  for (const auto guid : guids) names.push_back(opensm_unit(guid));
  auto units = host.units.observe_units(names);
  if (!units) return base::fail(units.error());
  std::map<std::string, Unit> out;
  if (!*units) return out;
  for (auto& unit : **units) {
    auto name = unit.name;
    out.emplace(std::move(name), std::move(unit));
  }
  return out;
}

Result<std::vector<std::string>> read_ports(system::Files& files) {
  auto text = files.read(std::string(kOpensmDefaults));
  if (!text) return base::fail(text.error());
  return parse_ports(text->value_or(""));
}

bool lists(const std::vector<std::string>& ports, Guid guid) {
  return std::any_of(ports.begin(), ports.end(), [&](const std::string& port) {
    const auto number = base::parse_number(port);
    return number && *number == guid.number;
  });
}

class OpensmKind final : public Kind {
 public:
  [[nodiscard]] std::string_view name() const override { return kKind; }
  [[nodiscard]] std::span<const model::FieldSpec> fields() const override { return model::specs<Opensm>(); }

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kKind)) {
      const auto* guid = section->find("guid");
      if (guid == nullptr) continue;  // reported already, by the grammar
      const auto id = model::text_of(guid->value);
      auto desired = desired_of(*section, fields(), {std::string(kKind), id}, "opensm on " + id);
      const auto* priority = section->find("priority");
      const auto number = priority == nullptr ? 0 : std::get<std::int64_t>(priority->value);
      if (number < 0 || number > kPriorityMost) {
        diagnostics.push_back(
            {Severity::kError,
             priority->where,
             fmt::format("[[opensm]] priority: {} is out of range, has to be 0 to {}", number, kPriorityMost),
             "the highest is master",
             {}});
      }
      desired.settings["enabled"] = desired.settings["running"] = true;
      desired.origins["enabled"] = desired.origins["running"] = guid->where;
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    if (world.offline()) return out;
    auto& host = world.host();
    std::set<Guid> guids;
    for (const auto& id : world.concerned(kKind)) {
      if (const auto guid = Guid::parse(id)) guids.insert(*guid);
    }
    if (guids.empty() || observe_opensm_layout(host.files) != OpensmLayout::kDebian) return out;
    const auto ports = read_ports(host.files);
    if (!ports) return base::fail(ports.error());
    const auto units = observe_units(host, guids);
    if (!units) return base::fail(units.error());
    const auto starter = units->find(kStarter);
    const bool starts = starter != units->end() && starter->second.file == "enabled";
    for (const auto guid : guids) {
      const auto unit = units->find(opensm_unit(guid));
      if (unit == units->end() || !unit->second.there()) continue;
      auto drop_in = host.files.read(opensm_drop_in(guid));
      if (!drop_in) return base::fail(drop_in.error());
      Observed observed;
      observed.key = {std::string(kKind), guid.text()};
      observed.label = "opensm on " + guid.text();
      observed.instance = kInstance;
      Opensm now;
      now.enabled = starts && lists(*ports, guid);
      now.running = runs(unit->second);
      now.priority = parse_opensm_drop_in(drop_in->value_or(""));
      observed.settings = model::to_attributes(now);
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& /*diagnostics*/) const override {
    if (world.offline()) return;
    std::map<model::Key, Opensm> now;
    for (const auto& one : observed) {
      if (one.key.kind == kKind) now.emplace(one.key, model::from_attributes<Opensm>(one.settings));
    }
    std::set<int> ours;  // LIDs of this document's subnet managers
    for (const auto& one : desired) {
      const auto guid = one.key.kind == kKind ? Guid::parse(one.key.id) : Guid::parse("");
      const auto port = guid ? world.port(*guid) : std::nullopt;
      if (port && port->port->lid) ours.insert(*port->port->lid);
    }
    for (auto& one : desired) {
      if (one.key.kind != kKind) continue;
      const auto why = why_not(one, now, ours, world);
      if (why.empty()) continue;
      one.pending = why;
      one.settings.clear();
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    const auto ports = read_ports(world.host().files);
    if (!ports) return base::fail(ports.error());
    const auto units = observe_units(world.host(), {});
    if (!units) return base::fail(units.error());
    const auto starter = units->find(kStarter);
    const bool was_off = starter != units->end() && starter->second.file == "disabled";
    for (auto* change : changes) {
      const auto now = model::from_attributes<Opensm>(change->before);
      const auto wanted = model::from_attributes<Opensm>(change->after);
      if (now.running == true && wanted.running == false)
        change->interrupts.push_back(change->label + " is stopped");
      if (now.running == true && wanted.running == true && now.priority != wanted.priority) {
        change->interrupts.push_back(change->label + " is restarted");
      }
      change->carried.push_back(std::string(kPorts) + base::join(*ports, " "));
      if (was_off) change->carried.emplace_back(kStarterOff);
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    std::set<Guid> guids;
    std::set<std::string> stale;  // run with another priority than their drop-in has
    for (const auto& change : changes) {
      const auto guid = Guid::parse(change.key.id);
      if (!guid) continue;
      guids.insert(*guid);
      const auto wanted = model::from_attributes<Opensm>(change.after);
      const auto path = opensm_drop_in(*guid);
      const auto before = host.files.read(path);
      if (!before) return base::fail(before.error());
      auto done = wanted.priority ? host.files.write(path, render_opensm_drop_in(*wanted.priority))
                                  : host.files.remove(path);
      if (!done) return done;
      if (parse_opensm_drop_in(before->value_or("")) != wanted.priority) stale.insert(opensm_unit(*guid));
    }
    if (auto done = set_ports(changes, host); !done) return done;
    auto units = observe_units(host, guids);
    if (!units) return base::fail(units.error());
    if (units->empty()) return base::fail(base::Code::kUnsupported, "opensm: no systemd answers");
    if (auto done = reload(*units, host); !done) return done;
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<Opensm>(change.after);
      const auto guid = Guid::parse(change.key.id);
      if (!guid || !wanted.running) continue;
      const auto name = opensm_unit(*guid);
      const auto at = units->find(name);
      const bool running = at != units->end() && runs(at->second);
      if (*wanted.running != running) {
        auto done = host.units.act(*wanted.running ? UnitAction::kStart : UnitAction::kStop, name);
        if (!done) return done;
      } else if (running && stale.contains(name)) {
        if (auto done = host.units.act(UnitAction::kRestart, name); !done) return done;
      }
    }
    return {};
  }

  /// A run that ended between the drop-in and the restart leaves one with its old priority.
  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    std::set<Guid> guids;
    for (const auto& change : changes) {
      if (const auto guid = Guid::parse(change.key.id)) guids.insert(*guid);
    }
    auto units = observe_units(host, guids);
    if (!units) return base::fail(units.error());
    if (auto done = reload(*units, host); !done) return done;
    for (const auto& change : changes) {
      const auto guid = Guid::parse(change.key.id);
      const bool priority =
          std::find(change.fields.begin(), change.fields.end(), "priority") != change.fields.end();
      const auto at = guid ? units->find(opensm_unit(*guid)) : units->end();
      if (!priority || at == units->end() || !runs(at->second)) continue;
      if (auto done = host.units.act(UnitAction::kRestart, at->first); !done) return done;
    }
    return {};
  }

  [[nodiscard]] bool listed_when_foreign() const override { return false; }
  [[nodiscard]] bool reachable(const model::Key& /*key*/, const World& /*world*/) const override {
    return true;
  }

 private:
  static std::string why_not(const Desired& one, const std::map<model::Key, Opensm>& now,
                             const std::set<int>& ours, World& world) {
    switch (observe_opensm_layout(world.host().files)) {
      case OpensmLayout::kNone:
        return "OpenSM is not installed; package opensm has it";
      case OpensmLayout::kRhel:
        return "instances by port are Debian's; /etc/sysconfig/opensm is not written yet";
      case OpensmLayout::kDebian:
        break;
    }
    const auto at = now.find(one.key);
    if (at == now.end()) return "there is no opensm@.service";
    if (at->second.running == true) return {};
    const auto guid = Guid::parse(one.key.id);
    const auto port = guid ? world.port(*guid) : std::nullopt;
    if (!port) return "no port has this GUID now";
    const int master = port->port->sm_lid.value_or(0);
    const bool other = master != 0 && port->port->state == "ACTIVE" &&
                       master != port->port->lid.value_or(0) && !ours.contains(master);
    if (other && model::value_of(one.policy, "beside_other") != model::Value{true}) {
      return fmt::format(
          "another subnet manager, LID {}, is master here; beside_other = true starts one beside it", master);
    }
    return {};
  }

  static Result<void> set_ports(std::span<const Change> changes, system::Host& host) {
    auto text = host.files.read(std::string(kOpensmDefaults));
    if (!text) return base::fail(text.error());
    const auto before = parse_ports(text->value_or(""));
    auto ports = before;
    bool any = false, was_off = false;
    std::string former;
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<Opensm>(change.after);
      const auto guid = Guid::parse(change.key.id);
      if (!guid || !wanted.enabled) continue;
      for (const auto& carried : change.carried) {
        if (carried.starts_with(kPorts)) former = carried.substr(kPorts.size());
        was_off = was_off || carried == kStarterOff;
      }
      std::erase_if(ports, [&](const std::string& port) {
        const auto number = base::parse_number(port);
        return (*wanted.enabled && (port == "ALL" || port == "NONE")) || (number && *number == guid->number);
      });
      if (*wanted.enabled) ports.push_back(opensm_guid(*guid));
      any = any || *wanted.enabled;
    }
    if (ports.empty()) ports.emplace_back(former == "ALL" ? "ALL" : "NONE");
    std::sort(ports.begin(), ports.end());
    auto sorted = before;
    std::sort(sorted.begin(), sorted.end());
    if (ports != sorted) {
      auto done = host.files.write(std::string(kOpensmDefaults), with_ports(text->value_or(""), ports));
      if (!done) return done;
    }
    if (!any && !was_off) return {};
    const auto units = observe_units(host, {});
    if (!units) return base::fail(units.error());
    const auto starter = units->find(kStarter);
    if (starter == units->end() || (starter->second.file == "enabled") == any) return {};
    return host.units.set_enabled(kStarter, any);
  }

  static Result<void> reload(const std::map<std::string, Unit>& units, system::Host& host) {
    const bool stale =
        std::any_of(units.begin(), units.end(), [](const auto& one) { return one.second.needs_reload; });
    return stale ? host.units.reload_manager() : Result<void>{};
  }
};

}  // namespace

model::SectionSpec opensm_section() {
  model::SectionSpec section{
      .name = "opensm", .doc = "A subnet manager (OpenSM) on a port of this host.", .identities = {{"guid"}}};
  add_written(section.fields, model::specs<Opensm>());
  return section;
}

const Kind& opensm() {
  static const OpensmKind kInstanceOfKind;
  return kInstanceOfKind;
}

}  // namespace rdmacfg::kinds
