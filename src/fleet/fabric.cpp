// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "fleet/majority.hpp"
#include "fleet/rules.hpp"

namespace rdmacfg::fleet {

namespace {

using Membership = PartitionFact::Membership;

std::string pkey_text(std::uint16_t partition) { return fmt::format("{:#06x}", partition | 0x8000U); }

/// OpenSM's own sm_priority (opensm.conf), which holds where the document gives none.
constexpr std::int64_t kUsualPriority = 0;

/// The ports from which hosts run subnet managers; 0: one that the document does not say.
using ManagerPorts = std::map<HostId, std::set<std::uint64_t>>;

ManagerPorts manager_ports(const Site& site) {
  ManagerPorts out;
  for (const auto& manager : site.managers) out[manager.host].insert(manager.port.number);
  return out;
}

/// Whether the port may be SELF of this rule: OpenSM's own port, not each of its host
/// (partition_add_port() in osm_prtn_config.c).
bool may_be_self(const ManagerPorts& managers, const PartitionFact& rule, const Interface& interface) {
  if (rule.host != interface.host) return false;
  const auto ports = managers.find(rule.host);
  return ports == managers.end() || interface.guid.number == 0 || ports->second.contains(0) ||
         ports->second.contains(interface.guid.number);
}

/// The best that the subnet managers' rules for a partition give a port. Nothing where that hangs on a GUID
/// that the document does not say.
std::optional<Membership> membership_of(const std::vector<const PartitionFact*>& rules,
                                        const Interface& interface, const ManagerPorts& managers) {
  auto best = Membership::kNone;
  bool names_ports = false;
  for (const auto* rule : rules) {
    const bool self = may_be_self(managers, *rule, interface);
    auto membership = rule->of(interface.guid.number);
    if (self) membership = std::max(membership, rule->self);
    // Of the default partition each port is a limited member before any rule, and OpenSM's a full one
    // (prtn_make_default() in osm_prtn.c).
    if (rule->number == kinds::kDefaultPartition && membership == Membership::kNone)
      membership = self ? Membership::kFull : Membership::kLimited;
    best = std::max(best, membership);
    names_ports = names_ports || !rule->ports.empty();
  }
  if (best != Membership::kFull && names_ports && interface.guid.number == 0) return std::nullopt;
  return best;
}

/// Whether there is a full member whose port none of these hosts has: a server that the others are to reach.
bool has_full_member_elsewhere(const std::vector<const PartitionFact*>& rules,
                               const std::set<std::uint64_t>& ports, const ManagerPorts& managers) {
  const auto is_elsewhere = [&](std::uint64_t port) { return !ports.contains(port); };
  return std::any_of(rules.begin(), rules.end(), [&](const PartitionFact* rule) {
    const auto manager = managers.find(rule->host);
    const bool full_by_default = rule->number == kinds::kDefaultPartition && rule->all == Membership::kNone &&
                                 manager != managers.end();
    return rule->all == Membership::kFull ||
           (full_by_default && std::any_of(manager->second.begin(), manager->second.end(), is_elsewhere)) ||
           std::any_of(rule->ports.begin(), rule->ports.end(), [&](const auto& port) {
             return port.second == Membership::kFull && is_elsewhere(port.first);
           });
  });
}

using Rules = std::map<std::uint16_t, std::vector<const PartitionFact*>>;

Rules rules_of(const Site& site) {
  Rules out;
  for (const auto& partition : site.partitions) out[partition.number].push_back(&partition);
  return out;
}

/// The rails of ports, as far as several hosts have them: others tell nothing.
class SharedRails {
 public:
  explicit SharedRails(const Site& site) {
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

  /// 0: not known.
  [[nodiscard]] std::uint32_t rail_of(const Manager& manager) const {
    const auto at = by_port_.find({manager.host, manager.port.number});
    return at == by_port_.end() ? 0 : at->second;
  }

  /// Whether each of these manages another rail, which may be a fabric of its own.
  [[nodiscard]] bool apart(const std::vector<const Manager*>& managers) const {
    std::set<std::uint32_t> used;
    return std::all_of(managers.begin(), managers.end(), [&](const Manager* manager) {
      const auto rail = rail_of(*manager);
      return rail != 0 && used.insert(rail).second;
    });
  }

 private:
  std::map<std::pair<HostId, std::uint64_t>, std::uint32_t> by_port_;
};

/// Hosts whose subnet managers may serve one fabric: of one rail, or all where a rail is not known.
std::vector<std::set<HostId>> managers_of_fabrics(const Site& site, const SharedRails& rails) {
  const bool known = std::all_of(site.managers.begin(), site.managers.end(),
                                 [&](const Manager& manager) { return rails.rail_of(manager) != 0; });
  std::map<std::uint32_t, std::set<HostId>> hosts;
  for (const auto& manager : site.managers) hosts[known ? rails.rail_of(manager) : 0].insert(manager.host);
  std::vector<std::set<HostId>> out;
  for (auto& [rail, list] : hosts) {
    if (list.size() > 1 && std::find(out.begin(), out.end(), list) == out.end())
      out.push_back(std::move(list));
  }
  return out;
}

/// Partitions that these subnet managers do not all give alike: they change when a standby takes over.
void check_copies(const Site& site, const std::set<HostId>& managers, std::vector<Finding>& out) {
  const auto alike = [](const PartitionFact& a, const PartitionFact& b) {
    return std::tie(a.group_mtu, a.ports, a.all, a.self) == std::tie(b.group_mtu, b.ports, b.all, b.self);
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
    finding.message = missing ? fmt::format("partition {} is missing, which {} has", pkey_text(number),
                                            site.hosts[first.host])
                              : fmt::format("partition {} has {} than on {}", pkey_text(number),
                                            members ? "other members or another MTU"
                                                    : "another sl, rate, q_key, tclass, flow_label or indx0",
                                            site.hosts[first.host]);
    out.push_back(std::move(finding));
  }
}

/// Numbers of the interfaces that have an IP address.
std::set<std::uint32_t> addressed_interfaces(const Site& site) {
  std::set<std::uint32_t> out;
  for (const auto& address : site.addresses) out.insert(address.interface);
  return out;
}

/// Interfaces in partitions for which no subnet manager makes the broadcast group of IPoIB, without which
/// they have no carrier (RFC 4391).
std::map<std::uint16_t, std::vector<const Interface*>> interfaces_without_group(const Site& site,
                                                                                const Rules& rules) {
  const auto addressed = addressed_interfaces(site);
  std::map<std::uint16_t, std::vector<const Interface*>> out;
  for (std::uint32_t at = 0; at < site.interfaces.size(); ++at) {
    const auto& interface = site.interfaces[at];
    const auto known = rules.find(interface.partition);
    if (known == rules.end() || (!interface.child && !addressed.contains(at))) continue;
    const auto& list = known->second;
    if (!std::all_of(list.begin(), list.end(), [](const auto* rule) { return rule->without_ipoib; }))
      continue;
    // The check of a host's own document says so of its P_Key interfaces.
    const bool said = interface.child && std::any_of(list.begin(), list.end(), [&](const auto* rule) {
                        return rule->host == interface.host;
                      });
    if (!said) out[interface.partition].push_back(&interface);
  }
  return out;
}

/// The interfaces that use a partition, by what they are in it.
struct PartitionUsers {
  /// Of one rail, where each has subnet managers of its own; else of all.
  struct Members {
    std::vector<const Interface*> limited;
    std::size_t others = 0;  ///< full members, and those of whom it is not known
    std::vector<const PartitionFact*> rules;
  };
  std::vector<const Interface*> unknown, outside;
  std::vector<const Interface*> by_other_rail;  ///< members, but not by the subnet managers of their rail
  std::map<std::uint32_t, Members> members;
};

/// The rules for a port's partition by the subnet managers of its own rail, where each manages a rail that
/// is known and this has some. Each rail may be a fabric of its own.
class RulesOfRails {
 public:
  explicit RulesOfRails(const Site& site) {
    const SharedRails rails(site);
    for (const auto& manager : site.managers) {
      const auto rail = rails.rail_of(manager);
      known_ = known_ && rail != 0;
      hosts_[rail].insert(manager.host);
    }
    known_ = known_ && hosts_.size() > 1;
  }

  [[nodiscard]] std::optional<std::vector<const PartitionFact*>> of(
      const std::vector<const PartitionFact*>& rules, std::uint32_t rail) const {
    const auto hosts = known_ ? hosts_.find(rail) : hosts_.end();
    if (hosts == hosts_.end()) return std::nullopt;
    std::vector<const PartitionFact*> out;
    for (const auto* rule : rules) {
      if (hosts->second.contains(rule->host)) out.push_back(rule);
    }
    return out;
  }

  /// Those of the port's own rail, where there are some; else all.
  [[nodiscard]] std::vector<const PartitionFact*> own(const std::vector<const PartitionFact*>& rules,
                                                      std::uint32_t rail) const {
    auto out = of(rules, rail);
    return out && !out->empty() ? std::move(*out) : rules;
  }

 private:
  std::map<std::uint32_t, std::set<HostId>> hosts_;  ///< of subnet managers, by rail
  bool known_ = true;
};

/// Interfaces whose MTU the multicast groups of their partition cannot carry: the kernel limits them to it.
void check_groups(const Site& site, const Rules& rules, std::vector<Finding>& out) {
  constexpr std::uint64_t kHeader = 4;             // of IPoIB in each datagram (RFC 4391)
  constexpr std::uint64_t kMostOfDatagram = 4092;  // a larger one is that of connected mode
  // As check_partitions() compares them: ports of one rail, P_Key interfaces of the whole partition.
  using LaneKey = std::pair<std::uint16_t, std::uint32_t>;
  const auto without_rails = partitions_without_rails(site);
  std::map<LaneKey, Shares<std::uint64_t>> shares;
  struct TooLarge {
    Finding finding;
    std::set<LaneKey> lanes;
  };
  const RulesOfRails rails(site);
  std::map<std::tuple<std::uint16_t, std::uint64_t, std::uint64_t>, TooLarge> found;  // by MTUs of both
  for (const auto& interface : site.interfaces) {
    const auto known = rules.find(interface.partition);
    const auto mtu = base::parse_number(site.words.text(interface.mtu.value));
    if (known == rules.end() || !mtu || site.words.text(interface.mode.value) == "connected") continue;
    if (interface.mode.value == 0 && *mtu > kMostOfDatagram) continue;
    const LaneKey lane{interface.partition,
                       interface.child || without_rails.contains(interface.partition) ? 0 : interface.rail};
    shares[lane].add(*mtu, interface.host);
    std::uint64_t group = 0;
    for (const auto* rule : rails.own(known->second, interface.rail))
      group = std::max<std::uint64_t>(group, rule->group_mtu);
    if (group == 0 || *mtu + kHeader <= group) continue;
    auto& [finding, lanes] = found[{interface.partition, *mtu, group}];
    lanes.insert(lane);
    if (finding.rule.empty())
      finding = {
          "partition-mtu", model::Severity::kError,
          fmt::format("partition {} has MTU {}, but its multicast groups carry {}",
                      pkey_text(interface.partition), *mtu, group - kHeader),
          fmt::format("give its [[partition]] mtu = 4096, or the interface mtu = {}", group - kHeader)};
    finding.hosts.push_back(interface.host);
    if (finding.places.size() + 1 < kPlaces)
      add_place(finding, site.location(interface.mtu.where), "of host " + site.hosts[interface.host]);
  }
  for (auto& [key, large] : found) {
    auto& [finding, lanes] = large;
    // Reported already, as a difference.
    if (std::none_of(lanes.begin(), lanes.end(), [&, mtu = std::get<1>(key)](const LaneKey& lane) {
          return shares.at(lane).most() == mtu;
        }))
      continue;
    for (const auto* rule : rules.at(std::get<0>(key)))
      add_place(finding, site.location(rule->where), "the partition");
    tidy(finding.hosts);
    out.push_back(std::move(finding));
  }
}

std::map<std::uint16_t, PartitionUsers> users_of(const Site& site, const Rules& rules,
                                                 const ManagerPorts& managers) {
  const RulesOfRails rails(site);
  const auto addressed = addressed_interfaces(site);
  std::map<std::uint16_t, PartitionUsers> users;
  for (std::uint32_t at = 0; at < site.interfaces.size(); ++at) {
    const auto& interface = site.interfaces[at];
    // Ports that only carry P_Key interfaces do not use the default partition.
    if (!interface.child && !addressed.contains(at)) continue;
    const auto known = rules.find(interface.partition);
    auto& list = users[interface.partition];
    if (known == rules.end()) {
      if (interface.child) list.unknown.push_back(&interface);
      continue;
    }
    const auto membership = membership_of(known->second, interface, managers);
    const auto of_rail = rails.of(known->second, interface.rail);
    const bool by_rail = !of_rail || (of_rail->empty() && !interface.child) ||
                         membership_of(*of_rail, interface, managers) != Membership::kNone;
    if (membership == Membership::kNone) list.outside.push_back(&interface);
    if (membership && *membership != Membership::kNone && !by_rail) list.by_other_rail.push_back(&interface);
    if (membership == Membership::kNone || !by_rail) continue;
    const bool own = of_rail && !of_rail->empty();
    auto& members = list.members[own ? interface.rail : 0];
    members.rules = own ? *of_rail : known->second;
    if (membership_of(members.rules, interface, managers) == Membership::kLimited) {
      members.limited.push_back(&interface);
    } else {
      ++members.others;
    }
  }
  return users;
}

}  // namespace

void check_membership(const Site& site, std::vector<Finding>& out) {
  // Without any, the partitions are those of a subnet manager elsewhere.
  if (site.partitions.empty()) return;
  const auto rules = rules_of(site);
  std::set<std::uint64_t> ports;
  for (const auto& interface : site.interfaces) ports.insert(interface.guid.number);
  check_groups(site, rules, out);
  const auto managers = manager_ports(site);
  const auto tell = [&](const char* rule, std::string message, std::string hint,
                        const std::vector<const Interface*>& who,
                        const std::vector<const PartitionFact*>& partitions,
                        model::Severity severity = model::Severity::kError) {
    Finding finding{rule, severity, std::move(message), std::move(hint)};
    for (const auto* interface : who) {
      finding.hosts.push_back(interface->host);
      if (finding.places.size() + 2 < kPlaces) add_place(finding, site.location(interface->where), "");
    }
    for (const auto* partition : partitions)
      add_place(finding, site.location(partition->where), "the partition");
    tidy(finding.hosts);
    out.push_back(std::move(finding));
  };
  for (const auto& [partition, list] : users_of(site, rules, managers)) {
    const auto pkey = pkey_text(partition);
    const auto known = rules.find(partition);
    if (!list.unknown.empty())
      tell("pkey-unknown", fmt::format("no [[partition]] defines P_Key {}", pkey),
           "add it to the document of the subnet manager", list.unknown, {});
    if (!list.outside.empty())
      tell("pkey-member", fmt::format("the port is not a member of partition {}", pkey),
           "add its GUID to members, or use the P_Key elsewhere", list.outside, known->second);
    if (!list.by_other_rail.empty())
      tell("pkey-member",
           fmt::format("only a subnet manager of another rail makes the port a member of partition {}", pkey),
           "list it on its own rail's subnet manager, too: on separate fabrics the port lacks the P_Key, and "
           "within one fabric a change of the master removes it",
           list.by_other_rail, known->second, model::Severity::kWarning);
    for (const auto& [rail, members] : list.members) {
      if (members.others != 0 || members.limited.size() < 2 ||
          has_full_member_elsewhere(members.rules, ports, managers))
        continue;
      tell("pkey-limited",
           fmt::format("all interfaces in partition {} are limited members: none of them can reach another",
                       pkey),
           "make one of them full: members = [\"GUID=full\"], or defmember = \"full\"", members.limited,
           members.rules);
    }
  }
  for (const auto& [partition, list] : interfaces_without_group(site, rules))
    tell("pkey-ipoib", fmt::format("partition {} has ipoib = false", pkey_text(partition)),
         "without its broadcast group the interface has no carrier; leave ipoib out of the [[partition]]",
         list, rules.at(partition));
}

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
