// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/route.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "kinds/abilities.hpp"
#include "kinds/address/address_use.hpp"
#include "kinds/address/backend.hpp"
#include "kinds/address/direct_backend.hpp"
#include "kinds/ports/held_by_port.hpp"
#include "kinds/ports/pkey_removal.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Family;
using model::Observed;
using model::Operation;
using system::InetRequest;
using system::InetRoute;

namespace {

constexpr std::string_view kRouteKind = "route";
constexpr auto kRouteCompetitors =
    std::to_array<std::string_view>({"NetworkManager", "systemd-network", "wickedd-nanny", "connmand",
                                     "dhclient", "dhcpcd", "zebra", "bird", "openibd"});
constexpr std::string_view kOnLink = "on-link";

/// The part of a key behind the interface: "ipv6 default metric 150 table 254". The family only where
/// "default" does not say it.
std::string route_text(Family family, const model::RouteTarget& to, std::uint32_t metric,
                       std::uint32_t table) {
  return fmt::format("{}{} metric {} table {}", to.any && family == Family::kIpv6 ? "ipv6 " : "", to.text(),
                     metric, table);
}

std::string via_of(const std::optional<model::IpAddress>& via) {
  return via ? via->text() : std::string(kOnLink);
}

struct RouteId {
  std::string interface;
  InetRoute route;  ///< without index and next hop
};

std::optional<RouteId> route_id(const model::Key& key) {
  const auto words = base::split(key.id, ' ');
  const std::size_t first = words.size() == 7 && words[1] == "ipv6" ? 2 : 1;
  if (words.size() != first + 5) return std::nullopt;
  const auto to = model::RouteTarget::parse(words[first]);
  const auto metric = base::parse_as<std::uint32_t>(words[first + 2]);
  const auto table = base::parse_as<std::uint32_t>(words[first + 4]);
  if (!to || !metric || !table) return std::nullopt;
  RouteId out{std::string(words[0]), {}};
  out.route.to = *to;
  out.route.family = first == 2 ? Family::kIpv6 : to->network.address.family;
  out.route.metric = *metric;
  out.route.table = *table;
  return out;
}

bool same_place(const InetRoute& a, const InetRoute& b) {
  return a.family == b.family && a.to == b.to && a.metric == b.metric && a.table == b.table;
}

/// Routes that apply to all packets, indexed, since a routing daemon may add very many.
class ByPlace {
 public:
  explicit ByPlace(const std::vector<InetRoute>& all) {
    for (const auto& route : all) {
      if (!route.selective) at_[place_of(route)].push_back(&route);
    }
  }

  [[nodiscard]] const std::vector<const InetRoute*>& of(const InetRoute& route) const {
    static const std::vector<const InetRoute*> kNone;
    const auto found = at_.find(place_of(route));
    return found == at_.end() ? kNone : found->second;
  }

 private:
  /// As same_place() compares.
  static InetRoute place_of(const InetRoute& route) {
    InetRoute out;
    out.family = route.family;
    out.to = route.to;
    out.metric = route.metric;
    out.table = route.table;
    return out;
  }

  std::map<InetRoute, std::vector<const InetRoute*>> at_;
};

std::optional<model::IpAddress> next_hop(const model::Attributes& settings) {
  const auto via = model::from_attributes<InterfaceRoute>(settings).via;
  if (!via || *via == kOnLink) return std::nullopt;
  const auto address = model::IpAddress::parse(*via);
  return address ? std::optional(*address) : std::nullopt;
}

/// Routes of ours that the document does not have any more, as interface and place.
std::vector<InetRoute> leaving(const std::vector<Desired>& desired, const std::vector<Observed>& observed,
                               const World& world) {
  std::set<model::Key> wanted;
  for (const auto& resource : desired) {
    if (resource.key.kind == kRouteKind) wanted.insert(resource.key);
  }
  std::vector<InetRoute> out;
  for (const auto& resource : observed) {
    if (resource.key.kind != kRouteKind || wanted.contains(resource.key)) continue;
    const auto& known_identity = world.known_identity(resource.key);
    auto id = known_identity.ours && known_identity.instance == resource.instance ? route_id(resource.key)
                                                                                  : std::nullopt;
    const auto* link = id ? interface_of(id->interface, world) : nullptr;
    if (link == nullptr) continue;
    id->route.index = link->index;
    out.push_back(id->route);
  }
  return out;
}

bool is_among(const std::vector<InetRoute>& all, const InetRoute& route) {
  return std::any_of(all.begin(), all.end(), [&](const InetRoute& other) {
    return other.index == route.index && same_place(other, route);
  });
}

class RouteKind final : public Kind, public MustStay, public PutBackByOthers, public HeldByPort {
 public:
  RouteKind()
      : Kind({.name = kRouteKind,
              .fields = model::specs<InterfaceRoute>(),
              .competitors = kRouteCompetitors}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& /*diagnostics*/) const override {
    const auto& all = addressing_of(bound, nullptr);
    for (const auto* addressing : direct_only(all, bound, nullptr)) {
      for (const auto* family : {&addressing->ipv4, &addressing->ipv6}) {
        if (family->gateway && !family->addresses.empty())  // alone it is an error already
          add(*addressing, *family, {{{}, true}, family->gateway, {}, 254, family->place("gateway")}, out);
        for (const auto& route : family->routes) add(*addressing, *family, route, out);
      }
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    const auto interfaces = tracked_interfaces(kRouteKind, world);
    std::vector<Observed> out;
    if (interfaces.empty()) return out;
    const auto all = world.host().inet.observe_routes();
    if (!all) return base::fail(all.error());
    for (const auto& route : *all) {
      const auto at = interfaces.find(route.index);
      if (at == interfaces.end() || route.made_by_kernel || route.selective) continue;
      Observed observed;
      const auto words = route_text(route.family, route.to, route.metric, route.table);
      observed.key = route_key(at->second.id, route);
      observed.label = fmt::format("{} {}", at->second.name, words);
      observed.settings["via"] = via_of(route.via);
      observed.instance = world.host().boot_id;
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    const bool any = std::any_of(desired.begin(), desired.end(), [](const Desired& resource) {
      return resource.key.kind == kRouteKind && !resource.settings.empty();
    });
    if (!any) return;
    detail::warn_of_tables_of_vrfs(desired, world, diagnostics);
    const auto all = world.host().inet.observe_routes();
    if (!all) return;  // observing failed for the same reason, and said so
    const ByPlace by_place(*all);
    std::map<std::string, const Desired*> seen;  // by everything but the interface
    const auto going = leaving(desired, observed, world);
    const auto children = detail::leaving(desired, observed, world);
    for (const auto& resource : desired) {
      const auto id = resource.key.kind == kRouteKind && !resource.settings.empty() ? route_id(resource.key)
                                                                                    : std::nullopt;
      if (!id) continue;
      const auto [first, fresh] =
          seen.try_emplace(resource.key.id.substr(resource.key.id.find(' ')), &resource);
      if (!fresh) {
        auto& d = diagnostics.emplace_back(
            model::Diagnostic{model::Severity::kError,
                              resource.where,
                              fmt::format("{}: {} would lead to the same network with the same metric",
                                          resource.label, first->second->label),
                              "write another metric for one of them, under routes",
                              {}});
        d.related.push_back({first->second->where, "the other route"});
      }
      const auto* own = interface_of(id->interface, world);
      for (const auto* at : by_place.of(id->route)) {
        const auto& other = *at;
        if (own != nullptr && other.index == own->index) continue;
        // Deletions come before everything else.
        if (children.contains(other.index) || is_among(going, other)) continue;
        const auto* link = world.link(other.index);
        diagnostics.push_back(
            {model::Severity::kError,
             resource.where,
             fmt::format("{}: there is a route to {} with metric {} already, over {}", resource.label,
                         other.to.text(), other.metric,
                         link == nullptr ? std::to_string(other.index) : link->name),
             "write another metric: of two routes, the kernel uses the one with the lower metric",
             {}});
      }
    }
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto world = World::observe_links(host);
    if (!world) return base::fail(world.error());
    const auto now = host.inet.observe_routes();
    if (!now) return base::fail(now.error());
    const ByPlace by_place(*now);
    std::vector<InetRequest> deletions, additions;
    for (const auto& change : changes) {
      auto id = route_id(change.key);
      const auto* link = id ? interface_of(id->interface, *world) : nullptr;
      if (link == nullptr && change.operation == Operation::kDelete) continue;  // it went with its interface
      if (link == nullptr)
        return base::fail(base::Code::kNotFound,
                          fmt::format("{}: the interface does not exist", change.label));
      id->route.index = link->index;
      id->route.via = next_hop(change.after);
      bool there = false;
      for (const auto* at : by_place.of(id->route)) {
        const auto& held = *at;
        if (held.index != link->index || held.made_by_kernel) continue;
        if (change.operation != Operation::kDelete && held.via == id->route.via) {
          there = true;
        } else {
          deletions.emplace_back(system::DeleteRoute{link->name, held});
        }
      }
      if (change.operation != Operation::kDelete && !there)
        additions.emplace_back(system::AddRoute{link->name, id->route});
    }
    // Next hops are reached over on-link routes: those come first.
    std::stable_partition(additions.begin(), additions.end(), [](const InetRequest& request) {
      return !std::get<system::AddRoute>(request).route.via;
    });
    deletions.insert(deletions.end(), additions.begin(), additions.end());
    return deletions.empty() ? Result<void>{} : host.inet.execute(deletions);
  }

  [[nodiscard]] std::vector<model::Key> put_back_by(const model::Key& key) const override {
    return interface_put_back_by(key.id);
  }

  [[nodiscard]] std::string parent_object(const Change& change, const World& world) const override {
    return port_object(change.key.id, world);
  }

  [[nodiscard]] bool has_to_stay(const Observed& /*then*/, const World& /*now*/) const override {
    return true;  // an interface that is re-created gets it back
  }

  [[nodiscard]] bool reachable(const model::Key& key, const World& world) const override {
    const auto id = route_id(key);
    return id && interface_of(id->interface, world) != nullptr;
  }

  [[nodiscard]] bool returns(std::string_view /*field*/, const model::Attributes& before,
                             const model::Attributes& /*then*/) const override {
    return before.contains("via");
  }

 private:
  static void add(const Addressing& interface, const WantedFamily& family, const WantedRoute& route,
                  std::vector<Desired>& out) {
    auto desired =
        start(interface, kRouteKind,
              route_text(family.family, route.to, route.metric.value_or(kRouteMetric), route.table));
    desired.where = desired.origins["via"] = route.where;
    // The kernel drops routes with the link.
    if (!desired.pending && !desired.ignore && !interface.down) desired.settings["via"] = via_of(route.via);
    for (const auto& prefix : family.addresses)
      desired.needs.push_back({"address", fmt::format("{} {}", interface.id(), prefix.text())});
    out.push_back(std::move(desired));
  }
};

}  // namespace

model::Key route_key(std::string_view interface, const InetRoute& route) {
  return {std::string(kRouteKind),
          fmt::format("{} {}", interface, route_text(route.family, route.to, route.metric, route.table))};
}

std::optional<InetRoute> route_of(const model::Key& key) {
  const auto id = route_id(key);
  return id ? std::optional(id->route) : std::nullopt;
}

const Kind& route() {
  static const RouteKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
