// SPDX-License-Identifier: Apache-2.0
// The subnet managers of a site: their priorities, and whether they give the same partitions.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fleet/rules.hpp"
#include "fleet/shared_rails.hpp"

namespace rdmacfg::fleet {

namespace {

/// OpenSM's own sm_priority (opensm.conf), which holds where the document gives none.
constexpr std::int64_t kUsualPriority = 0;

/// Hosts whose subnet managers may serve one fabric: of one rail, or all where a rail is not known.
std::vector<std::set<HostId>> managers_of_fabrics(const Site& site, const SharedRails& rails) {
  const bool known = std::all_of(site.managers.begin(), site.managers.end(),
                                 [&](const Manager& manager) { return rails.rail_of(manager) != 0; });
  std::map<std::uint32_t, std::set<HostId>> hosts;
  for (const auto& manager : site.managers) hosts[known ? rails.rail_of(manager) : 0].insert(manager.host);
  std::set<std::set<HostId>> seen;
  std::vector<std::set<HostId>> out;
  for (auto& [rail, list] : hosts) {
    if (list.size() > 1 && seen.insert(list).second) out.push_back(std::move(list));
  }
  return out;
}

/// Partitions that these subnet managers do not all give alike: they change when a standby takes over.
void check_copies(const Site& site, const std::set<HostId>& managers, std::vector<Finding>& out) {
  const auto alike = [](const PartitionFact& a, const PartitionFact& b) {
    return a.group_mtu == b.group_mtu && a.members == b.members;
  };
  const auto same = [&](const PartitionFact& a, const PartitionFact& b) {
    return alike(a, b) && a.how == b.how;
  };
  std::map<std::uint16_t, std::map<HostId, const PartitionFact*>> partitions;
  for (const auto& partition : site.partitions) {
    if (managers.contains(partition.host)) partitions[partition.number].emplace(partition.host, &partition);
  }
  for (const auto& [number, facts] : partitions) {
    const auto& first = *facts.begin()->second;
    Finding finding{
        "sm-partition", model::Severity::kWarning, "",
        "give all subnet managers of a fabric the same partitions, as each may become its master; if "
        "these manage separate fabrics, this is correct"};
    for (const auto host : managers) {
      if (!facts.contains(host)) finding.hosts.push_back(host);
    }
    const bool missing = !finding.hosts.empty();
    bool members = false;
    for (const auto& [host, fact] : facts) {
      if (!missing && !same(*fact, first)) finding.hosts.push_back(host);
      members = members || !alike(*fact, first);
      if (missing || host == first.host || !same(*fact, first))
        add_place(finding, site.location(fact->where), "of host " + site.hosts[host]);
    }
    if (finding.hosts.empty()) continue;
    const auto pkey = fmt::format("{:#06x}", number | 0x8000U);
    finding.message = missing
                          ? fmt::format("partition {} is missing, which {} has", pkey, site.hosts[first.host])
                          : fmt::format("partition {} has {} than on {}", pkey,
                                        members ? "other members or another MTU"
                                                : "another sl, rate, q_key, tclass, flow_label or indx0",
                                        site.hosts[first.host]);
    out.push_back(std::move(finding));
  }
}

}  // namespace

void check_managers(const Site& site, std::vector<Finding>& out) {
  if (site.managers.empty()) {
    Finding none{"sm-none", model::Severity::kWarning, "no host of the list runs a subnet manager",
                 "add [[opensm]] to a host, unless a switch or another program manages the fabric"};
    for (const auto& interface : site.interfaces) none.hosts.push_back(interface.host);
    tidy(none.hosts);
    if (none.hosts.empty()) return;
    add_place(none, site.location(site.interfaces.front().where), "");
    out.push_back(std::move(none));
    return;
  }
  std::map<std::uint32_t, std::vector<const Manager*>> fabrics;
  for (const auto& manager : site.managers) fabrics[manager.fabric].push_back(&manager);
  const SharedRails rails(site);
  for (const auto& hosts : managers_of_fabrics(site, rails)) check_copies(site, hosts, out);
  const auto priority_of = [](const Manager* manager) { return std::max(manager->priority, kUsualPriority); };
  for (auto& [fabric, list] : fabrics) {
    const auto highest =
        priority_of(*std::max_element(list.begin(), list.end(), [&](const Manager* a, const Manager* b) {
          return priority_of(a) < priority_of(b);
        }));
    std::erase_if(list, [&](const Manager* manager) { return priority_of(manager) != highest; });
    if (list.size() < 2) continue;
    const bool said =
        std::any_of(list.begin(), list.end(), [](const auto* manager) { return manager->priority >= 0; });
    const bool apart = rails.apart(list);
    Finding finding{"sm-priority", apart ? model::Severity::kWarning : model::Severity::kError,
                    said
                        ? fmt::format("{} subnet managers have the highest priority {}", list.size(), highest)
                        : fmt::format("{} subnet managers have no priority", list.size()),
                    apart ? "correct if the rails are separate fabrics; otherwise give the intended master a "
                            "higher priority"
                          : "give the intended master a higher priority; the default is OpenSM's 0"};
    for (const auto* manager : list) {
      finding.hosts.push_back(manager->host);
      add_place(finding, site.location(manager->where), "of host " + site.hosts[manager->host]);
    }
    tidy(finding.hosts);
    out.push_back(std::move(finding));
  }
}

}  // namespace rdmacfg::fleet
