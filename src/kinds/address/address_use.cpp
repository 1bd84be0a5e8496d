// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/address_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "kinds/address/address_exchange.hpp"
#include "kinds/address/request.hpp"
#include "kinds/address/route.hpp"

namespace rdmacfg::kinds::detail {

using base::Result;
using model::IpAddress;
using model::IpPrefix;
using system::InetAddress;

namespace {

bool has_a_network(const IpPrefix& prefix) { return prefix.length < prefix.address.bits(); }

using Networks = std::set<std::pair<int, IpPrefix>>;  // by interface

/// Whether one of the networks has this one in it.
bool leads_to(const Networks& routes, int index, const IpPrefix& network) {
  for (int length = network.length; length >= 0; --length) {
    if (routes.contains({index, IpPrefix{network.address, length}.network()})) return true;
  }
  return false;
}

/// The VRF whose routes count for an interface; 0: those of the host.
int vrf_of(const system::Link& link, const World& world) {
  constexpr int kDeep = 8;  // a bond in a bridge in a VRF
  const auto* at = &link;
  for (int depth = 0; at != nullptr && depth < kDeep; ++depth) {
    if (at->kind == "vrf") return at->index;
    at = at->master == 0 ? nullptr : world.link(at->master);
  }
  return 0;
}

/// Whether the kernel may send packets for an address of one interface through the other: both are in the
/// same VRF, and the other is up and is not the master of the first.
bool compete(const system::Link& own, const system::Link& other, const World& world) {
  return other.index != own.index && other.up && other.index != own.master &&
         vrf_of(own, world) == vrf_of(other, world);
}

}  // namespace

Result<std::set<std::pair<int, IpPrefix>>> unrouted(const std::vector<InetAddress>& all,
                                                    const std::map<int, TrackedInterface>& interfaces,
                                                    const World& world) {
  Networks out;
  for (const auto& address : all) {
    const auto* link = interfaces.contains(address.index) ? world.link(address.index) : nullptr;
    if (link != nullptr && link->up && address.no_network_route && !address.peer_elsewhere &&
        has_a_network(address.prefix))
      out.emplace(address.index, address.prefix);
  }
  if (out.empty()) return out;
  const auto all_routes = world.host().inet.observe_routes();
  if (!all_routes) return base::fail(all_routes.error());
  Networks routes;
  for (const auto& route : *all_routes) {
    if (!route.selective && !route.to.any) routes.emplace(route.index, route.to.network);
  }
  std::erase_if(
      out, [&](const auto& address) { return leads_to(routes, address.first, address.second.network()); });
  return out;
}

std::string why_in_bond(const system::Link& link, const World& world) {
  const auto* master = link.master == 0 ? nullptr : world.link(link.master);
  if (master == nullptr || (master->kind != "bond" && master->kind != "team")) return {};
  return fmt::format(
      "{0} is in {1}, which receives its packets, so connections from this address fail; configure the "
      "address on {1}, and leave it out here",
      link.name, master->name);
}

void warn_of_second_holders(const std::vector<model::Desired>& desired, const std::vector<InetAddress>& all,
                            const World& world, model::Diagnostics& diagnostics) {
  const auto ids = world.tracked("ipoib");
  const std::set<std::string> ports(ids.begin(), ids.end());
  std::map<IpAddress, std::vector<const system::Link*>> others;
  for (const auto& address : all) {
    // With a peer, the network is that of the peer.
    const bool counts = has_a_network(address.prefix) && !address.peer_elsewhere;
    const auto* link = counts ? world.link(address.index) : nullptr;
    if (link == nullptr || (link->ipoib && ports.contains(link->ipoib->guid.text()))) continue;
    others[address.prefix.address].push_back(link);
  }
  for (const auto& resource : desired) {
    const bool wanted = resource.key.kind == "address" && resource.settings.contains("address");
    const auto id = wanted ? address_id(resource.key) : std::nullopt;
    const auto at = id ? others.find(id->prefix.address) : others.end();
    const auto* own = at == others.end() ? nullptr : interface_of(id->interface, world);
    if (own == nullptr) continue;
    const auto other = std::find_if(at->second.begin(), at->second.end(),
                                    [&](const system::Link* link) { return compete(*own, *link, world); });
    if (other == at->second.end()) continue;
    diagnostics.push_back({model::Severity::kWarning,
                           resource.where,
                           fmt::format("{}: {}, which is not in the document, has this address too",
                                       resource.label, (*other)->name),
                           fmt::format("remove the address from {}: the kernel sends to its network over the "
                                       "interface that had it first",
                                       (*other)->name),
                           {}});
  }
}

void warn_of_tables_of_vrfs(const std::vector<model::Desired>& desired, const World& world,
                            model::Diagnostics& diagnostics) {
  constexpr std::uint32_t kMain = 254;
  std::set<int> told;
  for (const auto& resource : desired) {
    const bool wanted = resource.key.kind == "route" && !resource.settings.empty();
    const auto route = wanted ? route_of(resource.key) : std::nullopt;
    if (!route || route->table != kMain) continue;
    const auto* link = interface_of(resource.key.id.substr(0, resource.key.id.find(' ')), world);
    const auto* vrf = link == nullptr ? nullptr : world.link(vrf_of(*link, world));
    if (vrf == nullptr || !told.insert(link->index).second) continue;
    diagnostics.push_back(
        {model::Severity::kWarning,
         resource.where,
         fmt::format("{}: the route is in the main table, but {} is in the VRF {}, which has its own table",
                     resource.label, link->name, vrf->name),
         fmt::format("write it under routes with table = the table of {0} (ip -d link show {0})", vrf->name),
         {}});
  }
}

}  // namespace rdmacfg::kinds::detail
