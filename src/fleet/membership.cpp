// SPDX-License-Identifier: Apache-2.0
// Members of partitions, and the multicast groups of these, across the hosts of a site.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "fleet/majority.hpp"
#include "fleet/rules.hpp"
#include "fleet/shared_rails.hpp"

namespace rdmacfg::fleet {

namespace {

using Membership = PartitionMembers::Membership;

std::string pkey_text(std::uint16_t partition) { return fmt::format("{:#06x}", partition | 0x8000U); }

/// The ports from which hosts run subnet managers; 0: one that the document does not say.
using ManagerPorts = std::map<HostId, std::set<std::uint64_t>>;

ManagerPorts manager_ports(const Site& site) {
  ManagerPorts out;
  for (const auto& manager : site.managers) out[manager.host].insert(manager.port.number);
  return out;
}

/// Whether the port may be SELF of its host's rules: OpenSM's own port, not each of its host
/// (partition_add_port() in osm_prtn_config.c).
bool may_be_self(const ManagerPorts& managers, const Interface& interface) {
  const auto ports = managers.find(interface.host);
  return ports == managers.end() || interface.guid.number == 0 || ports->second.contains(0) ||
         ports->second.contains(interface.guid.number);
}

/// Numbers of lists of members, by Membership.
using MembershipCounts = std::array<std::size_t, 3>;

/// Lists that name a port.
struct NamedPort {
  Membership best = Membership::kNone;
  MembershipCounts by_all{};  ///< by what these lists give all other ports
};

/// Subnet managers' rules for one partition, in the order of their hosts, and what they give a port: by an
/// index, since every host may have such rules.
class PartitionRules {
 public:
  void add(const PartitionFact& rule) {
    list_.push_back(&rule);
    group_mtu_ = std::max(group_mtu_, rule.group_mtu);
    if (!members_.insert(rule.members).second) return;
    count(by_all_, rule.members->all);
    for (const auto& [port, membership] : rule.members->ports) {
      auto& named = named_[port];
      named.best = std::max(named.best, membership);
      count(named.by_all, rule.members->all);
    }
  }

  [[nodiscard]] const std::vector<const PartitionFact*>& list() const { return list_; }
  /// Of all rules, each once.
  [[nodiscard]] const std::set<const PartitionMembers*>& members() const { return members_; }
  [[nodiscard]] std::uint32_t group_mtu() const { return group_mtu_; }  ///< the largest

  [[nodiscard]] std::span<const PartitionFact* const> of_host(HostId host) const {
    const auto first =
        std::lower_bound(list_.begin(), list_.end(), host,
                         [](const PartitionFact* rule, HostId wanted) { return rule->host < wanted; });
    const auto last =
        std::upper_bound(first, list_.end(), host,
                         [](HostId wanted, const PartitionFact* rule) { return wanted < rule->host; });
    return {first, last};
  }

  /// The best that they give a port. Nothing where that hangs on a GUID that the document does not say.
  [[nodiscard]] std::optional<Membership> membership_of(const Interface& interface,
                                                        const ManagerPorts& managers) const {
    const auto port = interface.guid.number;
    auto best = of_any_host(port);
    if (may_be_self(managers, interface)) {
      for (const auto* rule : of_host(interface.host)) best = std::max(best, of_self(*rule, port));
    }
    if (best != Membership::kFull && !named_.empty() && port == 0) return std::nullopt;
    return best;
  }

 private:
  static void count(MembershipCounts& counts, Membership membership) {
    ++counts.at(static_cast<std::size_t>(membership));
  }

  // Of the default partition each port is a limited member before any rule, and OpenSM's a full one
  // (prtn_make_default() in osm_prtn.c).
  static Membership of_self(const PartitionFact& rule, std::uint64_t port) {
    const auto best = std::max(rule.members->of(port), rule.members->self);
    return rule.number == kinds::kDefaultPartition && best == Membership::kNone ? Membership::kFull : best;
  }
  [[nodiscard]] Membership of_any_host(std::uint64_t port) const {
    auto best = Membership::kNone;
    if (!list_.empty() && list_.front()->number == kinds::kDefaultPartition) best = Membership::kLimited;
    const auto at = named_.find(port);
    const auto named = at == named_.end() ? NamedPort{} : at->second;
    best = std::max(best, named.best);
    for (const auto all : {Membership::kLimited, Membership::kFull}) {
      const auto level = static_cast<std::size_t>(all);
      if (by_all_.at(level) > named.by_all.at(level)) best = std::max(best, all);
    }
    return best;
  }

  std::vector<const PartitionFact*> list_;
  std::uint32_t group_mtu_ = 0;
  std::set<const PartitionMembers*> members_;
  MembershipCounts by_all_{};
  std::unordered_map<std::uint64_t, NamedPort> named_;
};

/// Whether there is a full member whose port none of these hosts has: a server that the others are to reach.
bool has_full_member_elsewhere(const PartitionRules& rules, const std::set<std::uint64_t>& ports,
                               const ManagerPorts& managers) {
  const auto is_elsewhere = [&](std::uint64_t port) { return !ports.contains(port); };
  const auto has_full = [&](const PartitionMembers* members) {
    return members->all == Membership::kFull ||
           std::any_of(members->ports.begin(), members->ports.end(), [&](const auto& port) {
             return port.second == Membership::kFull && is_elsewhere(port.first);
           });
  };
  const auto full_by_default = [&](const PartitionFact* rule) {
    if (rule->number != kinds::kDefaultPartition || rule->members->all != Membership::kNone) return false;
    const auto manager = managers.find(rule->host);
    return manager != managers.end() &&
           std::any_of(manager->second.begin(), manager->second.end(), is_elsewhere);
  };
  return std::any_of(rules.members().begin(), rules.members().end(), has_full) ||
         std::any_of(rules.list().begin(), rules.list().end(), full_by_default);
}

using Rules = std::map<std::uint16_t, PartitionRules>;

Rules rules_of(const Site& site) {
  Rules out;
  for (const auto& partition : site.partitions) out[partition.number].add(partition);
  return out;
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
  std::map<std::uint16_t, std::set<HostId>> without;  // hosts with rules for them
  for (const auto& [partition, rules_of_partition] : rules) {
    const auto& list = rules_of_partition.list();
    if (!std::all_of(list.begin(), list.end(), [](const auto* rule) { return rule->without_ipoib; }))
      continue;
    for (const auto* rule : list) without[partition].insert(rule->host);
  }
  const auto addressed = addressed_interfaces(site);
  std::map<std::uint16_t, std::vector<const Interface*>> out;
  for (std::uint32_t at = 0; at < site.interfaces.size(); ++at) {
    const auto& interface = site.interfaces[at];
    const auto hosts = without.find(interface.partition);
    if (hosts == without.end() || (!interface.child && !addressed.contains(at))) continue;
    // The check of a host's own document says so of its P_Key interfaces.
    if (!interface.child || !hosts->second.contains(interface.host))
      out[interface.partition].push_back(&interface);
  }
  return out;
}

/// The interfaces that use a partition, by what they are in it.
struct PartitionUsers {
  /// Of one rail, where each has subnet managers of its own; else of all.
  struct Members {
    std::vector<const Interface*> limited;
    std::size_t others = 0;  ///< full members, and those of whom it is not known
    const PartitionRules* rules = nullptr;
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

  /// `rules` are those of the interface's partition. Valid as long as this; null: rails do not matter.
  [[nodiscard]] const PartitionRules* of(const PartitionRules& rules, const Interface& interface) {
    const auto hosts = known_ ? hosts_.find(interface.rail) : hosts_.end();
    if (hosts == hosts_.end()) return nullptr;
    const auto [at, fresh] = made_.try_emplace({interface.partition, interface.rail});
    if (!fresh) return &at->second;
    for (const auto host : hosts->second) {
      for (const auto* rule : rules.of_host(host)) at->second.add(*rule);
    }
    return &at->second;
  }

  /// Those of the port's own rail, where there are some; else all.
  [[nodiscard]] const PartitionRules& own(const PartitionRules& rules, const Interface& interface) {
    const auto* out = of(rules, interface);
    return out && !out->list().empty() ? *out : rules;
  }

 private:
  std::map<std::uint32_t, std::set<HostId>> hosts_;  ///< of subnet managers, by rail
  bool known_ = true;
  std::map<std::pair<std::uint16_t, std::uint32_t>, PartitionRules> made_;  ///< by partition and rail
};

/// Interfaces whose MTU the multicast groups of their partition cannot carry: the kernel limits them to it.
void check_groups(const Site& site, const Rules& rules, RulesOfRails& rails, std::vector<Finding>& out) {
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
  std::map<std::tuple<std::uint16_t, std::uint64_t, std::uint64_t>, TooLarge> found;  // by MTUs of both
  for (const auto& interface : site.interfaces) {
    const auto known = rules.find(interface.partition);
    const auto mtu = base::parse_number(site.words.text(interface.mtu.value));
    if (known == rules.end() || !mtu || site.words.text(interface.mode.value) == "connected") continue;
    if (interface.mode.value == 0 && *mtu > kMostOfDatagram) continue;
    const LaneKey lane{interface.partition,
                       interface.child || without_rails.contains(interface.partition) ? 0 : interface.rail};
    shares[lane].add(*mtu, interface.host);
    const std::uint64_t group = rails.own(known->second, interface).group_mtu();
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
    for (const auto* rule : rules.at(std::get<0>(key)).list())
      add_place(finding, site.location(rule->where), "the partition");
    tidy(finding.hosts);
    out.push_back(std::move(finding));
  }
}

std::map<std::uint16_t, PartitionUsers> users_of(const Site& site, const Rules& rules, RulesOfRails& rails,
                                                 const ManagerPorts& managers) {
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
    const auto membership = known->second.membership_of(interface, managers);
    const auto* of_rail = rails.of(known->second, interface);
    const bool by_rail = !of_rail || (of_rail->list().empty() && !interface.child) ||
                         of_rail->membership_of(interface, managers) != Membership::kNone;
    if (membership == Membership::kNone) list.outside.push_back(&interface);
    if (membership && *membership != Membership::kNone && !by_rail) list.by_other_rail.push_back(&interface);
    if (membership == Membership::kNone || !by_rail) continue;
    const bool own = of_rail && !of_rail->list().empty();
    auto& members = list.members[own ? interface.rail : 0];
    members.rules = own ? of_rail : &known->second;
    if (members.rules->membership_of(interface, managers) == Membership::kLimited) {
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
  RulesOfRails rails(site);
  check_groups(site, rules, rails, out);
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
  for (const auto& [partition, list] : users_of(site, rules, rails, managers)) {
    const auto pkey = pkey_text(partition);
    const auto known = rules.find(partition);
    if (!list.unknown.empty())
      tell("pkey-unknown", fmt::format("no [[partition]] defines P_Key {}", pkey),
           "add it to the document of the subnet manager", list.unknown, {});
    if (!list.outside.empty())
      tell("pkey-member", fmt::format("the port is not a member of partition {}", pkey),
           "add its GUID to members, or use the P_Key elsewhere", list.outside, known->second.list());
    if (!list.by_other_rail.empty())
      tell("pkey-member",
           fmt::format("only a subnet manager of another rail makes the port a member of partition {}", pkey),
           "list it on its own rail's subnet manager, too: on separate fabrics the port lacks the P_Key, and "
           "within one fabric a change of the master removes it",
           list.by_other_rail, known->second.list(), model::Severity::kWarning);
    for (const auto& [rail, members] : list.members) {
      if (members.others != 0 || members.limited.size() < 2 ||
          has_full_member_elsewhere(*members.rules, ports, managers))
        continue;
      tell("pkey-limited",
           fmt::format("all interfaces in partition {} are limited members: none of them can reach another",
                       pkey),
           "make one of them full: members = [\"GUID=full\"], or defmember = \"full\"", members.limited,
           members.rules->list());
    }
  }
  for (const auto& [partition, list] : interfaces_without_group(site, rules))
    tell("pkey-ipoib", fmt::format("partition {} has ipoib = false", pkey_text(partition)),
         "without its broadcast group the interface has no carrier; leave ipoib out of the [[partition]]",
         list, rules.at(partition).list());
}

}  // namespace rdmacfg::fleet
