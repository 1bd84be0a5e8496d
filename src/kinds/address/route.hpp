// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "kinds/kind.hpp"
#include "system/inet.hpp"

namespace rdmacfg::kinds {

/// One route over an IPoIB interface with the direct backend.
struct InterfaceRoute {
  std::optional<std::string> via;

  static constexpr auto kFields = std::tuple{
      model::field("via", &InterfaceRoute::via, model::Role::kSetting,
                   "Next hop; on-link when the hosts of the network are on the fabric itself.", "-")};
};

/// Metric of routes that the document gives none: what NetworkManager gives those of InfiniBand, above the
/// default route of the management network.
inline constexpr std::uint32_t kRouteMetric = 150;

/// Routes by rtnetlink. Key: "GUID 198.51.100.0/24 metric 150 table 254", "GUID/0x8002 ipv6 default …".
const Kind& route();

/// The key of a route over an interface with this id.
model::Key route_key(std::string_view interface, const system::InetRoute& route);

/// The route that a key names, without index and next hop.
std::optional<system::InetRoute> route_of(const model::Key& key);

}  // namespace rdmacfg::kinds
