// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm_running.hpp"

#include <csignal>
#include <utility>

namespace rdmacfg::kinds {

using base::Result;
using model::Guid;
using system::UnitAction;

Result<OpensmUnits> observe_opensm_units(system::Host& host, const std::set<Guid>& guids) {
  std::vector<std::string> names{kOpensmService};
  for (const auto guid : guids) names.push_back(opensm_unit(guid));
  auto units = host.units.observe_units(names);
  if (!units) return base::fail(units.error());
  OpensmUnits out;
  if (!*units) return out;
  for (auto& unit : **units) {
    auto name = unit.name;
    out.emplace(std::move(name), std::move(unit));
  }
  return out;
}

bool runs(const OpensmUnits& units, const std::string& name) {
  const auto at = units.find(name);
  return at != units.end() &&
         (at->second.active == "active" || at->second.active == "activating" || at->second.job == "start");
}

bool is_enabled(const OpensmUnits& units) {
  const auto at = units.find(kOpensmService);
  return at != units.end() && at->second.file == "enabled";
}

std::set<Guid> infiniband_ports(const World& world) {
  std::set<Guid> out;
  for (const auto& device : world.snapshot().devices) {
    for (const auto& port : device.ports) {
      if (port.link_layer == "InfiniBand" && port.guid.number != 0) out.insert(port.guid);
    }
  }
  return out;
}

Result<std::vector<std::string>> running_opensm(system::Host& host) {
  const auto world = World::observe(host);
  if (!world) return base::fail(world.error());
  const auto units = observe_opensm_units(host, infiniband_ports(*world));
  if (!units) return base::fail(units.error());
  const auto layout = observe_opensm_layout(host.files);
  std::vector<std::string> out;
  for (const auto& [name, unit] : *units) {
    // Debian's opensm.service only starts the others.
    const bool starter = layout == OpensmLayout::kDebian && name == kOpensmService;
    if (unit.active == "active" && !starter && (layout == OpensmLayout::kRhel || unit.main_pid != 0))
      out.push_back(name);
  }
  return out;
}

Result<void> restart_opensm(system::Host& host) {
  const auto running = running_opensm(host);
  if (!running) return base::fail(running.error());
  for (const auto& name : *running) {
    if (auto done = host.units.act(UnitAction::kRestart, name); !done) return done;
  }
  return {};
}

Result<void> reread_partitions(system::Host& host) {
  // RHEL's main process is the shell that starts them, which a signal would end; others' may be one, too.
  if (observe_opensm_layout(host.files) != OpensmLayout::kDebian) return restart_opensm(host);
  const auto running = running_opensm(host);
  if (!running) return base::fail(running.error());
  for (const auto& name : *running) {
    if (auto done = host.units.signal(name, SIGHUP); !done) return done;
  }
  return {};
}

}  // namespace rdmacfg::kinds
