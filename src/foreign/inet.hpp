// SPDX-License-Identifier: Apache-2.0
// Addresses and routes as several tools spell them.
#pragma once

#include <string_view>

#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

/// Adds "192.0.2.1/24" to the family that it is of. @return what is wrong, empty when nothing is.
std::string add_address(Interface& interface, std::string_view text, std::optional<int> length = {});
/// The same, of one family only; without a prefix length `length` holds. Without either it is refused.
std::string add_address(Inet& inet, model::Family family, std::string_view text,
                        std::optional<int> length = {});

/// ifupdown's and systemd-networkd's prefix length where it is missing: that of the old classes of IPv4, and
/// 128.
std::optional<int> class_length(std::string_view address);

/// Sets the gateway of the family that it is of.
std::string set_gateway(Inet& inet, model::Family family, std::string_view text);
/// The same of a tool that takes several: the first counts, and another one is what is wrong.
std::string add_gateway(Inet& inet, model::Family family, std::string_view text);

/// Adds a name server to the family that it is of.
std::string add_server(Interface& interface, std::string_view text);

/// "198.51.100.0/24", "default", "0.0.0.0/0"; a gateway without a network is the default route.
base::Result<model::RouteTarget> target_of(std::string_view text);

/// A route in the words of ip-route(8): "198.51.100.0/24 via 192.0.2.9 dev ib0 metric 5 table 7". A default
/// route by itself becomes the gateway. Options that only tune a route ("mtu 2044") are left out, and are
/// what is wrong. @return what is wrong.
std::string add_route_words(Inet& inet, model::Family family, std::string_view line);

/// Of an interface that netplan or systemd-networkd leaves to be brought up by hand.
inline constexpr std::string_view kManualActivation =
    "manual: another program brings the interface up; the document keeps it down: write state = \"up\" or "
    "\"ignore\"";

/// Of an interface with IPv4 alone, to which systemd-networkd gives what routers announce (IPv6AcceptRA=).
inline constexpr std::string_view kRoutersUnsaid =
    "systemd-networkd also takes IPv6 addresses from routers here, which the document does not; if the "
    "network "
    "has such routers, write method = \"auto\" for ipv6";

/// Of an option that only tunes a route.
inline constexpr std::string_view kRouteOption =
    "the document does not support such options; the rest of the route is taken";

/// Whether the word is a type of routes (ip-route(8)).
bool is_route_type(std::string_view word);

/// The fault of a route of this type (ip-route(8)); empty for none and "unicast". The others drop or
/// deliver packets, and would be ordinary routes without their type.
std::string wrong_type(std::string_view type);

/// A default route without metric and table, of a family without gateway, becomes the gateway.
void add_route(Inet& inet, const Route& route);

/// Search domains, separated by blanks or commas; of the family that has name servers, else of IPv4.
void add_search(Interface& interface, std::string_view text);

/// Puts the search domains of an interface, which add_search() gave to IPv4, to the family that they can
/// stand with in our document: the one with name servers, else the one with addresses.
void place_search(Interface& interface);

/// Takes the gateways and the routes of the main table from an interface of a VRF: there they are in the
/// VRF's own table. @param said  routes whose table is written, which it gets in their place
/// @return whether there were any
bool drop_routes_of_vrf(Interface& interface, const Interface& said = {});

/// Of an interface in a VRF, where it is written, and of the routes that drop_routes_of_vrf() took.
inline constexpr std::string_view kVrf =
    "the interface belongs to a VRF, which the document does not describe; keep the configuration of the VRF";
inline constexpr std::string_view kVrfRoutes =
    "the routes are in the table of the VRF, and are left out; write them with that table";

/// Keeps the first of equal addresses, servers, domains and routes.
void drop_repeated(Inet& inet);
/// Leaves out what holds without being said. That a family has no addresses of its own stays:
/// drop_default_settings().
void settle(Interface& interface);

/// Whether it says only what holds of a family that the document does not mention beside another one: that
/// IPv4 is disabled, and that IPv6 has its link-local address.
bool is_default(const Inet& inet, model::Family family);

}  // namespace rdmacfg::foreign
