// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/dcb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "kinds/abilities.hpp"
#include "kinds/carried_state.hpp"
#include "kinds/entry.hpp"
#include "kinds/ethernet/dcb_check.hpp"
#include "kinds/ethernet/dcb_classes.hpp"
#include "kinds/ethernet/dcb_refusals.hpp"
#include "kinds/ethernet/dcb_writer.hpp"
#include "kinds/ethernet/lossless.hpp"
#include "kinds/host/unit_boot.hpp"
#include "kinds/kernel_release.hpp"
#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Dcbx;
using model::Desired;
using model::Diagnostics;
using model::DscpMap;
using model::Observed;
using system::DcbState;

namespace {

constexpr auto kDcbCompetitors = std::to_array<std::string_view>({"mlnx_tune", "mlnx_qos", "lldpad", "dcbd"});

constexpr std::string_view kSection = "pfc";

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

void describe(const DcbState& state, InterfaceDcb& settings, InterfaceDcb& facts) {
  if (state.pfc) {
    settings.priorities = model::Priorities{*state.pfc};
    if (state.pfc_capability != 0) facts.pfc_capability = state.pfc_capability;
    settings.switch_port = switch_port_of(dcb_driver(state.driver), *settings.priorities, dscps_of(state),
                                          state.dcbx, trust_of(state));
  }
  if (state.ets) {
    settings.traffic_classes = model::TrafficClasses{state.ets->traffic_class};
    settings.bandwidth = shares_of(*state.ets);
    settings.algorithms = algorithms_of(*state.ets);
    (dcb_driver(state.driver).keeps_willing ? settings : facts).willing = state.ets->willing;
    if (state.classes != 0) facts.class_count = state.classes;
  }
  settings.dscp = dscps_of(state);
  settings.trust = trust_of(state);
  settings.classified_by = std::string(
      text_of(classifier_of(dcb_driver(state.driver), *settings.dscp, state.dcbx, settings.trust)));
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

/// The enabled service or socket that starts lldpad at the next boot although it does not run now; empty if
/// there is none.
std::string starter_of_lldpad(World& world) {
  if (world.offline()) return {};
  return world.once("what starts lldpad", [&]() -> std::string {
    const std::vector<std::string> names{"lldpad.service", "lldpad.socket"};
    const auto units = observe_units_by_name(names, world.host());
    if (!units) return {};
    for (const auto& [name, unit] : *units) {
      const bool enabled = unit.there() && unit.load != "masked" && is_enabled(unit);
      if (enabled && !is_left_out_at_boot(unit, world.host().files)) return name;
    }
    return {};
  });
}

class DcbKind final : public Kind, public AwaitsKernel, public ClearsAway {
 public:
  DcbKind()
      : Kind({.name = kDcbKind,
              .fields = model::specs<InterfaceDcb>(),
              .traits = {.listed_when_foreign = false, .on_any_interface = true, .id_is_interface = true},
              .lost_after_withdraw = "flow control, bandwidths and trust of Ethernet ports (dcb, mlnx_qos)",
              .competitors = kDcbCompetitors,
              .section = kSection}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kSection)) {
      const auto* interface = section->find("interface");
      if (interface == nullptr) continue;
      const auto id = model::text_of(interface->value);
      auto desired = desired_of(*section, fields(), {std::string(kDcbKind), id}, "DCB of " + id);
      warn_without_settings(*section, id, desired, diagnostics);
      check_dcb_entry(desired, diagnostics);
      add_algorithms(desired);
      out.push_back(std::move(desired));
    }
    for (const auto* preset : presets_without_ports(bound.sections, *bound.world)) {
      const auto id = model::text_of(preset->find("interface")->value);
      Desired waiting;
      waiting.key = {std::string(kDcbKind), id};
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
      observed.key = {std::string(kDcbKind), link.name};
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

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    for (auto* change : changes) {
      auto state = world.host().dcb.observe_dcb(change->key.id);
      if (!state) return base::fail(state.error());
      if (!*state) continue;
      const auto& driver = dcb_driver((*state)->driver);
      const auto wanted = model::from_attributes<InterfaceDcb>(change->after);
      // check() has looked at the document's values; values that go back since the document dropped them are
      // checked here.
      const bool written = std::any_of(change->fields.begin(), change->fields.end(),
                                       [&](const auto& field) { return change->origins.contains(field); });
      auto refused = written ? std::nullopt : why_not_ours(driver, change->key.id, **state, wanted.dcbx);
      if (!written && !refused) refused = why_not_in_its_bond(driver, change->key.id, world);
      if (refused)
        return base::fail(base::Code::kUnsupported,
                          fmt::format("{}: {}; {}", change->label, refused->why, refused->hint));
      if (auto done = note_interruption(*change, driver, world); !done) return done;
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    BondMembers bond_members(host.links);
    for (const auto& change : changes) {
      auto links = host.links.observe_links();
      if (!links) return base::fail(links.error());
      const auto link = std::find_if(links->begin(), links->end(),
                                     [&](const auto& other) { return other.name == change.key.id; });
      DcbWriter writer(change.key.id, host.dcb, [&]() -> Result<void> {
        return link == links->end() ? Result<void>{} : bond_members.disturb(*link);
      });
      auto done = writer.reach(model::from_attributes<InterfaceDcb>(change.after));
      // Also after a failure: state that went with the device must not stay away.
      if (auto back = restore(host, unpack(change.carried)); !back && done) done = back;
      if (!done) return done;
    }
    return {};
  }

  /// So that "done" is said of links that are back.
  Result<Waited> await(std::span<const Change> changes, World& now, const TimeLeft& left) const override {
    std::vector<int> without;
    for (const auto& change : changes) {
      const auto* link = now.named(change.key.id);
      if (link != nullptr && link->up && !link->carrier && !leaves_link_alone(change))
        without.push_back(link->index);
    }
    if (without.empty()) return Waited::kNot;
    auto waited = now.host().links.wait_for_carrier(without, left.carrier);
    if (!waited) return base::fail(waited.error());
    return Waited::kEnough;
  }

  /// An undone interface has its carrier back before it is reported.
  std::vector<std::string> clear_away(std::span<const Change> changes, system::Host& host) const override {
    constexpr std::chrono::seconds kRetraining{10};
    const auto links = host.links.observe_links();
    std::vector<int> without;
    for (const auto& change : changes) {
      if (!links) break;
      for (const auto& link : *links) {
        if (link.name == change.key.id && link.up && !link.carrier) without.push_back(link.index);
      }
    }
    if (!without.empty()) (void)host.links.wait_for_carrier(without, kRetraining);
    return {};
  }

  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    for (const auto& change : changes) {
      if (auto done = restore(host, unpack(change.carried)); !done) return done;
    }
    return {};
  }

  Verdict judge(const Desired& desired, const Observed* observed, const std::vector<std::string>& differing,
                World& world) const override {
    Verdict verdict;
    // check() has removed an order of trust that the host does not support from the settings.
    const bool asks_trust = desired.origins.contains("trust") && !desired.pending;
    if (observed == nullptr || (desired.settings.empty() && !asks_trust)) return verdict;
    const auto& interface = desired.key.id;
    const auto state = world.host().dcb.observe_dcb(interface);
    if (!state || !*state) return verdict;
    if (asks_trust && !(*state)->trust) judge_trust(interface, **state, world, verdict);
    if (desired.settings.empty()) return verdict;
    const auto& driver = dcb_driver((*state)->driver);
    const auto now = model::from_attributes<InterfaceDcb>(observed->settings);
    if (driver.reads_negotiated && !differing.empty()) {
      verdict.sort = Verdict::Sort::kLimited;
      verdict.fields = differing;
      verdict.reason =
          fmt::format("{} shows the negotiated values: the switch has not accepted ours", driver.name);
    }
    if (now.dcbx == Dcbx::kFirmware && !desired.settings.contains("dcbx")) {
      const bool may = !why_not_ours(driver, interface, **state, Dcbx::kHost);
      verdict.warnings.push_back(fmt::format("the adapter firmware runs DCBX on {}, and may overwrite this{}",
                                             interface, may ? "; write dcbx = \"host\"" : ""));
    }
    const auto wanted = model::from_attributes<InterfaceDcb>(desired.settings);
    if (driver.dscp == DscpTrust::kSoftware && wanted.priorities && wanted.priorities->mask != 0) {
      verdict.warnings.push_back(
          fmt::format("{} classifies by VLAN priority ({}): only traffic in a VLAN whose egress-qos-map maps "
                      "to priority {} is lossless; the switch port must trust 802.1p",
                      interface, driver.name,
                      model::text_of(model::Codec<model::Priorities>::value(*wanted.priorities))));
    }
    if (driver.dscp == DscpTrust::kUnknown && wanted.dscp && !wanted.dscp->list.empty()) {
      verdict.warnings.push_back(
          fmt::format("{} may not pass the DSCPs of {} to the adapter",
                      (*state)->driver.empty() ? std::string("the driver") : (*state)->driver, interface));
    }
    if (const auto pid = lldpad(world.host().files)) {
      verdict.warnings.push_back(fmt::format(
          "lldpad runs (process {}) and may overwrite this: systemctl disable --now lldpad.socket lldpad",
          *pid));
    } else if (const auto unit = starter_of_lldpad(world); !unit.empty()) {
      verdict.warnings.push_back(fmt::format(
          "{} is enabled, so lldpad may overwrite this after the next boot: systemctl disable --now "
          "lldpad.socket lldpad",
          unit));
    }
    return verdict;
  }

  [[nodiscard]] bool reachable(const model::Key& key, const World& world) const override {
    return world.named(key.id) != nullptr;
  }

  [[nodiscard]] std::string parent_object(const Change& change, const World& world) const override {
    return parent_object_on(world.named(change.key.id), world);
  }

 private:
  /// Nothing was changed that takes a link down.
  static bool leaves_link_alone(const Change& change) {
    return std::all_of(change.fields.begin(), change.fields.end(), [](const auto& field) {
      return field == "dcbx" || field == "trust" || field == "classified_by" || field == "switch_port";
    });
  }

  /// A newer kernel may support the order of trust: pending. Whether a driver ever does is unknown: limited.
  static void judge_trust(const std::string& interface, const DcbState& state, World& world,
                          Verdict& verdict) {
    const auto missing = why_no_trust(dcb_driver(state.driver), interface, state, kernel_release(world));
    verdict.sort = missing.by_kernel ? Verdict::Sort::kPending : Verdict::Sort::kLimited;
    verdict.reason = missing.why;
  }

  static void add_algorithms(Desired& desired) {
    const auto strict = model::from_attributes<InterfaceDcb>(desired.policy).strict;
    if (!strict && !desired.settings.contains("bandwidth")) return;
    InterfaceDcb derived;
    derived.algorithms.emplace();
    for (unsigned i = 0; i < model::kPriorities; ++i)
      derived.algorithms->push_back(strict && strict->has(i) ? "strict" : "ets");
    desired.settings.merge(model::to_attributes(derived));
    desired.origins.emplace("algorithms", desired.origins.at(strict ? "strict" : "bandwidth"));
  }

  /// The interruptions of the change, and the state that goes with the device where the driver closes it.
  static Result<void> note_interruption(Change& change, const DcbDriver& driver, World& world) {
    const auto& interface = change.key.id;
    const auto changes = [&](auto... names) {
      return std::any_of(change.fields.begin(), change.fields.end(),
                         [&](const auto& field) { return ((field == names) || ...); });
    };
    if (!changes("priorities", "bandwidth", "algorithms", "traffic_classes", "dscp")) return {};
    const auto* link = world.named(interface);
    if (driver.closes && link != nullptr) {
      const auto on = with_those_over(*link, world);
      auto carried_states = observe_carried_states(world.host(), on);
      if (!carried_states) return base::fail(carried_states.error());
      change.carried = pack(*carried_states);
      if (!driver.name.empty()) {
        std::string over;
        for (std::size_t i = 1; i < on.size(); ++i) over += (i == 1 ? " and " : ", ") + on[i].name;
        change.interrupts.push_back(
            fmt::format("{} closes and opens {} for each step: IPv6 addresses and routes of {}{} are removed "
                        "and restored",
                        driver.name, interface, interface, over));
        return {};
      }
    }
    if (!changes("priorities", "bandwidth", "algorithms", "traffic_classes")) return {};
    const bool retrains =
        driver.retrains == Retrains::kAtAny || (driver.retrains == Retrains::kAtPfc && changes("priorities"));
    if (!retrains || driver.name.empty()) {
      change.interrupts.push_back(
          fmt::format("traffic of {} stops for a moment{}", interface,
                      driver.name.empty() ? " (some adapters take the link down)" : ""));
      return {};
    }
    const auto* master = link == nullptr ? nullptr : world.link(link->master);
    change.interrupts.push_back(fmt::format(
        "the link of {} goes down and comes back, which may take seconds{}", interface,
        master == nullptr ? ""
                          : fmt::format("; the other ports of {} keep carrier meanwhile", master->name)));
    return {};
  }

  /// The interface and what stands on it, as VLANs do: they go down and up with it.
  static std::vector<system::Link> with_those_over(const system::Link& link, const World& world) {
    std::vector<system::Link> out{link};
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (const auto& other : world.snapshot().links) {
        const bool known = std::any_of(out.begin(), out.end(),
                                       [&](const auto& listed) { return listed.index == other.index; });
        if (!known && other.parent == out[i].index && !other.ipoib) out.push_back(other);
      }
    }
    return out;
  }
};

}  // namespace

InterfaceDcb describe_dcb(const DcbState& state) {
  InterfaceDcb all, facts;
  describe(state, all, facts);
  all.pfc_capability = facts.pfc_capability;
  all.class_count = facts.class_count;
  if (facts.willing) all.willing = facts.willing;
  return all;
}

const Kind& dcb() {
  static const DcbKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
