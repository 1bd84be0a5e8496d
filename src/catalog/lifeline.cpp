// SPDX-License-Identifier: Apache-2.0
#include "catalog/lifeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "catalog/connectivity.hpp"
#include "catalog/logins.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"
#include "kinds/ipoib/pkey.hpp"
#include "kinds/mounts.hpp"
#include "kinds/rdma/mlx4_port.hpp"
#include "kinds/world.hpp"

namespace rdmacfg::kinds {

namespace {

using model::Change;
using model::Family;
using model::Operation;

constexpr auto kMainTable = Connectivity::kMainTable;

/// A route or address that must be there after a plan as before it.
struct Lifeline {
  const system::Link* link = nullptr;
  Family family = Family::kIpv4;
  std::optional<model::IpAddress> address;  ///< of a login session; without one it is a route
  std::uint32_t table = kMainTable;
  bool dynamic = false;                                 ///< by DHCP or from a router
  bool presumed = false;                                ///< whether there is a login session is not known
  model::IpPrefix to = {};                              ///< of a route; of length 0 without `peer`
  std::optional<model::IpAddress> peer = std::nullopt;  ///< a host that somebody is logged in from, or
  bool root = false;                                    ///< that file systems of this host come from

  [[nodiscard]] std::string description() const {
    if (address) return fmt::format("{} {}", link->name, address->text());
    return fmt::format("the {} over {}", peer ? "route to " + to.text() : "default route", link->name);
  }
  /// Its purpose in a clause; empty for a default route.
  [[nodiscard]] std::string clause() const {
    if (root) return ", by which this host reaches its own file systems";
    if (presumed) return ", which may carry a login session (the host's connections cannot be read)";
    return address || peer ? ", which carries a login session" : "";
  }
  [[nodiscard]] std::string clause_of_link() const {
    return address || peer ? clause() : ", which carries the default route";
  }

  [[nodiscard]] bool in(const Connectivity& connectivity) const {
    if (address && connectivity.addresses.contains(*address)) return true;
    const auto leads = [&](const Connectivity::Route& route) {
      if (route.family != family || route.table != table) return false;
      return peer ? route.to.contains(*peer) : route.to.length == 0;
    };
    if (!address && std::any_of(connectivity.routes.begin(), connectivity.routes.end(), leads)) return true;
    return dynamic && connectivity.dynamic.contains(family);
  }
};

/// The route by which a host is reached, when it is neither a default route nor the kernel's to a network
/// that is connected.
const system::InetRoute* route_of(const model::IpAddress& peer, const std::vector<system::InetRoute>& routes,
                                  const std::vector<system::InetAddress>& addresses) {
  const system::InetRoute* best = nullptr;
  for (const auto& route : routes) {
    if (route.to.any || route.family != peer.family || route.table != kMainTable) continue;
    const auto& network = route.to.network;
    if (network.length == 0 || !network.contains(peer)) continue;
    const bool better = best == nullptr || network.length > best->to.network.length ||
                        (network.length == best->to.network.length && route.metric < best->metric);
    if (better) best = &route;
  }
  if (best == nullptr || best->made_by_kernel) return nullptr;
  const bool connected = std::any_of(addresses.begin(), addresses.end(), [&](const auto& address) {
    return address.prefix.length >= best->to.network.length && address.prefix.contains(peer);
  });
  return connected ? nullptr : best;
}

void add_logins(system::Host& host, const World& world, const std::vector<system::InetAddress>& addresses,
                const std::vector<system::InetRoute>& routes, std::vector<Lifeline>& out) {
  const auto logins = observe_logins(host);
  for (const auto& address : addresses) {
    const auto& own = address.prefix.address;
    const auto* link = world.link(address.index);
    if (link == nullptr) continue;
    const auto seen = std::any_of(logins.sessions.begin(), logins.sessions.end(), [&](const auto& session) {
      return session.local ? *session.local == own : address.prefix.contains(session.peer);
    });
    if (seen || (logins.hidden && !own.loopback()))
      out.push_back({link, own.family, own, kMainTable, !address.permanent, !seen});
  }
  std::set<const system::InetRoute*> taken;
  for (const auto& session : logins.sessions) {
    const auto* route = route_of(session.peer, routes, addresses);
    const auto* link = route == nullptr ? nullptr : world.link(route->index);
    if (link == nullptr || !taken.insert(route).second) continue;
    Lifeline added{link, route->family, std::nullopt, route->table};
    added.to = route->to.network;
    added.peer = session.peer;
    out.push_back(std::move(added));
  }
}

/// The servers of the host's own file systems: without them no program goes on, and nobody can mend that.
void add_root_servers(system::Host& host, const World& world,
                      const std::vector<system::InetAddress>& addresses,
                      const std::vector<system::InetRoute>& routes, std::vector<Lifeline>& out) {
  for (const auto& server : observe_root_servers(host)) {
    // A client of NFS may have been told any address ("clientaddr=0.0.0.0").
    const bool known =
        server.local && std::any_of(addresses.begin(), addresses.end(), [&](const auto& address) {
          return address.prefix.address == *server.local;
        });
    for (const auto& address : addresses) {
      const auto& own = address.prefix.address;
      const auto* link = world.link(address.index);
      if (link == nullptr || (known ? *server.local != own : !address.prefix.contains(server.peer))) continue;
      Lifeline added{link, own.family, own, kMainTable, !address.permanent};
      added.root = true;
      out.push_back(std::move(added));
    }
    const auto* route = route_of(server.peer, routes, addresses);
    const auto* link = route == nullptr ? nullptr : world.link(route->index);
    if (link == nullptr) continue;
    Lifeline added{link, route->family, std::nullopt, route->table};
    added.to = route->to.network;
    added.peer = server.peer;
    added.root = true;
    out.push_back(std::move(added));
  }
}

/// Whether a plan may take anything from an interface. Finding the servers of disks asks about their users,
/// which takes its time where a target does not answer.
bool may_take(const model::Plan& plan) {
  return std::any_of(plan.changes.begin(), plan.changes.end(), [](const Change& change) {
    if (change.key.kind == "mlx4_port") return true;
    return change.operation != Operation::kCreate && !interface_in(change.key).empty();
  });
}

std::vector<Lifeline> lifelines_of(const model::Plan& plan, system::Host& host, const World& world,
                                   const std::vector<system::InetAddress>& addresses) {
  std::vector<Lifeline> out;
  const auto routes = host.inet.observe_routes().value_or(std::vector<system::InetRoute>());
  for (const auto& route : routes) {
    const auto* link = world.link(route.index);
    if (link == nullptr || (!route.to.any && route.to.network.length != 0)) continue;
    const bool leased =
        route.made_by_kernel || std::any_of(addresses.begin(), addresses.end(), [&](const auto& address) {
          return address.index == route.index && !address.permanent &&
                 address.prefix.address.family == route.family;
        });
    out.push_back({link, route.family, std::nullopt, route.table, leased});
  }
  if (may_take(plan)) add_root_servers(host, world, addresses, routes, out);
  add_logins(host, world, addresses, routes, out);
  return out;
}

/// Ports that a change of port types turns from InfiniBand to Ethernet: their interfaces go.
bool turns_to_ethernet(const Change& change, model::Guid guid, const World& world) {
  const auto port = world.port(guid);
  if (!port || port->device->pci != change.key.id) return false;
  const auto after = model::from_attributes<Mlx4PortTypes>(change.after).ports;
  const auto at = static_cast<std::size_t>(port->port->number) - 1;
  return after && at < after->list.size() && after->list[at] == "eth";
}

class Judge {
 public:
  Judge(const model::Plan& plan, system::Host& host, const World& world,
        std::vector<system::InetAddress> addresses)
      : plan_(plan), world_(world), addresses_(std::move(addresses)) {
    lifelines_ = lifelines_of(plan, host, world_, addresses_);
    for (const auto& change : plan.changes) {
      const auto id = interface_in(change.key);
      if (id.empty()) continue;
      const bool child = change.key.kind == "pkey";  // of which a partition may have several
      interfaces_.push_back({&change, child ? detail::child_of(change, world_) : interface_of(id, world_)});
    }
  }

  [[nodiscard]] std::string threatened() const {
    for (const auto& lifeline : lifelines_) {
      if (is_down_after(*lifeline.link)) return lifeline.link->name + lifeline.clause_of_link();
      if (supplied(lifeline) || (!taken(lifeline) && !stranded(lifeline))) continue;
      return lifeline.description() + lifeline.clause();
    }
    return {};
  }

 private:
  struct Concerned {
    const Change* change;
    const system::Link* link;
  };

  /// Whether an interface is away or down after the plan.
  [[nodiscard]] bool is_down_after(const system::Link& link) const {
    bool gone = false, again = false;
    for (const auto& [change, own] : interfaces_) {
      const bool mine = own != nullptr && own->index == link.index;
      const bool above = own != nullptr && own->index == link.parent;
      if (!mine && !above) continue;
      const auto& kind = change->key.kind;
      const bool link_kind = kind == "ipoib" || kind == "pkey";
      if (link_kind && own->up && change->operation != Operation::kDelete &&
          model::text_at(change->after, "state") == "down")
        return true;
      if (!mine) continue;
      if (kind == "nm_profile" && change->operation == Operation::kUpdate && stays_down(change->after) &&
          !stays_down(change->before))
        gone = true;
      if (kind == "pkey" && change->operation == Operation::kDelete) gone = true;
      // NetworkManager makes the interface of a P_Key profile, and the kind pkey does.
      const bool makes = (kind == "pkey" || (kind == "nm_profile" && link.ipoib && link.ipoib->child)) &&
                         change->operation != Operation::kDelete;
      if (makes && !stays_down(change->after)) again = true;
      if (kind == "nm_profile" && change->operation == Operation::kDelete && link.ipoib && link.ipoib->child)
        gone = true;
    }
    for (const auto& change : plan_.changes) {
      if (change.key.kind != "mlx4_port" || change.operation == Operation::kDelete || !link.ipoib) continue;
      if (turns_to_ethernet(change, link.ipoib->guid, world_)) return true;
    }
    return gone && !again;
  }

  /// Of a profile's settings: NetworkManager does not activate it. Other kinds have no such setting.
  static bool stays_down(const model::Attributes& settings) {
    return model::from_attributes<NmProfile>(settings).autoconnect == false;
  }

  /// Whether a change takes it from the interface that it is on.
  [[nodiscard]] bool taken(const Lifeline& lifeline) const {
    return std::any_of(interfaces_.begin(), interfaces_.end(), [&](const Concerned& by) {
      if (by.link == nullptr || by.link->index != lifeline.link->index) return false;
      const auto& change = *by.change;
      // NetworkManager lets all addresses go with a profile, also those that it was not told of.
      if (change.key.kind == "nm_profile" && change.operation == Operation::kDelete) return true;
      if (loses_ipv6(change) && lifeline.family == Family::kIpv6) return true;
      return lifeline.in(connectivity_of(change.key, change.before)) &&
             !lifeline.in(connectivity_of(change.key, change.after));
    });
  }

  static bool loses_ipv6(const Change& change) {
    if (change.key.kind != "ipoib" && change.key.kind != "pkey") return false;
    const auto* mtu = std::get_if<std::int64_t>(&model::value_of(change.after, "mtu"));
    return mtu != nullptr && *mtu < model::kMtuIpv6Min;
  }

  /// Whether the plan gives it again: an address to the same interface, a default route over any.
  [[nodiscard]] bool supplied(const Lifeline& lifeline) const {
    return std::any_of(interfaces_.begin(), interfaces_.end(), [&](const Concerned& by) {
      if (by.change->operation == Operation::kDelete) return false;
      if (lifeline.address && (by.link == nullptr || by.link->index != lifeline.link->index)) return false;
      if (by.link != nullptr && is_down_after(*by.link)) return false;
      const auto connectivity = connectivity_of(by.change->key, by.change->after);
      const bool leased =
          !lifeline.address && lifeline.table == kMainTable && connectivity.dynamic.contains(lifeline.family);
      return leased || lifeline.in(connectivity);
    });
  }

  /// Whether it is a route over an interface that loses its last address of the family: the kernel forgets
  /// the route (fib_disable_ip()), and its next hop cannot be reached any more.
  [[nodiscard]] bool stranded(const Lifeline& lifeline) const {
    if (lifeline.address) return false;
    bool any = false;
    for (const auto& address : addresses_) {
      if (address.index != lifeline.link->index || address.prefix.address.family != lifeline.family) continue;
      any = true;
      const Lifeline held{lifeline.link, lifeline.family, address.prefix.address, kMainTable,
                          !address.permanent};
      if (!taken(held) || supplied(held)) return false;
    }
    return any && std::none_of(interfaces_.begin(), interfaces_.end(), [&](const Concerned& by) {
             if (by.link == nullptr || by.link->index != lifeline.link->index) return false;
             const auto connectivity = connectivity_of(by.change->key, by.change->after);
             return connectivity.dynamic.contains(lifeline.family) ||
                    std::any_of(connectivity.addresses.begin(), connectivity.addresses.end(),
                                [&](const auto& address) { return address.family == lifeline.family; });
           });
  }

  const model::Plan& plan_;
  const World& world_;
  std::vector<system::InetAddress> addresses_;
  std::vector<Lifeline> lifelines_;
  std::vector<Concerned> interfaces_;
};

}  // namespace

std::string cut_off_by(const model::Plan& plan, system::Host& host) {
  const auto world = World::observe(host);
  if (!world) return {};
  auto addresses = host.inet.observe_addresses();
  if (!addresses) addresses = std::vector<system::InetAddress>();
  return Judge(plan, host, *world, std::move(*addresses)).threatened();
}

}  // namespace rdmacfg::kinds
