// SPDX-License-Identifier: Apache-2.0
// IPv4 addresses that come and go together, and the routes that the kernel forgets with the last one of an
// interface (net/ipv4/fib_frontend.c, fib_disable_ip()).
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "kinds/world.hpp"
#include "model/change.hpp"
#include "model/types/inet_types.hpp"
#include "system/inet.hpp"

namespace rdmacfg::kinds::detail {

/// "GUID/0x8002 192.0.2.1/24" as its two parts.
struct AddressId {
  std::string interface;
  model::IpPrefix prefix;
};

std::optional<AddressId> address_id(const model::Key& key);

/// Completes the changes of addresses: which come before which go, and what goes with the last one.
base::Result<void> plan_exchanges(std::span<model::Change*> changes, World& world);

/// Addresses of the same interface that are to be there before this one goes.
std::vector<model::IpPrefix> first_of(const model::Change& change);

/// Whether its interface is left without an IPv4 address, and has routes of others.
bool carries(const model::Change& change);

/// Of one that carries: routes of others that need no address, without index.
std::vector<system::InetRoute> alone_in(const model::Change& change);

/// Of one that carries: puts back what the interface had before, the address included.
base::Result<void> restore(const model::Change& change, const system::Link& link, system::Host& host);

/// Adds again the routes that need no address, over interfaces that are left without an IPv4 one when those
/// of `going` (index, address) are taken from `then`: the kernel forgets them all the same.
base::Result<std::vector<system::InetRequest>> routes_left_alone(
    const std::set<std::pair<int, model::IpPrefix>>& going, const std::vector<system::InetAddress>& then,
    const World& world, system::Host& host);

}  // namespace rdmacfg::kinds::detail
