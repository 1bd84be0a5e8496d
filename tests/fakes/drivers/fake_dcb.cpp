// SPDX-License-Identifier: Apache-2.0
#include "fakes/drivers/fake_dcb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace rdmacfg::fakes {

using base::fail_errno;
using base::Result;
using system::DcbApp;
using system::DcbState;
using system::Ets;
using system::Tsa;

void FakeDcb::reboot() {
  for (auto& [name, state] : interfaces) {
    state.trust.reset();
    if (adapters.contains(name)) state.trust = adapters.at(name).trust;
    if (adapters.contains(name) && !adapters.at(name).driver.empty()) {
      auto& adapter = adapters.at(name);
      state = at_first(adapter.driver, adapter.classes, adapter.agent);
      state.trust = adapter.trust;
      adapter.ets_was_set = adapter.told = adapter.told_ets = adapter.told_pfc = false;
      adapter.table = DcbAdapter::firmware_table();
      continue;
    }
    if (state.pfc) state.pfc = std::uint8_t{0};
    if (state.ets) state.ets = Ets{};
    state.apps.clear();
  }
}

std::string FakeDcb::driver_of(const std::string& interface) const {
  const auto at = adapters.find(interface);
  if (at != adapters.end() && !at->second.driver.empty()) return at->second.driver;
  for (const auto& device : machine_.devices) {
    if (!device.soft.empty()) continue;
    for (const auto& port : device.ports) {
      const bool own = port.in_bond.empty() ? port.netdev == interface : port.in_bond == interface;
      if (own) return device.driver;
    }
  }
  return {};
}

std::string FakeDcb::dump() const {
  std::string out;
  for (const auto& [name, state] : interfaces) {
    out += "dcb " + name;
    if (state.pfc) out += fmt::format(" pfc {:#04x}", *state.pfc);
    if (state.dcbx) out += fmt::format(" dcbx {:#04x}", *state.dcbx);
    if (state.trust) {
      out += " trust";
      for (const auto selector : *state.trust) out += fmt::format(" {}", selector);
    }
    if (state.ets) {
      out += state.ets->willing ? " willing tc" : " tc";
      for (const auto tc : state.ets->traffic_class) out += fmt::format(" {}", tc);
      out += " tsa";
      for (const auto tsa : state.ets->tsa)
        out += tsa == Tsa::kStrict ? " strict" : tsa == Tsa::kEts ? " ets" : " other";
      out += " bw";
      for (const auto bw : state.ets->bandwidth) out += fmt::format(" {}", bw);
    }
    out += "\n";
    for (const auto& app : state.apps)
      out += fmt::format("  app {} {} -> {}\n", app.selector, app.protocol, app.priority);
  }
  return out;
}

Result<std::optional<DcbState>> FakeDcb::observe_dcb(const std::string& interface) {
  const auto at = interfaces.find(interface);
  if (at == interfaces.end()) return std::optional<DcbState>();
  auto state = at->second;
  state.driver = driver_of(interface);
  const auto found = adapters.find(interface);
  const auto adapter = found == adapters.end() ? DcbAdapter{} : found->second;
  if (state.ets) state.classes = adapter.classes;
  if (state.driver == "ice" && adapter.told) {  // ice_dcb_nl.c:98, :271: filled in by what has them alone
    if (!adapter.told_ets) state.classes = 0;
    if (!adapter.told_pfc) state.pfc_capability = 0;
  }
  const bool silent = adapter.resetting || (state.driver == "qede" && !adapter.negotiated);
  if (silent) {
    // dcbnl_ieee_fill() leaves out what the driver refuses; the APP table is the kernel's own.
    state.ets.reset();
    state.pfc.reset();
    state.pfc_capability = state.classes = 0;
    if (state.driver == "qede") state.dcbx = std::uint8_t{0};  // qed_dcbx.c:1539
  }
  return std::optional(std::move(state));
}

template <class Effect>
Result<void> FakeDcb::change(const std::string& interface, const std::string& what, Effect effect) {
  const auto text = fmt::format("{}: {}", interface, what);
  const int err = faults_.call(text, [&] {
    const auto found = interfaces.find(interface);
    if (found == interfaces.end()) return ENODEV;
    At at{interface, found->second, adapters[interface], driver_of(interface)};
    return effect(at);
  });
  if (err != 0) return fail_errno(err, text);
  return {};
}

Result<void> FakeDcb::set_pfc(const std::string& interface, std::uint8_t priorities) {
  return change(interface, fmt::format("set PFC {:#04x}", priorities),
                [&](At& at) { return pfc(at, priorities); });
}

Result<void> FakeDcb::set_ets(const std::string& interface, const Ets& ets) {
  return change(interface, "set ETS", [&](At& at) { return this->ets(at, ets); });
}

Result<void> FakeDcb::add_app(const std::string& interface, const DcbApp& app) {
  return change(interface, fmt::format("add APP {} {}:{}", app.selector, app.protocol, app.priority),
                [&](At& at) { return add(at, app); });
}

Result<void> FakeDcb::delete_app(const std::string& interface, const DcbApp& app) {
  return change(interface, fmt::format("delete APP {} {}:{}", app.selector, app.protocol, app.priority),
                [&](At& at) { return remove(at, app); });
}

Result<void> FakeDcb::set_dcbx(const std::string& interface, std::uint8_t mode) {
  return change(interface, fmt::format("set DCBX {:#04x}", mode), [&](At& at) { return dcbx(at, mode); });
}

Result<void> FakeDcb::set_trust(const std::string& interface, const std::vector<std::uint8_t>& selectors) {
  std::string order;
  for (const auto selector : selectors) order += fmt::format(" {}", selector);
  return change(interface, "set the order of trust" + order, [&](At& at) { return trust(at, selectors); });
}

void FakeDcb::close_and_open(const std::string& interface) {
  Interface* link = machine_.find(interface);
  if (link == nullptr || !link->up) return;
  std::vector<int> over;
  for (auto& other : machine_.links) {
    // vlan_device_event(): VLANs go down and up with what they are on.
    if (other.parent == link->index && other.up && !other.is_ipoib()) over.push_back(other.index);
  }
  for (const int index : over) (void)machine_.set({.index = index, .up = false});
  (void)machine_.set({.index = link->index, .up = false});
  (void)machine_.set({.index = link->index, .up = true});
  for (const int index : over) (void)machine_.set({.index = index, .up = true});
}

void FakeDcb::retrain(const std::string& interface) {
  Interface* link = machine_.find(interface);
  if (link == nullptr || !link->up || !link->carrier) return;
  link->carrier = false;
  if (!lost_at_retraining.contains(interface)) machine_.retraining.insert(link->index);
  if (link->master == 0) return;
  const auto down = std::count_if(machine_.links.begin(), machine_.links.end(), [&](const auto& other) {
    return other.master == link->master && !other.carrier;
  });
  most_legs_down = std::max(most_legs_down, static_cast<std::size_t>(down));
}

}  // namespace rdmacfg::fakes
