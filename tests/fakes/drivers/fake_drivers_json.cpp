// SPDX-License-Identifier: Apache-2.0
#include "fakes/drivers/fake_drivers_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "base/text.hpp"
#include "model/types/dcb_types.hpp"

namespace rdmacfg::fakes {

using nlohmann::json;

void allow_keys(const json& object, const std::set<std::string>& known, const std::string& where) {
  for (const auto& [key, value] : object.items()) {
    if (!known.contains(key)) throw std::runtime_error(where + ": unknown key " + key);
  }
}

namespace {

void describe_modules(FakeKernel& kernel, const json& from) {
  for (const auto& [name, entry] : from.items()) {
    allow_keys(entry, {"loaded", "builtin", "in_use", "parameters", "hidden", "makes", "brings"}, "module");
    auto& module = kernel.modules.modules[name];
    module.builtin = entry.value("builtin", false);
    module.in_use = entry.value("in_use", false);
    module.parameters = entry.value("parameters", module.parameters);
    module.hidden = entry.value("hidden", module.hidden);
    module.makes = entry.value("makes", module.makes);
    module.brings = entry.value("brings", module.brings);
    // Its options at load time were there before any file of this host.
    if (entry.value("loaded", false)) {
      module.loaded = true;
      module.values = module.parameters;
    }
  }
}

void describe_dcb(FakeKernel& kernel, const json& from) {
  for (const auto& [name, entry] : from.items()) {
    allow_keys(entry,
               {"pfc", "pfc_capability", "traffic_class", "strict", "bandwidth", "willing", "apps", "dcbx",
                "driver", "classes", "agent", "negotiated", "resetting", "dscp_capable", "without_ets",
                "refuses_in_bond", "trust"},
               "dcb");
    auto& adapter = kernel.dcb.adapters[name];
    adapter.driver = entry.value("driver", "");
    adapter.classes = entry.value("classes", adapter.classes);
    adapter.agent = entry.value("agent", false);
    adapter.negotiated = entry.value("negotiated", true);
    adapter.refuses_in_bond = entry.value("refuses_in_bond", false);
    adapter.resetting = entry.value("resetting", false);
    adapter.dscp = entry.value("dscp_capable", true);
    auto state = FakeDcb::at_first(adapter.driver, adapter.classes, adapter.agent);
    state.pfc = entry.value("pfc", *state.pfc);
    state.pfc_capability = entry.value("pfc_capability", state.pfc_capability);
    state.dcbx = entry.value("dcbx", *state.dcbx);
    system::Ets ets = *state.ets;
    ets.willing = entry.value("willing", ets.willing);
    ets.traffic_class = entry.value("traffic_class", ets.traffic_class);
    ets.bandwidth = entry.value("bandwidth", ets.bandwidth);
    if (entry.contains("strict")) {
      ets.tsa.fill(system::Tsa::kEts);
      for (const auto& tc : entry.at("strict")) ets.tsa.at(tc.get<std::size_t>()) = system::Tsa::kStrict;
    }
    state.ets = ets;
    if (entry.value("without_ets", false)) state.ets.reset();
    if (entry.contains("trust")) {
      const auto order =
          model::Codec<model::TrustOrder>::parse(entry.at("trust").get<std::vector<std::string>>());
      if (!order) throw std::runtime_error("trust: " + order.error().message);
      adapter.trust.emplace();
      for (const auto selector : order->list) adapter.trust->push_back(static_cast<std::uint8_t>(selector));
      state.trust = adapter.trust;
    }
    // "26:3" is DSCP 26 at priority 3; "1/2114:3" another selector.
    const auto apps = entry.value("apps", std::vector<std::string>());
    for (const auto& text : apps) {
      const auto colon = text.find(':'), slash = text.find('/');
      system::DcbApp app{system::kDcbSelectorDscp, 0, 0};
      const auto start = slash == std::string::npos ? 0 : slash + 1;
      if (start != 0) app.selector = static_cast<std::uint8_t>(std::stoi(text.substr(0, slash)));
      app.protocol = static_cast<std::uint16_t>(std::stoi(text.substr(start, colon - start)));
      app.priority = static_cast<std::uint8_t>(std::stoi(text.substr(colon + 1)));
      state.apps.push_back(app);
    }
    std::sort(state.apps.begin(), state.apps.end());
    kernel.dcb.interfaces[name] = state;
  }
}

}  // namespace

void describe_drivers(FakeKernel& kernel, const json& host) {
  kernel.modules.tree = host.value("module_tree", kernel.modules.tree);
  const json modules = host.value("modules", json::object());
  describe_modules(kernel, modules);
  const json initramfs = host.value("initramfs", json::object());
  allow_keys(initramfs, {"tool", "by_hand", "newer", "there", "makes"}, "initramfs");
  kernel.initramfs.command = initramfs.value("tool", kernel.initramfs.command);
  kernel.initramfs.reason = initramfs.value("by_hand", kernel.initramfs.reason);
  kernel.initramfs.there = initramfs.value("there", kernel.initramfs.there);
  kernel.initramfs.makes = initramfs.value("makes", kernel.initramfs.makes);
  kernel.initramfs.newer = initramfs.value("newer", kernel.initramfs.newer);
  const json dcb = host.value("dcb", json::object());
  describe_dcb(kernel, dcb);
  for (const auto& pci : host.value("mlx4_without_dpdp", json::array()))
    kernel.mlx4_ports.without_dpdp.insert(pci.get<std::string>());
  const json ports = host.value("mlx4_ports", json::object());
  for (const auto& [pci, types] : ports.items()) {
    kernel.mlx4_ports.adapters[pci].clear();
    for (const auto& type : types) {
      const auto word = type.get<std::string>();
      kernel.mlx4_ports.adapters[pci].push_back(word == "auto" ? "auto (ib)" : word);
    }
  }
}

}  // namespace rdmacfg::fakes
