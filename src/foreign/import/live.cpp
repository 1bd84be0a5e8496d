// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/live.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "foreign/inet.hpp"
#include "formats/udev/udev_netdev_names.hpp"
#include "kinds/address/route.hpp"

namespace rdmacfg::foreign {

using model::Family;
using system::Link;

namespace {

Interface interface_of(const Link& link) {
  Interface out;
  out.where = {"the interface " + link.name, 0};
  out.name = link.name;
  out.mode = link.ipoib->mode;
  out.mtu = link.mtu;
  if (link.ipoib->umcast) out.umcast = true;
  if (!link.up) out.state = model::State::kDown;
  return out;
}

class LiveImport {
 public:
  LiveImport(const kinds::World& world, bool adopt, Claims& claims)
      : world_(world), adopt_(adopt), claims_(claims) {}

  base::Result<void> observe() {
    auto addresses = world_.host().inet.observe_addresses();
    if (!addresses) return base::fail(addresses.error().in("reading addresses"));
    auto routes = world_.host().inet.observe_routes();
    if (!routes) return base::fail(routes.error().in("reading routes"));
    addresses_ = std::move(*addresses);
    routes_ = std::move(*routes);
    const auto rules = kinds::read_rules(world_.host().files);
    // NetworkManager, which is to have what is adopted where it runs, names P_Key interfaces by itself.
    bool keeps_names = true;
    if (adopt_) {
      const auto& manager = world_.network_manager();
      keeps_names = !manager || !*manager;
    }
    for (const auto* link : world_.parents()) {
      const auto guid = link->ipoib->guid;
      if (guid.number == 0) {
        claims_.miss({link->name, 0}, "has no port GUID");
        continue;
      }
      auto interface = interface_of(*link);
      interface.guid = guid;
      const bool ours = rules && rules->contains(guid) && rules->at(guid) == link->name;
      interface.names = adopt_ || ours;
      inet(*link, interface);
      add(*link, std::move(interface));
      for (const auto* child : world_.children(link->index)) {
        auto below = interface_of(*child);
        below.guid = guid;
        below.parent = link->name;
        below.pkey = child->ipoib->pkey;
        below.names = keeps_names;
        inet(*child, below);
        add(*child, std::move(below));
      }
    }
    return {};
  }

 private:
  /// The values of the document: without a metric a route gets kRouteMetric, and 0 or the 1024 of IPv6 are
  /// others.
  static std::optional<std::uint32_t> metric_of(const system::InetRoute& route) {
    return route.metric == kinds::kRouteMetric ? std::nullopt : std::optional(route.metric);
  }

  /// Whether a next hop was reached from an address that is not written down, or no address of the family is.
  [[nodiscard]] bool hangs_on_lease(const system::InetRoute& route, const model::IpPrefixes& kept) const {
    const auto near = [&](const model::IpPrefix& prefix) { return route.via && prefix.contains(*route.via); };
    if (std::any_of(kept.begin(), kept.end(), near)) return false;
    return std::any_of(addresses_.begin(), addresses_.end(), [&](const system::InetAddress& address) {
      return address.index == route.index && !address.permanent &&
             address.prefix.address.family == route.family && (kept.empty() || near(address.prefix));
    });
  }

  void add(const Link& link, Interface interface) {
    claims_.took({"the interface " + link.name, 0});
    if (link.master != 0) claims_.pass(interface.where, "is in a bond, which the document cannot express");
    claims_.interfaces.push_back(std::move(interface));
  }

  void inet(const Link& link, Interface& out) {
    Interface found = out;
    std::string leased, lost, of_peers, of_some_packets;
    const auto append = [](std::string& list, const std::string& text) {
      list += (list.empty() ? "" : ", ") + text;
    };
    for (const auto& address : addresses_) {
      if (address.index != link.index) continue;
      if (address.peer_elsewhere) {
        append(of_peers, address.prefix.text());
      } else if (address.permanent) {
        found.inet(address.prefix.address.family).addresses.push_back(address.prefix);
      } else {
        append(leased, address.prefix.text());
      }
    }
    for (const auto& route : routes_) {
      if (route.index != link.index || route.made_by_kernel) continue;
      if (route.selective) {
        append(of_some_packets, route.to.text());
        continue;
      }
      if (hangs_on_lease(route, found.inet(route.family).addresses)) {
        append(lost, fmt::format("the route to {}", route.to.text()));
        continue;
      }
      add_route(found.inet(route.family), {route.to, route.via, metric_of(route), route.table});
    }
    if (!leased.empty()) {
      claims_.pass(out.where,
                   fmt::format("left out: {}{} (from DHCP or a router, so not permanent; method = \"auto\" "
                               "requests such addresses)",
                               leased, lost.empty() ? "" : " and " + lost));
    }
    if (!of_peers.empty())
      claims_.pass(out.where,
                   fmt::format("left out: {} (with a peer, which the document cannot express)", of_peers));
    if (!of_some_packets.empty())
      claims_.pass(out.where,
                   fmt::format("left out: routes to {} (for packets with one TOS or from one network, "
                               "which the document cannot express)",
                               of_some_packets));
    if (found.ipv4.empty() && found.ipv6.empty()) return;
    if (adopt_) {
      out = std::move(found);
      return;
    }
    std::string list;
    for (const auto family : {Family::kIpv4, Family::kIpv6}) {
      for (const auto& address : found.inet(family).addresses)
        list += fmt::format("{}{}", list.empty() ? "" : ", ", address.text());
    }
    claims_.pass(out.where,
                 fmt::format("not taken over without --adopt: {}", list.empty() ? "its routes" : list));
  }

  const kinds::World& world_;
  bool adopt_;
  Claims& claims_;
  std::vector<system::InetAddress> addresses_;
  std::vector<system::InetRoute> routes_;
};

}  // namespace

base::Result<void> observe_live(const kinds::World& world, bool adopt, Claims& claims) {
  return LiveImport(world, adopt, claims).observe();
}

std::map<std::string, model::Guid, std::less<>> known_ports(const kinds::World& world) {
  std::map<std::string, model::Guid, std::less<>> out;
  for (const auto* link : world.parents()) {
    if (link->ipoib->guid.number == 0) continue;
    out.emplace(link->name, link->ipoib->guid);
    for (const auto& name : link->altnames) out.emplace(name, link->ipoib->guid);
  }
  return out;
}

}  // namespace rdmacfg::foreign
