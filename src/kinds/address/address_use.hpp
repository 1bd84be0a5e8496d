// SPDX-License-Identifier: Apache-2.0
// An address that is there may be of little use all the same: no route leads to its network, a bond has the
// packets of its interface, or another interface of the host has it too. Sources: net/ipv4/fib_frontend.c,
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

/// Of addresses of `interfaces` that are up: those whose network no route over the interface leads to. The
/// kernel makes none for an address with IFA_F_NOPREFIXROUTE, which is how NetworkManager adds them; its own
/// routes go when the link goes down.
base::Result<std::set<std::pair<int, model::IpPrefix>>> unrouted(
    const std::vector<system::InetAddress>& all, const std::map<int, TrackedInterface>& interfaces,
    const World& world);

/// Why addresses of an interface are of no use; empty where it is in no bond. A bond receives in its place,
/// the answers to ARP and neighbour discovery too, so that no route over the interface finds a neighbour.
std::string why_in_bond(const system::Link& link, const World& world);

/// Warns of addresses of the document that an interface outside of it has too and is up: of two routes to
/// one network the kernel takes the older one. An address of a host alone (/32, /128) has no network, one
/// in another VRF other routes, and one of the bond that the interface is in is where it belongs.
void warn_of_second_holders(const std::vector<model::Desired>& desired,
                            const std::vector<system::InetAddress>& all, const World& world,
                            model::Diagnostics& diagnostics);

/// Warns, once for each interface, of routes of the document in the main table over an interface in a VRF.
/// Source: Documentation/networking/vrf.rst.
void warn_of_tables_of_vrfs(const std::vector<model::Desired>& desired, const World& world,
                            model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds::detail
