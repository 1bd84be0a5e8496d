// SPDX-License-Identifier: Apache-2.0
#include "fakes/machine/fake_inet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.hpp"

namespace rdmacfg::fakes {

using base::fail_errno;
using base::Result;
using model::Family;
using model::IpAddress;
using model::IpPrefix;
using system::InetAddress;
using system::InetRoute;

namespace {

constexpr std::uint32_t kLeaseTime = 3600;  // of "addr4 192.0.2.1/24 dynamic", in seconds

std::uint32_t number_in(const std::string& word) {
  return static_cast<std::uint32_t>(base::parse_number(word).value_or(0));
}

/// "addr4 192.0.2.1/24 label ib0:1 dynamic valid_lft 60 preferred_lft 30", as `ip address add` has it.
std::optional<InetAddress> held_address(const std::string& item) {
  if (!item.starts_with("addr4 ") && !item.starts_with("addr6 ")) return std::nullopt;
  const auto words = base::split(item, ' ');
  const auto prefix = IpPrefix::parse(words[1]);
  if (!prefix) return std::nullopt;
  InetAddress out;
  out.prefix = *prefix;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "dynamic") {
      out.permanent = false;
      out.valid = out.preferred = kLeaseTime;
    }
    if (words[i] == "noprefixroute") out.no_network_route = true;
    if (i + 1 == words.size()) continue;
    const std::string value(words[i + 1]);
    if (words[i] == "peer") out.peer = IpAddress::parse(value).value();
    if (words[i] == "label") out.label = value;
    if (words[i] == "scope") out.scope = static_cast<std::uint8_t>(number_in(value));
    if (words[i] == "metric") out.metric = number_in(value);
    if (words[i] == "proto") out.protocol = static_cast<std::uint8_t>(number_in(value));
    if (words[i] == "valid_lft") out.valid = number_in(value);
    if (words[i] == "preferred_lft") out.preferred = number_in(value);
  }
  out.peer_elsewhere = prefix->address.family == Family::kIpv4 && out.peer && !prefix->contains(*out.peer);
  return out;
}

/// One with a peer is an address of its own, which the kernel takes for no other.
std::optional<IpPrefix> address_of(const std::string& item) {
  const auto held = held_address(item);
  return held && !held->peer ? std::optional(held->prefix) : std::nullopt;
}

std::string item_of(const IpPrefix& prefix) {
  return fmt::format("{} {}", prefix.address.family == Family::kIpv4 ? "addr4" : "addr6", prefix.text());
}

std::string item_of(const InetAddress& address) {
  auto out = item_of(address.prefix);
  if (address.peer) out += " peer " + address.peer->text();
  if (!address.label.empty()) out += " label " + address.label;
  if (address.scope != 0) out += fmt::format(" scope {}", address.scope);
  if (address.metric != 0) out += fmt::format(" metric {}", address.metric);
  if (address.protocol != 0) out += fmt::format(" proto {}", address.protocol);
  const auto usual = address.permanent ? system::kForever : kLeaseTime;
  if (!address.permanent) out += " dynamic";
  if (address.valid != usual) out += fmt::format(" valid_lft {}", address.valid);
  if (address.preferred != usual) out += fmt::format(" preferred_lft {}", address.preferred);
  if (address.no_network_route) out += " noprefixroute";
  return out;
}

std::optional<InetRoute> route_of(const std::string& item) {
  if (!item.starts_with("route ")) return std::nullopt;
  const auto words = base::split(item, ' ');
  InetRoute out;
  auto to = model::RouteTarget::parse(words[1]);
  if (!to) return std::nullopt;
  out.to = *to;
  out.family = to->network.address.family;
  std::optional<std::uint32_t> metric;
  for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
    const auto number = static_cast<std::uint32_t>(base::parse_number(words[i + 1]).value_or(0));
    if (words[i] == "via") out.via = IpAddress::parse(words[i + 1]).value();
    if (words[i] == "metric") metric = number;
    if (words[i] == "table") out.table = number;
    if (words[i] == "tos" || words[i] == "from") out.selective = true;
  }
  if (to->any && out.via) out.family = out.via->family;
  out.metric = metric.value_or(out.family == Family::kIpv4 ? 0U : 1024U);
  return out;
}

std::string item_of(const InetRoute& route) {
  std::string out = "route " + route.to.text();
  if (route.via) out += " via " + route.via->text();
  if (route.metric != (route.family == Family::kIpv4 ? 0U : 1024U))
    out += fmt::format(" metric {}", route.metric);
  if (route.table != 254) out += fmt::format(" table {}", route.table);
  return out;
}

std::string text(const system::AddAddress& request) {
  return fmt::format("{}: add address {}", request.name, request.prefix.text());
}
std::string text(const system::DeleteAddress& request) {
  return fmt::format("{}: delete address {}", request.name, request.prefix.text());
}
std::string text(const system::AddRoute& request) {
  return fmt::format("{}: add {}", request.name, item_of(request.route));
}
std::string text(const system::DeleteRoute& request) {
  return fmt::format("{}: delete {}", request.name, item_of(request.route));
}

bool same_route(const InetRoute& a, const InetRoute& b) {
  return a.family == b.family && a.to == b.to && a.metric == b.metric && a.table == b.table &&
         a.selective == b.selective;
}

}  // namespace

Result<std::vector<InetAddress>> FakeInet::observe_addresses() {
  if (observe_error != 0) return fail_errno(observe_error, "RTM_GETADDR");
  std::vector<InetAddress> out;
  for (const auto& link : machine_.links) {
    for (const auto& item : link.items) {
      auto held = held_address(item);
      if (!held) continue;
      const auto& address = held->prefix.address;
      if (address.family == Family::kIpv6 && address.link_local()) continue;
      held->index = link.index;
      held->duplicate = duplicates.contains(address.text());
      held->tentative = held->duplicate || tentative.contains(address.text());
      out.push_back(std::move(*held));
    }
  }
  return out;
}

Result<std::vector<InetRoute>> FakeInet::observe_routes() {
  if (observe_error != 0) return fail_errno(observe_error, "RTM_GETROUTE");
  std::vector<InetRoute> out;
  for (const auto& link : machine_.links) {
    for (const auto& item : link.items) {
      auto route = route_of(item);
      if (!route) continue;
      route->index = link.index;
      out.push_back(*route);
    }
  }
  return out;
}

Result<void> FakeInet::execute(std::span<const system::InetRequest> requests) {
  for (const auto& request : requests) {
    const auto what = std::visit([](const auto& alternative) { return text(alternative); }, request);
    const int err = faults_.call(what, [&] {
      return std::visit([&](const auto& alternative) { return effect(alternative); }, request);
    });
    if (err != 0) return fail_errno(err, what);
  }
  return {};
}

Result<void> FakeInet::wait_for_addresses(const std::set<int>& /*indexes*/,
                                          std::chrono::milliseconds deadline) {
  check_waits.push_back(deadline);
  if (!slow_check) tentative.clear();
  return {};
}

int FakeInet::effect(const system::AddAddress& request) {
  Interface* link = machine_.find(request.index);
  if (link == nullptr) return ENODEV;
  if (request.prefix.address.family == Family::kIpv6 && link->mtu < model::kMtuIpv6Min) return EINVAL;
  // ipv6_get_ifaddr() does not look at the length, and inet6_addr_modify() leaves it as it is.
  const bool six = request.prefix.address.family == Family::kIpv6;
  const auto there = std::find_if(link->items.begin(), link->items.end(), [&](const auto& item) {
    const auto held = address_of(item);
    return held && (six ? held->address == request.prefix.address : *held == request.prefix);
  });
  if (there == link->items.end()) {
    link->items.push_back(item_of(request.prefix));
  } else if (const auto held = held_address(*there); held && !held->permanent) {
    *there = item_of(held->prefix);  // NLM_F_REPLACE without IFA_CACHEINFO
  }
  return 0;
}

int FakeInet::effect(const system::DeleteAddress& request) {
  Interface* link = machine_.find(request.index);
  if (link == nullptr) return 0;
  if (request.hold) {
    const IpPrefix hold{*request.hold, request.hold->bits()};
    const auto adding = system::AddAddress{request.index, request.name, hold};
    if (const int err = effect(adding); err != 0) return err;
    auto bare = request;
    bare.hold.reset();
    if (const int err = effect(bare); err != 0) return err;
    return effect(system::DeleteAddress{request.index, request.name, hold, {}, {}});
  }
  auto& items = link->items;
  const auto at = std::find_if(items.begin(), items.end(),
                               [&](const auto& item) { return address_of(item) == request.prefix; });
  const auto same_network = [&](const std::string& item) {
    const auto other = held_address(item);
    return other && other->network() == request.prefix.network();
  };
  const bool four = request.prefix.address.family == Family::kIpv4;
  if (at != items.end()) {
    const bool first = std::none_of(items.begin(), at, same_network);
    items.erase(at);
    // inet_del_ifa(): secondaries go with their primary.
    if (first && four && !promote_secondaries) std::erase_if(items, same_network);
    // fib_disable_ip(): with the last address every route over the interface.
    const auto is_four = [](const std::string& item) { return item.starts_with("addr4 "); };
    if (four && std::none_of(items.begin(), items.end(), is_four)) {
      std::erase_if(items, [](const std::string& item) {
        const auto route = route_of(item);
        return route && route->family == Family::kIpv4;
      });
    }
  }
  for (const auto& kept : request.keep) {
    const bool there = std::any_of(items.begin(), items.end(), [&](const auto& item) {
      const auto held = held_address(item);
      return held && held->prefix == kept.prefix && held->peer == kept.peer;
    });
    if (there) continue;
    items.push_back(item_of(kept));
  }
  return 0;
}

int FakeInet::effect(const system::AddRoute& request) {
  const auto& route = request.route;
  Interface* link = machine_.find(route.index);
  if (link == nullptr) return ENODEV;
  if (!link->up) return ENETDOWN;
  for (const auto& other : machine_.links) {
    for (const auto& item : other.items) {
      const auto there = route_of(item);
      if (!there || !same_route(*there, route)) continue;
      return other.index == link->index && there->via == route.via ? 0 : EEXIST;
    }
  }
  const auto near = [&](const std::string& item) {
    if (const auto prefix = address_of(item)) return prefix->contains(*route.via);
    const auto there = route_of(item);
    return there && !there->via && !there->to.any && there->to.network.contains(*route.via);
  };
  const bool far =
      route.via && !route.via->link_local() && std::none_of(link->items.begin(), link->items.end(), near);
  if (far) return ENETUNREACH;
  link->items.push_back(item_of(route));
  return 0;
}

int FakeInet::effect(const system::DeleteRoute& request) {
  Interface* link = machine_.find(request.route.index);
  if (link == nullptr) return 0;
  link->items.erase(std::remove_if(link->items.begin(), link->items.end(),
                                   [&](const std::string& item) {
                                     const auto there = route_of(item);
                                     return there && same_route(*there, request.route) &&
                                            there->via == request.route.via;
                                   }),
                    link->items.end());
  return 0;
}

}  // namespace rdmacfg::fakes
