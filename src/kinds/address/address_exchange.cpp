// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/address_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "kinds/address/request.hpp"
#include "kinds/address/route.hpp"
#include "kinds/carried_state.hpp"

namespace rdmacfg::kinds::detail {

using base::Result;
using model::Change;
using model::IpPrefix;
using model::Operation;
using system::InetAddress;
using system::InetRequest;
using system::InetRoute;

namespace {

/// In Change::carried, before the carried state: an address of the same interface that comes when this one
/// goes, which is done with it. The kernel forgets the routes over an interface without any.
constexpr std::string_view kFirst = "first ";

/// In Change::carried, before the carried state too: the key of a route of somebody else's that needs no
/// address.
constexpr std::string_view kAlone = "alone ";

bool is_four(const IpPrefix& prefix) { return prefix.address.family == model::Family::kIpv4; }

/// The changes of one interface's IPv4 addresses.
struct Exchange {
  std::string id;
  std::vector<std::pair<Change*, IpPrefix>> going, coming;
};

std::map<int, Exchange> exchanges(std::span<Change*> changes, const World& world) {
  std::map<int, Exchange> out;
  for (auto* change : changes) {
    const auto id = address_id(change->key);
    const auto* link = id && is_four(id->prefix) ? interface_of(id->interface, world) : nullptr;
    if (link == nullptr) continue;
    auto& mine = out[link->index];
    mine.id = id->interface;
    (change->operation == Operation::kDelete ? mine.going : mine.coming).emplace_back(change, id->prefix);
  }
  return out;
}

/// New addresses come before the others go, and the other way round when it is undone.
void order_exchange(const Exchange& exchange) {
  for (const auto& [deletion, old] : exchange.going) {
    for (const auto& [creation, fresh] : exchange.coming) {
      deletion->carried.push_back(fmt::format("{}{}", kFirst, fresh.text()));
      creation->carried.push_back(fmt::format("{}{}", kFirst, old.text()));
      creation->needs.push_back(deletion->key);  // they fail or hold together
    }
  }
}

/// Of an interface that is left without an IPv4 address: addresses of others go with it, and come back
/// with the address should this be undone.
Result<void> pack_routes(int index, const Exchange& exchange, World& world) {
  const auto routes = world.host().inet.observe_routes();
  if (!routes) return base::fail(routes.error());
  std::vector<std::string> packed;
  bool foreign = false;
  for (const auto& route : *routes) {
    if (route.index != index || route.made_by_kernel || route.family != model::Family::kIpv4) continue;
    const auto key = route_key(exchange.id, route);
    if (!route.selective && world.known_identity(key).ours) continue;
    foreign = true;
    if (!route.via && !route.selective) {
      packed.push_back(fmt::format("{}{}", kAlone, key.id));
      continue;
    }
    exchange.going.front().first->interrupts.push_back(fmt::format(
        "the route to {}{}, which the document does not list, is lost with the last IPv4 address of {}",
        route.to.text(), route.via ? " over " + route.via->text() : "", world.link(index)->name));
  }
  if (!foreign) return {};
  const std::array links{*world.link(index)};
  const auto carried_states = observe_carried_states(world.host(), links);
  if (!carried_states) return base::fail(carried_states.error());
  for (auto& text : pack(*carried_states)) packed.push_back(std::move(text));
  for (const auto& [deletion, prefix] : exchange.going) {
    deletion->carried.insert(deletion->carried.end(), packed.begin(), packed.end());
  }
  return {};
}

}  // namespace

std::optional<AddressId> address_id(const model::Key& key) {
  const auto space = key.id.rfind(' ');
  if (space == std::string::npos) return std::nullopt;
  auto prefix = IpPrefix::parse(std::string_view(key.id).substr(space + 1));
  if (!prefix) return std::nullopt;
  return AddressId{key.id.substr(0, space), *prefix};
}

std::vector<IpPrefix> first_of(const Change& change) {
  std::vector<IpPrefix> out;
  for (const auto& text : change.carried) {
    if (!text.starts_with(kFirst)) continue;
    if (auto prefix = IpPrefix::parse(std::string_view(text).substr(kFirst.size()))) out.push_back(*prefix);
  }
  return out;
}

std::vector<InetRoute> alone_in(const Change& change) {
  std::vector<InetRoute> out;
  for (const auto& text : change.carried) {
    if (!text.starts_with(kAlone)) continue;
    if (auto route = route_of({"route", text.substr(kAlone.size())})) out.push_back(*route);
  }
  return out;
}

bool carries(const Change& change) {
  return change.operation == Operation::kDelete && !unpack(change.carried).empty();
}

Result<void> plan_exchanges(std::span<Change*> changes, World& world) {
  const auto all = exchanges(changes, world);
  if (std::all_of(all.begin(), all.end(), [](const auto& exchange) { return exchange.second.going.empty(); }))
    return {};
  const auto now = world.host().inet.observe_addresses();
  if (!now) return base::fail(now.error());
  for (const auto& [index, exchange] : all) {
    order_exchange(exchange);
    const auto count = std::count_if(now->begin(), now->end(), [at = index](const InetAddress& address) {
      return address.index == at && is_four(address.prefix);
    });
    const bool emptied = static_cast<std::size_t>(count) == exchange.going.size();
    if (!emptied || !exchange.coming.empty()) continue;
    if (auto done = pack_routes(index, exchange, world); !done) return done;
  }
  return {};
}

Result<void> restore(const Change& change, const system::Link& link, system::Host& host) {
  return host.links.restore_carried(unpack(change.carried).front().carried, link.index, link.name);
}

Result<std::vector<InetRequest>> routes_left_alone(const std::set<std::pair<int, IpPrefix>>& going,
                                                   const std::vector<InetAddress>& then, const World& world,
                                                   system::Host& host) {
  std::set<int> emptied;
  for (const auto& [index, prefix] : going) {
    if (is_four(prefix)) emptied.insert(index);
  }
  for (const auto& address : then) {
    if (is_four(address.prefix) &&
        (address.peer_elsewhere || !going.contains({address.index, address.prefix})))
      emptied.erase(address.index);
  }
  std::vector<InetRequest> out;
  if (emptied.empty()) return out;
  const auto routes = host.inet.observe_routes();
  if (!routes) return base::fail(routes.error());
  for (const auto& route : *routes) {
    const bool alone = emptied.contains(route.index) && route.family == model::Family::kIpv4 &&
                       !route.made_by_kernel && !route.selective && !route.via;
    if (alone) out.emplace_back(system::AddRoute{world.link(route.index)->name, route});
  }
  return out;
}

}  // namespace rdmacfg::kinds::detail
