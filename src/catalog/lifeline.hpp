// SPDX-License-Identifier: Apache-2.0
// The lifelines of a host, by which its administrators reach it: default routes, the addresses of login
// sessions, and the routes to the hosts that they come from.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kinds/world.hpp"
#include "model/change.hpp"
#include "model/inet_types.hpp"

namespace rdmacfg::kinds {

/// Addresses and routes that a resource of any kind or backend gives an interface.
struct Connectivity {
  /// A route without its interface, metric and next hop.
  struct Route {
    model::Family family = model::Family::kIpv4;
    model::IpPrefix to;  ///< length 0: everything
    std::uint32_t table = 254;
    auto operator<=>(const Route&) const = default;
  };

  std::set<model::IpAddress> addresses;
  std::set<Route> routes;
  std::set<model::Family> dynamic;  ///< families that DHCP or routers provide
};

/// @return nothing for a resource that gives none, or whose settings are empty.
Connectivity connectivity_of(const model::Key& key, const model::Attributes& settings);

/// The interface that a key is about: "GUID" or "GUID/0x8002"; empty for kinds without one.
std::string interface_in(const model::Key& key);

/// Why a plan would cut the host off, in words: "mlx4_ib0, which carries a login session". Empty when each
/// default route, each address of an established login session and each route to its other end is there after
/// it. An address that the plan takes away and gives again, by whatever kind or backend, counts as there.
/// Only for a host that is not offline.
std::string cut_off_by(const model::Plan& plan, system::Host& host);

/// Labels of what a plan deletes and gives in no other way, with the keys.
struct Removed {
  std::vector<std::string> labels;
  std::set<model::Key> keys;
};
Removed removed_by(const model::Plan& plan);

}  // namespace rdmacfg::kinds
