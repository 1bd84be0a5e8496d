// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/address_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kinds/address/address_exchange.hpp"
#include "kinds/address/request.hpp"

namespace rdmacfg::kinds::detail {

using base::Result;
using model::IpAddress;
using model::IpPrefix;
using system::InetAddress;

namespace {

bool has_a_network(const IpPrefix& prefix) { return prefix.length < prefix.address.bits(); }

}  // namespace

Result<std::set<std::pair<int, IpPrefix>>> unrouted(const std::vector<InetAddress>& all,
                                                    const std::map<int, TrackedInterface>& interfaces,
                                                    const World& world) {
  std::set<std::pair<int, IpPrefix>> out;
  for (const auto& address : all) {
    const auto* link = interfaces.contains(address.index) ? world.link(address.index) : nullptr;
    if (link != nullptr && link->up && address.no_network_route && !address.peer_elsewhere &&
        has_a_network(address.prefix))
      out.emplace(address.index, address.prefix);
  }
  if (out.empty()) return out;
  const auto routes = world.host().inet.observe_routes();
  if (!routes) return base::fail(routes.error());
  std::erase_if(out, [&](const auto& address) {
    const auto& [index, prefix] = address;
    const auto network = prefix.network();
    return std::any_of(
        routes->begin(), routes->end(), [&, at = index, length = prefix.length](const auto& route) {
          return route.index == at && !route.selective && !route.to.any &&
                 route.to.network.length <= length && route.to.network.contains(network.address);
        });
  });
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
  std::map<IpAddress, const system::Link*> others;
  for (const auto& address : all) {
    const auto* link = has_a_network(address.prefix) ? world.link(address.index) : nullptr;
    if (link == nullptr || (link->ipoib && ports.contains(link->ipoib->guid.text()))) continue;
    others.emplace(address.prefix.address, link);
  }
  for (const auto& resource : desired) {
    const bool wanted = resource.key.kind == "address" && resource.settings.contains("address");
    const auto id = wanted ? address_id(resource.key) : std::nullopt;
    const auto at = id ? others.find(id->prefix.address) : others.end();
    if (at == others.end()) continue;
    diagnostics.push_back({model::Severity::kWarning,
                           resource.where,
                           fmt::format("{}: {}, which is not in the document, has this address too",
                                       resource.label, at->second->name),
                           fmt::format("remove the address from {}: the kernel sends to its network over the "
                                       "interface that had it first",
                                       at->second->name),
                           {}});
  }
}

}  // namespace rdmacfg::kinds::detail
