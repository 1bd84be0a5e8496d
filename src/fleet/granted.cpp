// SPDX-License-Identifier: Apache-2.0
#include "fleet/granted.hpp"

#include <algorithm>

#include "kinds/opensm/partition_rule.hpp"

namespace rdmacfg::fleet {

GrantedMembership::GrantedMembership(const HostAnswers& answers) : answers_(answers) {
  for (const auto& [host, rules] : answers.partitions()) {
    for (const auto& [partition, rule] : rules) partitions_.insert(partition);
  }
  if (partitions_.empty()) return;
  struct Ports {
    std::map<std::int64_t, std::set<std::uint64_t>> by_lid;  // GUIDs
    std::set<std::uint64_t> managers;
  };
  std::map<std::int64_t, Ports> served;  // by the LID of the subnet manager
  for (const auto& [name, table] : answers.tables()) {
    for (const auto& port : table.ports) {
      auto& ports = served[port.sm_lid];
      ports.by_lid[port.lid].insert(port.guid);
      if (port.lid != port.sm_lid || !answers.partitions().contains(port.host)) continue;
      managers_[port.sm_lid].insert(port.host);
      ports.managers.insert(port.guid);
    }
  }
  // Separate fabrics use the same LIDs, the subnet managers' among them. Ports with one LID are in as many
  // fabrics, and each of these has a subnet manager.
  std::erase_if(managers_, [&](const auto& manager) {
    const auto& ports = served.at(manager.first);
    return std::any_of(ports.by_lid.begin(), ports.by_lid.end(),
                       [&](const auto& port) { return port.second.size() > ports.managers.size(); });
  });
}

std::optional<GrantedMembership::Bounds> GrantedMembership::of(const FabricPort& port,
                                                               std::uint16_t partition) const {
  const auto managers = managers_.find(port.sm_lid);
  if (managers == managers_.end()) return std::nullopt;
  // OpenSM gives every port the default partition, and its own port full membership
  // (osm_prtn_make_default() in osm_prtn.c).
  const bool is_default = partition == kinds::kDefaultPartition;
  std::optional<Bounds> out;
  for (const auto host : managers->second) {
    const auto& rules = answers_.partitions().at(host);
    const auto rule = rules.find(partition);
    if (rule == rules.end()) return std::nullopt;
    auto least = rule->second.of(port.guid);
    if (is_default) least = std::max(least, Level::kLimited);
    auto most = least;
    if (host == port.host) {
      const auto self = rule->second.self;
      if (is_default) most = Level::kFull;
      if (self != Level::kNone) {
        least = std::min(least, self);
        most = std::max(most, self);
      }
    }
    out = out ? Bounds{std::min(out->least, least), std::max(out->most, most)} : Bounds{least, most};
  }
  return out;
}

}  // namespace rdmacfg::fleet
