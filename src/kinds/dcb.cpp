// SPDX-License-Identifier: Apache-2.0
#include "kinds/dcb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.hpp"
#include "kinds/dcb_check.hpp"
#include "kinds/entry.hpp"
#include "kinds/lossless.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Dcbx;
using model::Desired;
using model::Diagnostics;
using model::DscpMap;
using model::Observed;
using system::DcbState;
using system::Tsa;

namespace {

constexpr std::string_view kKind = "dcb";
constexpr std::string_view kSection = "pfc";

constexpr std::array<std::pair<Tsa, std::string_view>, 4> kAlgorithms{
    {{Tsa::kStrict, "strict"}, {Tsa::kShaper, "shaper"}, {Tsa::kEts, "ets"}, {Tsa::kVendor, "vendor"}}};

std::string word_of(Tsa tsa) {
  for (const auto& [each, word] : kAlgorithms) {
    if (each == tsa) return std::string(word);
  }
  return "vendor";
}

Tsa tsa_of(std::string_view text) {
  for (const auto& [each, word] : kAlgorithms) {
    if (word == text) return each;
  }
  return Tsa::kVendor;
}

bool is_hardware(const system::Link& link) { return link.kind.empty() && !link.ipoib && link.name != "lo"; }

DscpMap dscps_of(const DcbState& state) {
  DscpMap out;
  for (const auto& app : state.apps) {
    if (app.selector == system::kDcbSelectorDscp && app.protocol < model::kDscps)
      out.list.emplace_back(static_cast<std::uint8_t>(app.protocol), app.priority);
  }
  std::sort(out.list.begin(), out.list.end());
  return out;
}

/// The shares as a document writes them. mlx5 reads back what its firmware has: 100 for every class that is
/// not ETS, and 100 divided among the ETS classes that have no share of what another one has whole
/// (mlx5e_build_tc_tx_bw()).
model::Bandwidth shares_of(const system::Ets& ets) {
  constexpr std::uint8_t kWhole = 100;
  model::Bandwidth out;
  std::optional<std::size_t> whole;
  for (std::size_t i = 0; i < ets.tsa.size(); ++i) {
    if (ets.tsa[i] != Tsa::kEts) continue;
    out.percent[i] = ets.bandwidth[i];
    if (!whole && ets.bandwidth[i] == kWhole) whole = i;
  }
  for (std::size_t i = 0; whole && i < ets.tsa.size(); ++i) {
    if (i != *whole) out.percent[i] = 0;
  }
  return out;
}

void describe(const DcbState& state, InterfaceDcb& settings, InterfaceDcb& facts) {
  if (state.pfc) {
    settings.priorities = model::Priorities{*state.pfc};
    if (state.pfc_capability != 0) facts.pfc_capability = state.pfc_capability;
  }
  if (state.ets) {
    settings.traffic_classes = model::TrafficClasses{state.ets->traffic_class};
    settings.bandwidth = shares_of(*state.ets);
    settings.algorithms.emplace();
    for (const auto tsa : state.ets->tsa) settings.algorithms->push_back(word_of(tsa));
    facts.willing = state.ets->willing;
  }
  settings.dscp = dscps_of(state);
  if (state.dcbx) settings.dcbx = (*state.dcbx & system::kDcbxHost) != 0 ? Dcbx::kHost : Dcbx::kFirmware;
}

/// The process id of a running lldpad, which negotiates DCB by itself; nothing without one.
std::optional<std::string> lldpad(system::Files& files) {
  for (const auto* path : {"/run/lldpad.pid", "/var/run/lldpad.pid"}) {
    const auto text = files.read(path);
    if (!text || !*text) continue;
    // It writes its whole buffer, with NULs behind the number.
    const auto pid = (*text)->substr(0, (*text)->find_first_not_of("0123456789"));
    if (pid.empty()) continue;
    const auto name = files.read(fmt::format("/proc/{}/comm", pid));
    if (name && *name && base::trim(**name) == "lldpad") return pid;
  }
  return std::nullopt;
}

class DcbKind final : public Kind {
 public:
  [[nodiscard]] std::string_view name() const override { return kKind; }
  [[nodiscard]] std::span<const model::FieldSpec> fields() const override {
    return model::specs<InterfaceDcb>();
  }

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kSection)) {
      const auto* interface = section->find("interface");
      if (interface == nullptr) continue;
      const auto id = model::text_of(interface->value);
      auto desired = desired_of(*section, fields(), {std::string(kKind), id}, "DCB of " + id);
      check_dcb_entry(desired, diagnostics);
      add_algorithms(desired);
      out.push_back(std::move(desired));
    }
    for (const auto* preset : presets_without_ports(bound.sections, *bound.world)) {
      const auto id = model::text_of(preset->find("interface")->value);
      Desired waiting;
      waiting.key = {std::string(kKind), id};
      waiting.label = "DCB of " + id;
      waiting.where = preset->where;
      waiting.pending = fmt::format("{} has no ports now", id);
      const bool named =
          std::any_of(out.begin(), out.end(), [&](const auto& other) { return other.key == waiting.key; });
      if (!named) out.push_back(std::move(waiting));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    for (const auto& link : world.snapshot().links) {
      if (!is_hardware(link)) continue;
      auto state = world.host().dcb.observe_dcb(link.name);
      if (!state) return base::fail(state.error());
      if (!*state) continue;
      Observed observed;
      observed.key = {std::string(kKind), link.name};
      observed.label = "DCB of " + link.name;
      observed.instance = world.instance(link);
      InterfaceDcb settings, facts;
      describe(**state, settings, facts);
      observed.settings = model::to_attributes(settings);
      observed.facts = model::to_attributes(facts);
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    check_dcb(desired, observed, world, diagnostics);
  }

  Result<void> prepare(std::span<Change*> changes, World& /*world*/) const override {
    for (auto* change : changes) {
      const bool buffers = std::any_of(change->fields.begin(), change->fields.end(),
                                       [](const auto& field) { return field != "dscp" && field != "dcbx"; });
      if (buffers)
        change->interrupts.push_back(fmt::format(
            "traffic of {} stops for a moment (some adapters take the link down)", change->key.id));
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    for (const auto& change : changes) {
      if (auto done = reach(change.key.id, model::from_attributes<InterfaceDcb>(change.after), host.dcb);
          !done)
        return done;
    }
    return {};
  }

  Verdict judge(const Desired& desired, const Observed* observed, const std::vector<std::string>& /*fields*/,
                World& world) const override {
    Verdict verdict;
    if (observed == nullptr || desired.settings.empty()) return verdict;
    const auto now = model::from_attributes<InterfaceDcb>(observed->settings);
    if (now.dcbx == Dcbx::kFirmware && !desired.settings.contains("dcbx")) {
      verdict.warnings.push_back(
          fmt::format("DCBX of {} is the adapter firmware's, which may overwrite this; write dcbx = \"host\"",
                      desired.key.id));
    }
    if (const auto pid = lldpad(world.host().files)) {
      verdict.warnings.push_back(fmt::format(
          "lldpad runs (process {}) and may overwrite this: systemctl disable --now lldpad.socket lldpad",
          *pid));
    }
    return verdict;
  }

  [[nodiscard]] bool listed_when_foreign() const override { return false; }
  [[nodiscard]] bool reachable(const model::Key& key, const World& world) const override {
    return world.named(key.id) != nullptr;
  }

  [[nodiscard]] std::string footing(const Change& change, const World& world) const override {
    return footing_on(world.named(change.key.id), world);
  }

 private:
  static void add_algorithms(Desired& one) {
    const auto strict = model::from_attributes<InterfaceDcb>(one.policy).strict;
    if (!strict && !one.settings.contains("bandwidth")) return;
    InterfaceDcb derived;
    derived.algorithms.emplace();
    for (unsigned i = 0; i < model::kPriorities; ++i)
      derived.algorithms->push_back(word_of(strict && strict->has(i) ? Tsa::kStrict : Tsa::kEts));
    one.settings.merge(model::to_attributes(derived));
    one.origins.emplace("algorithms", one.origins.at(strict ? "strict" : "bandwidth"));
  }

  static Result<void> reach(const std::string& interface, const InterfaceDcb& wanted, system::Dcb& dcb) {
    auto now = dcb.observe_dcb(interface);
    if (!now) return base::fail(now.error());
    if (!*now)
      return base::fail(base::Code::kNotFound, fmt::format("{}: it has no data center bridging", interface));
    const auto& state = **now;
    InterfaceDcb current, facts;
    describe(state, current, facts);
    // First who decides, then the classes and their DSCPs, and what stops traffic last.
    if (wanted.dcbx && wanted.dcbx != current.dcbx) {
      const std::uint8_t mode =
          *wanted.dcbx == Dcbx::kHost ? system::kDcbxHost | system::kDcbxVersionIeee : 0;
      if (auto done = dcb.set_dcbx(interface, mode); !done) return done;
    }
    if (state.ets) {
      // What is not wanted is written along: as shares that the driver takes, not as it reads them back.
      auto before = *state.ets;
      before.bandwidth = current.bandwidth->percent;
      auto ets = before;
      if (wanted.traffic_classes) ets.traffic_class = wanted.traffic_classes->of;
      if (wanted.bandwidth) ets.bandwidth = wanted.bandwidth->percent;
      for (std::size_t i = 0; wanted.algorithms && i < wanted.algorithms->size() && i < ets.tsa.size(); ++i)
        ets.tsa[i] = tsa_of((*wanted.algorithms)[i]);
      if (ets != before) {
        ets.willing = false;
        if (auto done = dcb.set_ets(interface, ets); !done) return done;
      }
    }
    if (wanted.dscp && wanted.dscp != current.dscp) {
      if (auto done = replace_dscps(interface, *wanted.dscp, *current.dscp, dcb); !done) return done;
    }
    if (wanted.priorities && wanted.priorities != current.priorities)
      return dcb.set_pfc(interface, static_cast<std::uint8_t>(wanted.priorities->mask));
    return {};
  }

  /// Adds first, so that a DSCP is never without its priority; some drivers then remove its old entry by
  /// themselves.
  static Result<void> replace_dscps(const std::string& interface, const DscpMap& wanted,
                                    const DscpMap& current, system::Dcb& dcb) {
    const auto has = [](const DscpMap& map, const auto& pair) {
      return std::find(map.list.begin(), map.list.end(), pair) != map.list.end();
    };
    const auto app_of = [](const auto& pair) {
      return system::DcbApp{system::kDcbSelectorDscp, pair.first, pair.second};
    };
    for (const auto& pair : wanted.list) {
      if (has(current, pair)) continue;
      if (auto done = dcb.add_app(interface, app_of(pair)); !done && done.error().sys_errno != EEXIST)
        return done;
    }
    auto state = dcb.observe_dcb(interface);
    if (!state || !*state) return {};
    for (const auto& pair : dscps_of(**state).list) {
      if (has(wanted, pair)) continue;
      if (auto done = dcb.delete_app(interface, app_of(pair)); !done && done.error().sys_errno != ENOENT)
        return done;
    }
    return {};
  }
};

}  // namespace

InterfaceDcb describe_dcb(const DcbState& state) {
  InterfaceDcb all, facts;
  describe(state, all, facts);
  all.pfc_capability = facts.pfc_capability;
  all.willing = facts.willing;
  return all;
}

const Kind& dcb() {
  static const DcbKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
