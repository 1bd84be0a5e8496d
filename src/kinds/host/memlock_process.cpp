// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/memlock_process.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::LockLimit;

bool is_template(const std::string& unit) { return unit.find("@.") != std::string::npos; }

Result<std::map<std::string, system::Unit>> observe_loaded(system::Host& host,
                                                           std::vector<std::string> names) {
  std::erase_if(names, is_template);
  return observe_units_by_name(names, host);
}

std::string words_of(const LockLimit& limit) { return limit.kib ? limit.text() + " KiB" : "any amount"; }

std::string why_instances_wait(const std::string& unit, const LockLimit& wanted, system::Host& host) {
  constexpr std::size_t kNamed = 5;
  const auto instances = host.units.observe_instances(unit);
  if (!instances || !*instances) return {};
  std::string names;
  std::size_t number = 0;
  for (const auto& instance : **instances) {
    const auto now = instance.main_pid == 0 ? std::nullopt : host.units.observe_memlock(instance.main_pid);
    if (!now || *now == wanted || ++number > kNamed) continue;
    names += fmt::format("{}{} (may lock {})", number == 1 ? "" : ", ", instance.name, words_of(*now));
  }
  if (number == 0) return {};
  if (number > kNamed) names += fmt::format(" and {} more", number - kNamed);
  return unit == kUserSessions ? "logged-in users must end all their sessions and log in again (for "
                                 "lingering users, restart the unit): " +
                                     names
                               : "running processes need a restart: " + names;
}

bool systemd_answers(system::Host& host) {
  const auto units = host.units.observe_units({});
  return units && *units;
}

Result<std::optional<LockLimit>> process_limit(const std::string& unit, system::Host& host) {
  auto units = observe_loaded(host, {unit});
  if (!units) return base::fail(units.error());
  const auto at = units->find(unit);
  if (at == units->end() || at->second.main_pid == 0) return std::optional<LockLimit>{};
  return host.units.observe_memlock(at->second.main_pid);
}

}  // namespace rdmacfg::kinds
