// SPDX-License-Identifier: Apache-2.0
// A configured address may still be useless: no route leads to its network, a bond receives the packets of
// its interface, or another interface of the host has the same address. Sources: net/ipv4/fib_frontend.c,
// fib_add_ifaddr(); net/ipv6/addrconf.c, inet6_addr_add(); drivers/net/bonding/bond_main.c,
// bond_handle_frame(); net/ipv4/arp.c, arp_process().
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "kinds/address/direct_backend.hpp"
#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"
#include "model/types/inet_types.hpp"
#include "system/inet.hpp"

namespace rdmacfg::kinds::detail {

/// The addresses of those `interfaces` that are up whose network no route over the interface reaches. The
/// kernel adds no route for an address with IFA_F_NOPREFIXROUTE, which NetworkManager sets; NetworkManager's
/// own routes disappear when the link goes down.
base::Result<std::set<std::pair<int, model::IpPrefix>>> unrouted(
    const std::vector<system::InetAddress>& all, const std::map<int, TrackedInterface>& interfaces,
    const World& world);

/// Why addresses of an interface in a bond are useless; empty if it is not in a bond. The bond receives its
/// packets, including replies to ARP and neighbour discovery, so no route over the interface finds a
/// neighbour.
std::string why_in_bond(const system::Link& link, const World& world);

/// Warns about addresses of the document that an interface outside the document also has, if that is up: of
/// two routes to one network the kernel uses the older one. A host address (/32, /128) has no network; an
/// address in another VRF has other routes; the bond of the interface may have its address.
void warn_of_second_holders(const std::vector<model::Desired>& desired,
                            const std::vector<system::InetAddress>& all, const World& world,
                            model::Diagnostics& diagnostics);

/// Warns, once for each interface, of routes of the document in the main table over an interface in a VRF.
/// Source: Documentation/networking/vrf.rst.
void warn_of_tables_of_vrfs(const std::vector<model::Desired>& desired, const World& world,
                            model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds::detail
