// SPDX-License-Identifier: Apache-2.0
#include "kinds/units.hpp"

#include <algorithm>
#include <utility>

namespace rdmacfg::kinds {

using base::Result;

Result<std::optional<system::Unit>> observe_unit(const std::string& name, system::Host& host) {
  auto units = host.units.observe_units(std::span(&name, 1));
  if (!units) return base::fail(units.error());
  if (!*units || (*units)->empty()) return std::optional<system::Unit>{};
  return std::optional(std::move((*units)->front()));
}

bool is_own_unit(std::string_view name) {
  constexpr std::string_view kOwn = "rdma-configd";
  return name.starts_with(kOwn) && name.size() > kOwn.size() &&
         std::string_view(".-").find(name[kOwn.size()]) != std::string_view::npos;
}

Result<UnitsByName> observe_units_by_name(std::span<const std::string> names, system::Host& host) {
  UnitsByName out;
  if (names.empty()) return out;
  auto units = host.units.observe_units(names);
  if (!units) return base::fail(units.error());
  if (!*units) return out;
  for (auto& unit : **units) {
    auto name = unit.name;
    out.emplace(std::move(name), std::move(unit));
  }
  return out;
}

bool waits_for_restart(const system::Unit& unit) {
  return unit.active == "activating" && unit.sub.starts_with("auto-restart") && unit.job.empty();
}

bool is_up(const system::Unit& unit) {
  if (unit.job == "start" || unit.job == "restart") return true;
  if (unit.job == "stop") return false;
  if (unit.active == "activating") return !unit.sub.starts_with("auto-restart");
  return unit.active == "active" || unit.active == "reloading";
}

Result<void> reload_changed_units(std::span<const std::string> names, system::Host& host) {
  const auto units = host.units.observe_units(names);
  if (!units) return base::fail(units.error());
  const bool changed = *units && std::any_of((*units)->begin(), (*units)->end(), [](const auto& unit) {
    return unit.there() && unit.needs_reload;
  });
  return changed ? host.units.reload_manager() : Result<void>{};
}

}  // namespace rdmacfg::kinds
