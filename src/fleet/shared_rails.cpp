// SPDX-License-Identifier: Apache-2.0
#include "fleet/shared_rails.hpp"

#include <algorithm>
#include <set>

namespace rdmacfg::fleet {

SharedRails::SharedRails(const Site& site) {
  std::map<std::uint32_t, std::set<HostId>> hosts;
  for (const auto& interface : site.interfaces) {
    if (interface.child) continue;
    auto& list = hosts[interface.rail];
    if (list.size() < 2) list.insert(interface.host);
  }
  for (const auto& interface : site.interfaces) {
    if (!interface.child && interface.guid.number != 0 && hosts.at(interface.rail).size() > 1)
      by_port_.try_emplace({interface.host, interface.guid.number}, interface.rail);
  }
}

std::uint32_t SharedRails::rail_of(const Manager& manager) const {
  const auto at = by_port_.find({manager.host, manager.port.number});
  return at == by_port_.end() ? 0 : at->second;
}

bool SharedRails::apart(const std::vector<const Manager*>& managers) const {
  std::set<std::uint32_t> used;
  return std::all_of(managers.begin(), managers.end(), [&](const Manager* manager) {
    const auto rail = rail_of(*manager);
    return rail != 0 && used.insert(rail).second;
  });
}

}  // namespace rdmacfg::fleet
