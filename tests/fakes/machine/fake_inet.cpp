// SPDX-License-Identifier: Apache-2.0
#include "fakes/machine/fake_inet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

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

/// "addr4 192.0.2.1/24 peer 203.0.113.9": an address of its own, which the kernel takes for no other.
constexpr std::string_view kPeer = " peer ";

std::optional<IpPrefix> address_of(const std::string& item) {
  if (!item.starts_with("addr4 ") && !item.starts_with("addr6 ")) return std::nullopt;
  if (item.find(kPeer) != std::string::npos) return std::nullopt;
  auto words = std::string_view(item).substr(6);
  auto prefix = IpPrefix::parse(words.substr(0, words.find(' ')));
  return prefix ? std::optional(*prefix) : std::nullopt;
}

std::string item_of(const IpPrefix& prefix) {
  return fmt::format("{} {}", prefix.address.family == Family::kIpv4 ? "addr4" : "addr6", prefix.text());
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
      const auto peer = item.find(kPeer);
      const auto prefix = address_of(item.substr(0, peer));
      if (!prefix || (prefix->address.family == Family::kIpv6 && prefix->address.link_local())) continue;
      const bool duplicate = duplicates.contains(prefix->address.text());
      const bool asks = duplicate || tentative.contains(prefix->address.text());
      out.push_back({link.index, *prefix, asks, duplicate, !item.ends_with(" dynamic"),
                     peer != std::string::npos, item.ends_with(" noprefixroute")});
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
  } else if (there->ends_with(" dynamic")) {  // NLM_F_REPLACE without IFA_CACHEINFO
    *there = item_of(address_of(*there).value_or(request.prefix));
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
    const auto other = address_of(item);
    return other && other->length == request.prefix.length && other->network() == request.prefix.network();
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
    if (const int err = effect(system::AddAddress{request.index, request.name, kept}); err != 0) return err;
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
