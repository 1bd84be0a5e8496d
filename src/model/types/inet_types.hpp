// SPDX-License-Identifier: Apache-2.0
// IP addresses and how interfaces get them, as the document spells them. Sources: RFC 4291, RFC 5952 (text of
// IPv6 addresses), NetworkManager's nm-settings-nmcli(5) (methods).
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/codec.hpp"
#include "model/field.hpp"

namespace rdmacfg::model {

enum class Family { kIpv4, kIpv6 };

std::string_view text_of(Family family);  ///< "IPv4", "IPv6"

/// An IPv4 or IPv6 address.
struct IpAddress {
  Family family = Family::kIpv4;
  std::array<std::uint8_t, 16> bytes{};  ///< network order; the first 4 of IPv4

  /// Exactly what inet_pton(3) takes: no leading zeros, no shortened IPv4.
  static base::Result<IpAddress> parse(std::string_view text);
  [[nodiscard]] std::string text() const;  ///< "192.0.2.1", "2001:db8::1"

  [[nodiscard]] int bits() const { return family == Family::kIpv4 ? 32 : 128; }
  [[nodiscard]] std::size_t size() const { return family == Family::kIpv4 ? 4 : 16; }
  [[nodiscard]] bool unspecified() const;
  [[nodiscard]] bool loopback() const;
  [[nodiscard]] bool multicast() const;
  [[nodiscard]] bool link_local() const;  ///< 169.254.0.0/16, fe80::/10
  auto operator<=>(const IpAddress&) const = default;
};

/// An address with a prefix length: one of an interface ("192.0.2.1/24"), or a network ("192.0.2.0/24").
struct IpPrefix {
  IpAddress address;
  int length = 0;

  static base::Result<IpPrefix> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] IpPrefix network() const;  ///< with the host part 0
  [[nodiscard]] bool contains(const IpAddress& other) const;
  [[nodiscard]] std::optional<IpAddress> broadcast() const;  ///< of IPv4, up to /30 (RFC 3021)
  auto operator<=>(const IpPrefix&) const = default;
};

/// Where a route leads: a network, or "default".
struct RouteTarget {
  IpPrefix network;
  bool any = false;  ///< "default": the family is that of the table that it stands in

  static base::Result<RouteTarget> parse(std::string_view text);
  [[nodiscard]] std::string text() const { return any ? "default" : network.text(); }
  auto operator<=>(const RouteTarget&) const = default;
};

using IpPrefixes = std::vector<IpPrefix>;
using IpAddresses = std::vector<IpAddress>;

/// Domains in which names are looked for: "example.net"; "~example.net" only routes queries
/// (systemd-resolved(8)).
struct SearchDomains {
  std::vector<std::string> names;
  auto operator<=>(const SearchDomains&) const = default;
};

/// How an interface gets the addresses of one family.
enum class InetMethod { kManual, kAuto, kDisabled, kLinkLocal };

std::string_view text_of(InetMethod method);

/// The program that configures an interface.
enum class Backend { kAuto, kNetworkManager, kNetworkd, kDirect };

std::string_view text_of(Backend backend);  ///< as in the document: "networkmanager"

/// Number of a routing table (rtnetlink(7)): 254 is main.
struct RouteTable {
  std::uint32_t number = 254;
  auto operator<=>(const RouteTable&) const = default;
};

struct RouteMetric {
  std::uint32_t number = 0;
  auto operator<=>(const RouteMetric&) const = default;
};

RDMACFG_CODEC(IpAddress, "IP address", R"({"type":"string","minLength":2})");
RDMACFG_CODEC(IpPrefixes, "list of addresses with prefix length",
              R"({"type":"array","items":{"type":"string","pattern":"^[0-9A-Fa-f.:]+/[0-9]{1,3}$"}})");
RDMACFG_CODEC(IpAddresses, "list of IP addresses",
              R"({"type":"array","items":{"type":"string","pattern":"^[0-9A-Fa-f.:]+$"}})");
RDMACFG_CODEC(SearchDomains, "list of domains",
              R"({"type":"array","items":{"type":"string","pattern":"^~?[A-Za-z0-9_.-]+$"}})");
RDMACFG_CODEC(
    RouteTarget, "network or \"default\"",
    R"({"oneOf":[{"const":"default"},{"type":"string","pattern":"^[0-9A-Fa-f.:]+(/[0-9]{1,3})?$"}]})");
RDMACFG_CODEC(InetMethod, "\"manual\", \"auto\", \"disabled\" or \"link-local\"",
              R"({"enum":["manual","auto","disabled","link-local"]})");
RDMACFG_CODEC(Backend, "\"auto\", \"networkmanager\", \"networkd\" or \"direct\"",
              R"({"enum":["auto","networkmanager","networkd","direct"]})");
RDMACFG_CODEC(RouteTable, "number of a routing table",
              R"({"type":"integer","minimum":1,"maximum":4294967295})");
RDMACFG_CODEC(RouteMetric, "metric", R"({"type":"integer","minimum":0,"maximum":4294967295})");

}  // namespace rdmacfg::model
