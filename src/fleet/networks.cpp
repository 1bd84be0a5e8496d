// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "fleet/majority.hpp"
#include "fleet/rules.hpp"

namespace rdmacfg::fleet {

namespace {

using model::Family;

/// Interfaces that belong together: of one partition, and of one rail.
struct Lane {
  std::uint16_t partition = 0;
  std::uint32_t rail = 0;
  auto operator<=>(const Lane&) const = default;
};

/// Sorted IP networks of one family on an interface.
using Networks = std::vector<model::IpPrefix>;

std::string text_of_networks(const Networks& networks) {
  std::vector<std::string> out;
  for (const auto& network : networks) out.push_back(network.text());
  return base::join(out, " and ");
}

/// Whether one network is in each of these.
bool have_one_network(const Shares<Networks>& shares) {
  auto common = shares.hosts.begin()->first;
  for (const auto& [networks, hosts] : shares.hosts) {
    Networks both;
    std::set_intersection(common.begin(), common.end(), networks.begin(), networks.end(),
                          std::back_inserter(both));
    common = std::move(both);
  }
  return !common.empty();
}

class Partitions {
 public:
  Partitions(const Site& site, std::vector<Finding>& out)
      : site_(site), out_(out), merged_(partitions_without_rails(site)) {
    for (std::uint32_t at = 0; at < site.addresses.size(); ++at) {
      const auto& address = site.addresses[at];
      if (address.prefix.address.link_local()) continue;
      networks_[{address.interface, address.prefix.address.family}].push_back(address.prefix.network());
      spots_.try_emplace({address.interface, address.prefix.address.family},
                         address.from.line > 0 ? address.from : address.where);
    }
    for (auto& [place, networks] : networks_) {
      // A second address in a network does not make another one.
      std::sort(networks.begin(), networks.end());
      networks.erase(std::unique(networks.begin(), networks.end()), networks.end());
      const auto& interface = site.interfaces[place.first];
      if (interface.child || place.second != Family::kIpv4) continue;
      for (const auto& network : networks) ++ports_in_[{interface.partition, network}];
    }
  }

  void check() {
    check_networks();
    check_settings(Setting::kMtu);
    check_settings(Setting::kMode);
  }

 private:
  enum class Setting { kMtu, kMode };
  using Place = std::pair<std::uint32_t, Family>;  ///< interface and family

  [[nodiscard]] Lane lane_of(const Interface& interface) const {
    return {interface.partition, merged_.contains(interface.partition) ? 0 : interface.rail};
  }
  [[nodiscard]] std::string name_of(const Lane& lane) const {
    const auto pkey = fmt::format("partition {:#06x}", lane.partition | 0x8000U);
    return lane.rail == 0 ? pkey : fmt::format("{} on {}", pkey, site_.words.text(lane.rail));
  }

  void check_networks() {
    for (const auto family : {Family::kIpv4, Family::kIpv6}) {
      std::map<Lane, Shares<Networks>> lanes;
      members_.clear();
      for (const auto& [place, networks] : networks_) {
        if (place.second != family) continue;
        const auto& interface = site_.interfaces[place.first];
        lanes[lane_of(interface)].add(networks, interface.host);
        members_[lane_of(interface)].emplace_back(place.first, &networks);
      }
      std::map<std::pair<std::uint16_t, Networks>, Lane> home;
      for (const auto& [lane, shares] : lanes) {
        if (shares.clear()) home.try_emplace({lane.partition, shares.most()}, lane);
      }
      find_swapped(family, lanes, home);
      for (const auto& [lane, shares] : lanes) tell_networks(family, lane, shares);
    }
  }

  /// Hosts whose interfaces have addresses of each other's networks.
  void find_swapped(Family family, const std::map<Lane, Shares<Networks>>& lanes,
                    const std::map<std::pair<std::uint16_t, Networks>, Lane>& home) {
    struct Misplaced {
      std::map<Lane, std::pair<Lane, std::uint32_t>> to;  ///< lane → lane of its address, and the interface
    };
    // Once for each lane: every host may have a network of its own.
    std::map<Lane, const Networks*> usual;
    for (const auto& [lane, shares] : lanes) {
      if (shares.clear()) usual.emplace(lane, &shares.most());
    }
    std::map<HostId, std::map<std::uint16_t, Misplaced>> misplaced;
    for (const auto& [place, networks] : networks_) {
      if (place.second != family) continue;
      const auto& interface = site_.interfaces[place.first];
      const auto lane = lane_of(interface);
      const auto most = usual.find(lane);
      if (most == usual.end() || networks == *most->second) continue;
      const auto other = home.find({lane.partition, networks});
      if (other != home.end() && other->second != lane)
        misplaced[interface.host][lane.partition].to[lane] = {other->second, place.first};
    }
    std::map<std::string, Finding> found;
    for (const auto& [host, partitions] : misplaced) {
      for (const auto& [partition, stray] : partitions) {
        std::set<Lane> from, to;
        for (const auto& [lane, other] : stray.to) {
          from.insert(lane);
          to.insert(other.first);
        }
        if (from != to) continue;  // its other rails have addresses of their own: not swapped
        std::vector<std::string> rails;
        for (const auto& lane : from) rails.push_back(site_.words.text(lane.rail));
        auto& finding = found[fmt::format("{:#06x} {}", partition | 0x8000U, base::join(rails, ", "))];
        if (finding.rule.empty())
          finding = {"rails-swapped", model::Severity::kError,
                     fmt::format("the {} addresses of {} in partition {:#06x} are swapped", text_of(family),
                                 base::join(rails, " and "), partition | 0x8000U),
                     "give each rail the address of its own network, as on most hosts"};
        finding.hosts.push_back(host);
        for (const auto& [lane, other] : stray.to) {
          swapped_.insert({other.second, family});
          add_place(finding, site_.location(spots_.at({other.second, family})),
                    fmt::format("{} of host {}", site_.words.text(lane.rail), site_.hosts[host]));
        }
      }
    }
    for (auto& [key, finding] : found) {
      tidy(finding.hosts);
      out_.push_back(std::move(finding));
    }
  }

  void tell_networks(Family family, const Lane& lane, const Shares<Networks>& shares) {
    if (shares.agree()) return;
    const bool clear = shares.clear();
    const auto& most = shares.most();
    std::map<HostId, std::uint32_t> interfaces;
    Shares<Networks> others;
    for (const auto& [place, networks] : members_.at(lane)) {
      // A host with a network more, such as a gateway, reaches the others all the same.
      const bool has_most = std::includes(networks->begin(), networks->end(), most.begin(), most.end());
      if ((clear && has_most) || swapped_.contains({place, family})) continue;
      others.add(*networks, site_.interfaces[place].host);
      interfaces.emplace(site_.interfaces[place].host, place);
    }
    if (others.hosts.empty() || (!clear && have_one_network(others))) return;
    const auto tell = [&](Finding finding, const std::vector<HostId>& hosts) {
      finding.hosts = hosts;
      for (const auto host : hosts)
        add_place(finding, site_.location(spots_.at({interfaces.at(host), family})),
                  "of host " + site_.hosts[host]);
      tidy(finding.hosts);
      out_.push_back(std::move(finding));
    };
    if (!clear) {
      std::vector<HostId> all;
      for (const auto& [networks, hosts] : others.hosts) all.insert(all.end(), hosts.begin(), hosts.end());
      tell({"partition-subnet", model::Severity::kWarning,
            fmt::format("{} is in {} {} networks, such as {} and {}", name_of(lane), others.hosts.size(),
                        text_of(family), text_of_networks(others.hosts.begin()->first),
                        text_of_networks(std::next(others.hosts.begin())->first)),
            "hosts of one partition reach each other directly only within one network"},
           all);
      return;
    }
    for (const auto& [networks, hosts] : others.hosts)
      tell({"partition-subnet", model::Severity::kError,
            fmt::format("{} is in network {}, but in {} on {}", name_of(lane), text_of_networks(networks),
                        text_of_networks(most), hosts_text(shares.hosts.at(most).size())),
            "hosts of one partition need one network; look at prefix lengths, too"},
           hosts);
  }

  /// Of the networks of a port the one that most ports of its partition are in.
  [[nodiscard]] const model::IpPrefix& busiest_of(std::uint16_t partition, const Networks& networks) const {
    return *std::max_element(networks.begin(), networks.end(), [&](const auto& a, const auto& b) {
      return ports_in_.at({partition, a}) < ports_in_.at({partition, b});
    });
  }

  /// P_Key interfaces are compared within their partition, ports within their network.
  void check_settings(Setting setting) {
    const bool mtu = setting == Setting::kMtu;
    using Group = std::tuple<std::uint16_t, std::uint32_t, Networks>;
    std::map<Group, Shares<std::uint32_t>> groups;
    std::map<Group, std::map<std::pair<std::uint32_t, HostId>, SourcePosition>> spots;
    for (std::uint32_t at = 0; at < site_.interfaces.size(); ++at) {
      const auto& interface = site_.interfaces[at];
      const auto& said = mtu ? interface.mtu : interface.mode;
      if (said.value == 0) continue;
      Group group{interface.partition, 0, {}};
      if (!interface.child) {
        const auto networks = networks_.find({at, Family::kIpv4});
        if (networks != networks_.end()) {
          std::get<2>(group) = {busiest_of(interface.partition, networks->second)};
        } else {
          std::get<1>(group) = lane_of(interface).rail;
        }
      }
      groups[group].add(said.value, interface.host);
      spots[group].try_emplace({said.value, interface.host}, said.where);
    }
    for (const auto& [group, shares] : groups) {
      if (shares.agree()) continue;
      const auto most = shares.most();
      for (const auto& [value, hosts] : shares.hosts) {
        if (value == most) continue;
        const auto& [partition, rail, networks] = group;
        auto where = networks.empty() ? name_of({partition, rail}) : "network " + text_of_networks(networks);
        Finding finding{
            mtu ? "partition-mtu" : "partition-mode", model::Severity::kError,
            fmt::format("{} has {} {}, but {} on {}", where, mtu ? "MTU" : "mode", site_.words.text(value),
                        site_.words.text(most), hosts_text(shares.hosts.at(most).size())),
            mtu ? "packets larger than the MTU of a host are dropped on their way to it"
                : "give all hosts of the partition the same mode",
            hosts};
        for (const auto host : hosts)
          add_place(finding, site_.location(spots[group].at({value, host})), "of host " + site_.hosts[host]);
        add_place(finding, site_.location(spots[group].at({most, shares.hosts.at(most).front()})),
                  "of most hosts");
        tidy(finding.hosts);
        out_.push_back(std::move(finding));
      }
    }
  }

  const Site& site_;
  std::vector<Finding>& out_;
  std::map<Place, Networks> networks_;
  std::map<std::pair<std::uint16_t, model::IpPrefix>, std::size_t> ports_in_;  ///< by IPv4 network
  /// Interfaces of a lane with their networks, of the family that is checked.
  std::map<Lane, std::vector<std::pair<std::uint32_t, const Networks*>>> members_;
  std::map<Place, SourcePosition> spots_;
  std::set<std::uint16_t> merged_;
  std::set<Place> swapped_;
};

constexpr std::array<const char*, 4> kTrafficRules{"roce-mode", "roce-dscp", "pfc-priority", "pfc-dscp"};
constexpr std::array<const char*, 4> kTrafficNames{"RoCE version", "DSCP", "lossless priorities",
                                                   "priorities of DSCPs"};

struct TrafficGroup {
  Shares<std::uint32_t> shares;
  std::map<std::pair<std::uint32_t, HostId>, SourcePosition> spots;
};

struct TrafficRail {
  std::uint32_t rail = 0;
  const TrafficGroup* group = nullptr;
  std::set<HostId> hosts{};
};

/// Rails that no host has both of may be one network, whose ports have other names on other hosts.
void compare_rails(const Site& site, std::size_t index, const std::vector<TrafficRail>& rails,
                   std::vector<Finding>& out) {
  if (rails.size() < 2) return;
  const auto& largest = *std::max_element(
      rails.begin(), rails.end(),
      [](const TrafficRail& a, const TrafficRail& b) { return a.hosts.size() < b.hosts.size(); });
  const auto usual = largest.group->shares.most();
  const auto beside = [&](const TrafficRail& rail) {
    return std::any_of(rail.hosts.begin(), rail.hosts.end(),
                       [&](HostId host) { return largest.hosts.contains(host); });
  };
  std::set<std::uint32_t> known;  // of the networks of these hosts, any of which a port may be in
  for (const auto& rail : rails) {
    if (beside(rail)) known.insert(rail.group->shares.most());
  }
  std::map<std::uint32_t, Finding> found;  // by value
  for (const auto& rail : rails) {
    const auto value = rail.group->shares.most();
    if (known.contains(value) || beside(rail)) continue;
    auto& finding = found[value];
    if (finding.rule.empty())
      finding = {kTrafficRules.at(index), model::Severity::kWarning,
                 fmt::format("{}: {} {}, but {} on {} with {}", site.words.text(rail.rail),
                             kTrafficNames.at(index), site.words.text(value), site.words.text(usual),
                             hosts_text(largest.group->shares.hosts.at(usual).size()),
                             site.words.text(largest.rail)),
                 "this is correct only if the ports are in separate networks; within one network the values "
                 "must agree"};
    for (const auto host : rail.group->shares.hosts.at(value)) {
      finding.hosts.push_back(host);
      add_place(finding, site.location(rail.group->spots.at({value, host})), "of host " + site.hosts[host]);
    }
  }
  for (auto& [value, finding] : found) {
    const auto host = largest.group->shares.hosts.at(usual).front();
    add_place(finding, site.location(largest.group->spots.at({usual, host})), "of host " + site.hosts[host]);
    tidy(finding.hosts);
    out.push_back(std::move(finding));
  }
}

}  // namespace

std::set<std::uint16_t> partitions_without_rails(const Site& site) {
  std::map<std::uint16_t, std::map<std::uint32_t, std::set<HostId>>> rails;
  for (const auto& interface : site.interfaces) {
    auto& hosts = rails[interface.partition][interface.rail];
    if (hosts.size() < 2) hosts.insert(interface.host);
  }
  std::set<std::uint16_t> out;
  for (const auto& [partition, by_rail] : rails) {
    if (std::none_of(by_rail.begin(), by_rail.end(), [](const auto& rail) { return rail.second.size() > 1; }))
      out.insert(partition);
  }
  return out;
}

void check_partitions(const Site& site, std::vector<Finding>& out) { Partitions(site, out).check(); }

void check_traffic(const Site& site, std::vector<Finding>& out) {
  using What = Traffic::What;
  std::map<std::pair<What, std::uint32_t>, TrafficGroup> groups;
  std::map<What, std::map<std::uint32_t, std::set<HostId>>> rails;
  for (const auto& fact : site.traffic) rails[fact.what][fact.rail].insert(fact.host);
  std::set<What> apart;  // of rails that several hosts share
  for (const auto& [what, by_rail] : rails) {
    if (std::any_of(by_rail.begin(), by_rail.end(), [](const auto& rail) { return rail.second.size() > 1; }))
      apart.insert(what);
  }
  for (const auto& fact : site.traffic) {
    auto& group = groups[{fact.what, apart.contains(fact.what) ? fact.rail : 0}];
    group.shares.add(fact.sourced_value.value, fact.host);
    group.spots.try_emplace({fact.sourced_value.value, fact.host}, fact.sourced_value.where);
  }
  std::map<What, std::vector<TrafficRail>> lists;
  for (const auto& [key, group] : groups)
    lists[key.first].push_back({key.second, &group, rails.at(key.first)[key.second]});
  for (const auto& [what, list] : lists) compare_rails(site, static_cast<std::size_t>(what), list, out);
  for (const auto& [key, group] : groups) {
    if (group.shares.agree()) continue;
    const auto index = static_cast<std::size_t>(key.first);
    const auto most = group.shares.most();
    const auto rail = key.second == 0 ? std::string("RoCE ports") : site.words.text(key.second);
    for (const auto& [value, hosts] : group.shares.hosts) {
      if (value == most) continue;
      Finding finding{
          kTrafficRules.at(index), model::Severity::kError,
          fmt::format("{}: {} {}, but {} on {}", rail, kTrafficNames.at(index), site.words.text(value),
                      site.words.text(most), hosts_text(group.shares.hosts.at(most).size())),
          "both ends of a connection, and the switches between them, need the same values", hosts};
      for (const auto host : hosts)
        add_place(finding, site.location(group.spots.at({value, host})), "of host " + site.hosts[host]);
      add_place(finding, site.location(group.spots.at({most, group.shares.hosts.at(most).front()})),
                "of most hosts");
      tidy(finding.hosts);
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace rdmacfg::fleet
