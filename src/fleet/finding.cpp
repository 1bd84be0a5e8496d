// SPDX-License-Identifier: Apache-2.0
#include "fleet/finding.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fleet/host_list.hpp"

namespace rdmacfg::fleet {

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules{
      {"no-file", "no file of the document is for the host"},
      {"unknown-host", "a table has a line for a host that is not in the list"},
      {"host-name", "two hosts have the same name without their domains, or a host is listed by address"},
      {"address", "interfaces of two hosts have the same IP address"},
      {"guid", "two hosts have the same port or node GUID"},
      {"partition-name", "two partitions have the same name, or one partition has two names"},
      {"partition-mtu",
       "interfaces of one partition and network have different MTUs, or a larger one than its multicast "
       "groups"},
      {"partition-mode", "interfaces of one partition and network have different modes"},
      {"partition-subnet", "interfaces of one partition and rail are in different IP networks"},
      {"rails-swapped", "interfaces have addresses of each other's networks"},
      {"pkey-unknown", "no [[partition]] defines the P_Key of an interface"},
      {"pkey-member", "the port of an interface is not a member of its partition"},
      {"pkey-limited", "all members of a partition are limited, so that none reaches another"},
      {"pkey-ipoib", "an interface is in a partition whose [[partition]] has ipoib = false"},
      {"sm-priority", "two subnet managers have the same highest priority"},
      {"sm-partition",
       "subnet managers of one fabric define a partition differently, or some do not define it"},
      {"sm-none", "no host of the site runs a subnet manager"},
      {"roce-mode", "ports of one rail have different RoCE versions"},
      {"roce-dscp", "ports of one rail have different DSCPs"},
      {"pfc-priority", "interfaces of one rail have different lossless priorities"},
      {"pfc-dscp", "interfaces of one rail map DSCPs to different priorities"},
  };
  return kRules;
}

void add_place(Finding& finding, const model::Location& where, std::string note) {
  if (where.file.empty() || finding.places.size() >= kPlaces) return;
  const bool known = std::any_of(finding.places.begin(), finding.places.end(),
                                 [&](const auto& place) { return place.where == where; });
  if (!known) finding.places.push_back({where, std::move(note)});
}

void tidy(std::vector<HostId>& hosts) {
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
}

std::string fold_hosts(const std::vector<std::string>& names, const std::vector<HostId>& hosts) {
  std::vector<std::string> out;
  out.reserve(hosts.size());
  for (const auto host : hosts) out.push_back(names[host]);
  return fold_hosts(out);
}

std::string hosts_text(std::size_t count) { return count == 1 ? "1 host" : fmt::format("{} hosts", count); }

}  // namespace rdmacfg::fleet
