// SPDX-License-Identifier: Apache-2.0
#include "kinds/managers/manager_boot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "kinds/host/unit_boot.hpp"
#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Severity;

namespace {

/// Whether this boot's links start it again: those of /run go with the boot, except what a generator makes
/// anew (netplan's makes those of systemd-networkd).
bool starts_manager(const system::Unit& unit, system::Files& files) {
  if (!unit.there() || unit.load == "masked" || unit.file == "masked") return false;
  if (unit.file != "disabled" && unit.file != "enabled-runtime") return true;
  return starts_by_generator(unit, files).value_or(true);
}

bool enabled_by_document(std::string_view service, const std::vector<Desired>& desired) {
  return std::any_of(desired.begin(), desired.end(), [&](const Desired& resource) {
    return resource.key.kind == "service" && resource.key.id == service &&
           model::value_of(resource.settings, "enabled") == model::Value{true};
  });
}

}  // namespace

// systemd-networkd.socket starts the service with the first message of the kernel about a route.
ManagerUnits networkd_units() {
  return {"systemd-networkd.service", {"systemd-networkd.socket", "systemd-networkd-wait-online.service"}};
}

ManagerUnits network_manager_units() {
  return {"NetworkManager.service", {"NetworkManager-wait-online.service"}};
}

void warn_of_manager_at_boot(std::string_view kind, const ManagerUnits& manager,
                             const std::vector<Desired>& desired, World& world,
                             model::Diagnostics& diagnostics) {
  if (world.offline()) return;
  const auto first = std::find_if(desired.begin(), desired.end(), [&](const Desired& resource) {
    return resource.key.kind == kind && !resource.ignore && !resource.settings.empty();
  });
  if (first == desired.end() || enabled_by_document(manager.service, desired)) return;
  std::vector<std::string> names{std::string(manager.service)};
  names.insert(names.end(), manager.starters.begin(), manager.starters.end());
  const auto units = observe_units_by_name(names, world.host());
  if (!units) return;  // where the manager is asked, this is said
  const auto service = units->find(names.front());
  if (service == units->end() || !service->second.there()) return;
  const bool masked = service->second.load == "masked" || service->second.file == "masked";
  const bool starts = std::any_of(units->begin(), units->end(), [&](const auto& named) {
    return starts_manager(named.second, world.host().files);
  });
  if (!masked && starts) return;
  diagnostics.push_back(
      {Severity::kWarning,
       first->where,
       fmt::format("{} is {}, so the interfaces that it configures have no addresses after "
                   "the next boot",
                   manager.service, masked ? "masked" : "not enabled"),
       fmt::format("{0}`systemctl enable {1}`, or choose another backend for its ports",
                   masked ? fmt::format("`systemctl unmask {}`, then ", manager.service) : std::string(),
                   manager.service),
       {}});
}

}  // namespace rdmacfg::kinds
