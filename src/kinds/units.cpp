// SPDX-License-Identifier: Apache-2.0
#include "kinds/units.hpp"

#include <fmt/format.h>

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

std::string UnitState::text() const { return sub.empty() ? active : fmt::format("{} ({})", active, sub); }

UnitState UnitState::parse(const std::string& text) {
  const auto open = text.find(" (");
  if (open == std::string::npos) return {text};
  return {text.substr(0, open), text.substr(open + 2, text.size() - open - 3)};
}

bool UnitState::restarts() const { return active == "activating" && sub.starts_with("auto-restart"); }

bool waits_for_restart(const system::Unit& unit) {
  return UnitState{unit.active, unit.sub}.restarts() && unit.job.empty();
}

bool is_up(const system::Unit& unit) {
  if (unit.job == "start" || unit.job == "restart") return true;
  if (unit.job == "stop") return false;
  if (unit.active == "activating") return !UnitState{unit.active, unit.sub}.restarts();
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
