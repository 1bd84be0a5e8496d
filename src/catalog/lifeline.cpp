// SPDX-License-Identifier: Apache-2.0
#include "catalog/lifeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "catalog/logins.hpp"
#include "kinds/address/networkd_file.hpp"
#include "kinds/address/nm_keyfile.hpp"
#include "kinds/address/request.hpp"
#include "kinds/address/route.hpp"
#include "kinds/ipoib/pkey.hpp"
#include "kinds/rdma/mlx4_port.hpp"

namespace rdmacfg::kinds {

namespace {

using model::Change;
using model::Family;
using model::Operation;

constexpr std::uint32_t kMainTable = 254;

std::optional<Connectivity::Route> route_to(std::string_view target, Family family, std::uint32_t table) {
  const auto to = model::RouteTarget::parse(target);
  if (!to) return std::nullopt;
  Connectivity::Route out{family, {}, table};
  out.to = to->any ? model::IpPrefix{{family, {}}, 0} : to->network;
  return out;
}

std::optional<Connectivity::Route> route_to(const system::InetRoute& route) {
  return route_to(route.to.text(), route.family, route.table);
}

/// Lines of [ipv4] or [ipv6] of a keyfile (nm-settings-keyfile(5)): "address1=192.0.2.1/24,192.0.2.254",
/// "route1=0.0.0.0/0,192.0.2.254,50".
void add_lines(const std::vector<std::string>& lines, Family family, Connectivity& out) {
  std::map<std::string, std::string, std::less<>> values;
  for (const auto& line : lines) {
    const auto equals = line.find('=');
    if (equals != std::string::npos) values.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  const auto add_route = [&](std::string_view target, std::uint32_t table) {
    if (auto route = route_to(target, family, table)) out.routes.insert(*route);
  };
  const auto value = [&](std::string_view key) {
    const auto at = values.find(key);
    return at == values.end() ? std::string() : at->second;
  };
  const auto table = base::parse_number(value("route-table")).value_or(kMainTable);
  const auto main = static_cast<std::uint32_t>(table == 0 ? kMainTable : table);
  bool gateway = values.contains("gateway");
  for (const auto& [key, text] : values) {
    const auto words = base::split(text, ',');
    if (key.starts_with("address")) {
      if (const auto prefix = model::IpPrefix::parse(words.front())) out.addresses.insert(prefix->address);
      if (words.size() > 1 && !words[1].empty()) gateway = true;
    } else if (key.starts_with("route") && key.find_first_not_of("0123456789", 5) == std::string::npos) {
      auto in = main;
      const auto options = value(key + "_options");
      for (const auto option : base::split(options, ',')) {
        if (!option.starts_with("table=")) continue;
        in = static_cast<std::uint32_t>(base::parse_number(option.substr(6)).value_or(in));
      }
      add_route(words.front(), in);
    }
  }
  if (gateway && value("never-default") != "true") add_route("default", main);
  if (value("method") == "auto" || value("method") == "dhcp") out.dynamic.insert(family);
}

Connectivity connectivity_of_profile(const NmProfile& profile) {
  Connectivity out;
  if (profile.autoconnect == false) return out;
  add_lines(profile.ipv4.value_or(std::vector<std::string>()), Family::kIpv4, out);
  add_lines(profile.ipv6.value_or(std::vector<std::string>()), Family::kIpv6, out);
  return out;
}

Connectivity connectivity_of_network(const NetworkdFile& file) {
  Connectivity out;
  if (file.unmanaged == true) return out;
  for (const auto& prefix : addresses_in(file)) out.addresses.insert(prefix.address);
  for (const auto& text : routes_in(file)) {
    if (auto route = route_to(text)) out.routes.insert(*route);
  }
  if (file.dhcp == true) out.dynamic.insert(Family::kIpv4);
  if (file.router_advertisements == true) out.dynamic.insert(Family::kIpv6);
  return out;
}

bool has_value(const model::Attributes& settings, std::string_view name) {
  return !std::holds_alternative<std::monostate>(model::value_of(settings, name));
}

/// Whether a kind gives interfaces addresses.
bool addresses_by(std::string_view kind) {
  return kind == "address" || kind == "route" || kind == "nm_profile" || kind == "networkd";
}

/// A route or address that must be there after a plan as before it.
struct Lifeline {
  const system::Link* link = nullptr;
  Family family = Family::kIpv4;
  std::optional<model::IpAddress> address;  ///< of a login session; without one it is a route
  std::uint32_t table = kMainTable;
  bool dynamic = false;                                 ///< by DHCP or from a router
  bool presumed = false;                                ///< whether there is a login session is not known
  model::IpPrefix to = {};                              ///< of a route; of length 0 without `peer`
  std::optional<model::IpAddress> peer = std::nullopt;  ///< a host that somebody is logged in from

  [[nodiscard]] std::string description() const {
    if (address) return fmt::format("{} {}", link->name, address->text());
    return fmt::format("the {} over {}", peer ? "route to " + to.text() : "default route", link->name);
  }
  /// Its purpose in a clause; empty for a default route.
  [[nodiscard]] std::string clause() const {
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

std::vector<Lifeline> lifelines_of(system::Host& host, const World& world,
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
    lifelines_ = lifelines_of(host, world_, addresses_);
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

Connectivity connectivity_of(const model::Key& key, const model::Attributes& settings) {
  if (settings.empty()) return {};
  Connectivity out;
  if (key.kind == "address" && has_value(settings, "address")) {
    const auto prefix = model::IpPrefix::parse(model::text_at(settings, "address"));
    if (prefix) out.addresses.insert(prefix->address);
  } else if (key.kind == "route" && has_value(settings, "via")) {
    const auto route = route_of(key);
    const auto place = route ? route_to(*route) : std::nullopt;
    if (place) out.routes.insert(*place);
  } else if (key.kind == "nm_profile") {
    return connectivity_of_profile(model::from_attributes<NmProfile>(settings));
  } else if (key.kind == "networkd") {
    return connectivity_of_network(model::from_attributes<NetworkdFile>(settings));
  }
  return out;
}

std::string interface_in(const model::Key& key) {
  if (!addresses_by(key.kind) && key.kind != "ipoib" && key.kind != "pkey") return {};
  return key.id.substr(0, key.id.find(' '));
}

std::string cut_off_by(const model::Plan& plan, system::Host& host) {
  const auto world = World::observe(host);
  if (!world) return {};
  auto addresses = host.inet.observe_addresses();
  if (!addresses) addresses = std::vector<system::InetAddress>();
  return Judge(plan, host, *world, std::move(*addresses)).threatened();
}

Removed removed_by(const model::Plan& plan) {
  // The addresses and routes that the plan gives, by interface; routes over any.
  std::map<std::string, Connectivity> given;
  std::map<std::string, std::set<std::string>> carriers;  // kinds, by interface
  std::set<Connectivity::Route> routes;
  const auto interface_of = [](const model::Key& key) {
    const auto id = interface_in(key);
    return id.substr(0, id.find('#'));  // a second interface of one partition
  };
  for (const auto& change : plan.changes) {
    const auto id = interface_of(change.key);
    if (change.operation == Operation::kDelete || id.empty()) continue;
    auto connectivity = connectivity_of(change.key, change.after);
    auto& mine = given[id];
    carriers[id].insert(change.key.kind);
    mine.addresses.merge(connectivity.addresses);
    routes.merge(connectivity.routes);
  }
  const auto again = [&](const Change& change) {
    const auto id = interface_of(change.key);
    const auto at = given.find(id);
    const auto before = connectivity_of(change.key, change.before);
    if (change.key.kind == "route")
      return !before.routes.empty() &&
             std::includes(routes.begin(), routes.end(), before.routes.begin(), before.routes.end());
    if (at == given.end()) return false;
    if (change.key.kind == "address") {
      return !before.addresses.empty() &&
             std::includes(at->second.addresses.begin(), at->second.addresses.end(), before.addresses.begin(),
                           before.addresses.end());
    }
    const auto& kinds = carriers[id];
    if (change.key.kind == "pkey") return kinds.contains("pkey") || kinds.contains("nm_profile");
    // A profile or file of one backend, and another backend has the interface now.
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](const auto& kind) { return kind != change.key.kind && addresses_by(kind); });
  };
  Removed out;
  for (const auto& change : plan.changes) {
    if (change.operation != Operation::kDelete || again(change)) continue;
    out.keys.insert(change.key);
    out.labels.push_back(change.label);
  }
  return out;
}

}  // namespace rdmacfg::kinds
