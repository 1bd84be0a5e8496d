// SPDX-License-Identifier: Apache-2.0
// The document's addresses of IPoIB interfaces, for every backend: ipv4 = { … }, ipv6 = { … }
// and backend = "…".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kinds/bound.hpp"
#include "model/diagnostic.hpp"
#include "model/section.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::kinds {

/// `backend` of an [[ipoib]] entry; its P_Key interfaces go with it.
struct InterfaceBackend {
  std::optional<model::Backend> backend;

  static constexpr auto kFields = std::tuple{model::field(
      "backend", &InterfaceBackend::backend, model::Role::kPolicy,
      "Program that configures the interface and its P_Key interfaces: networkmanager, networkd, or direct "
      "(rdma-configd itself). auto: the one of the two that is enabled or running on the host, else direct; "
      "the choice is kept.",
      "auto where there is ipv4 or ipv6, else direct")};
};

/// ipv4 = { … }, ipv6 = { … }
struct InetConfig {
  std::optional<model::InetMethod> method;
  std::optional<model::IpPrefixes> addresses;
  std::optional<model::IpAddress> gateway;
  std::optional<model::IpAddresses> dns;
  std::optional<model::SearchDomains> search;

  static constexpr auto kFields = std::tuple{
      model::field("method", &InetConfig::method, model::Role::kSetting,
                   "manual: the addresses written here. auto: DHCP, and router advertisements of IPv6. "
                   "link-local: only such an address. disabled: none.",
                   "manual where there are addresses"),
      model::field("addresses", &InetConfig::addresses, model::Role::kSetting,
                   "Addresses with prefix length: \"192.0.2.1/24\".", "-"),
      model::field("gateway", &InetConfig::gateway, model::Role::kSetting,
                   "Default gateway; must be on the subnet of one of the addresses.", "-"),
      model::field("dns", &InetConfig::dns, model::Role::kSetting, "DNS servers.", "-"),
      model::field("search", &InetConfig::search, model::Role::kSetting, "Search domains.", "-")};
};

/// routes = [{ … }]
struct RouteConfig {
  std::optional<model::RouteTarget> to;
  std::optional<model::IpAddress> via;
  std::optional<model::RouteMetric> metric;
  std::optional<model::RouteTable> table;

  static constexpr auto kFields = std::tuple{
      model::field("to", &RouteConfig::to, model::Role::kSetting,
                   "Network, host or \"default\": \"198.51.100.0/24\".", "-"),
      model::field("via", &RouteConfig::via, model::Role::kSetting, "Next hop.",
                   "hosts of the network are on the fabric itself"),
      model::field("metric", &RouteConfig::metric, model::Role::kSetting,
                   "Of several routes to one network, the kernel uses the one with the lowest metric.",
                   "the backend's own"),
      model::field("table", &RouteConfig::table, model::Role::kSetting, "Routing table.", "254")};
};

/// The section spec of one family, for [[ipoib]] and [[ipoib.pkey]].
model::SectionSpec inet_section(model::Family family);

/// The kernel's replacement for metric 0 in IPv6.
inline constexpr std::uint32_t kMetricOfIpv6 = 1024;

/// One route as wanted.
struct WantedRoute {
  model::RouteTarget to;
  std::optional<model::IpAddress> via;
  std::optional<std::uint32_t> metric;  ///< nothing: the backend's own
  std::uint32_t table = 254;
  model::Location where;

  [[nodiscard]] std::string text() const;  ///< "198.51.100.0/24 via 192.0.2.9 metric 5 table 7"
};

/// One family of one interface.
struct WantedFamily {
  model::Family family = model::Family::kIpv4;
  const model::Section* section = nullptr;  ///< null: the document does not mention it
  model::InetMethod method = model::InetMethod::kManual;
  model::IpPrefixes addresses;
  std::vector<WantedRoute> routes;  ///< without the gateway's
  std::optional<model::IpAddress> gateway;
  model::IpAddresses dns;
  std::vector<std::string> search;

  [[nodiscard]] model::Location place(std::string_view key) const;
  /// Of an element of the list `key`, counted from 0.
  [[nodiscard]] model::Location place_of(std::string_view key, std::size_t item) const;
  /// An IPv4 address that nobody has (RFC 3927), which no backend gives InfiniBand.
  [[nodiscard]] bool is_ipv4_link_local() const {
    return section != nullptr && family == model::Family::kIpv4 && method == model::InetMethod::kLinkLocal;
  }
};

/// The addressing of one interface: of a port itself, or of a P_Key child.
struct Addressing {
  model::Key link;  ///< {"ipoib", GUID} or {"pkey", GUID/0x8002}
  std::string label;
  const BoundPort* port = nullptr;
  const model::Section* section = nullptr;
  std::optional<model::Pkey> pkey;  ///< of a child
  WantedFamily ipv4, ipv6;
  bool ignore = false;
  bool absent = false;
  bool down = false;

  [[nodiscard]] bool addressed() const { return ipv4.section != nullptr || ipv6.section != nullptr; }
  [[nodiscard]] const std::string& id() const { return link.id; }
};

/// Every interface of the document, parents before their children. With `diagnostics` the rules of the
/// language are checked: families, gateways and next hops that cannot be reached, methods that contradict
/// other keys, one address for two interfaces.
const std::vector<Addressing>& addressing_of(const Bound& bound, model::Diagnostics* diagnostics);

/// The interface that {"ipoib", GUID} or {"pkey", GUID/0x8002} means now; nullptr without one. Only the id is
/// looked at.
const system::Link* interface_of(std::string_view id, const World& world);

/// Whether the entry leaves it to a backend at all: it or one of its P_Key interfaces has ipv4, ipv6 or
/// backend.
bool has_backend(const model::Section& ipoib);

}  // namespace rdmacfg::kinds
