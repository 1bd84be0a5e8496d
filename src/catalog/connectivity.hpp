// SPDX-License-Identifier: Apache-2.0
// Addresses and routes that resources of all kinds and backends give their interfaces.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "model/field.hpp"
#include "model/resource.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::kinds {

/// Addresses and routes that a resource of any kind or backend gives an interface.
struct Connectivity {
  static constexpr std::uint32_t kMainTable = 254;

  /// A route without its interface, metric and next hop.
  struct Route {
    model::Family family = model::Family::kIpv4;
    model::IpPrefix to;  ///< length 0: everything
    std::uint32_t table = kMainTable;
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

/// Whether a kind gives interfaces addresses or routes.
bool addresses_by(std::string_view kind);

}  // namespace rdmacfg::kinds
