// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "system/linux/carried/carried.hpp"
#include "system/linux/netlink/inet_text.hpp"

namespace rdmacfg::system::detail {

namespace {

constexpr std::uint16_t kAppend = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_APPEND;
/// Of the flags of a route or next hop only these are settings; the others say how it fares.
constexpr unsigned kSettableRouteFlags = RTNH_F_ONLINK | RTNH_F_PERVASIVE;

struct NextHop {
  rtnexthop header{};
  std::span<const std::byte> attributes;
};

std::vector<NextHop> next_hops(std::span<const std::byte> bytes) {
  std::vector<NextHop> out;
  while (bytes.size() >= sizeof(rtnexthop)) {
    NextHop hop;
    std::memcpy(&hop.header, bytes.data(), sizeof hop.header);
    if (hop.header.rtnh_len < sizeof(rtnexthop) || hop.header.rtnh_len > bytes.size()) break;
    hop.attributes = bytes.subspan(sizeof(rtnexthop), hop.header.rtnh_len - sizeof(rtnexthop));
    out.push_back(hop);
    bytes = bytes.subspan(std::min(bytes.size(), (hop.header.rtnh_len + std::size_t{3}) & ~std::size_t{3}));
  }
  return out;
}

std::vector<NextHop> next_hops(const Attributes& attributes) {
  return next_hops(attributes.find(RTA_MULTIPATH).value_or(std::span<const std::byte>{}));
}

bool has_gateway(const Attributes& attributes) {
  return attributes.find(RTA_GATEWAY).has_value() || attributes.find(RTA_VIA).has_value();
}

void put_next_hops(Message& message, std::span<const NextHop> hops, const Target& target) {
  std::vector<std::byte> all;
  for (const auto& hop : hops) {
    rtnexthop header = hop.header;
    header.rtnh_ifindex = target.now(header.rtnh_ifindex);
    header.rtnh_flags = static_cast<unsigned char>(header.rtnh_flags & kSettableRouteFlags);
    const auto raw = std::as_bytes(std::span(&header, 1));
    all.insert(all.end(), raw.begin(), raw.end());
    all.insert(all.end(), hop.attributes.begin(), hop.attributes.end());
    all.resize((all.size() + 3U) & ~std::size_t{3});
  }
  message.put(RTA_MULTIPATH, all);
}

/// The route with everything but its multipath attribute.
Message rebuilt(const Item& item, const Parsed<rtmsg>& route, const Target& target, const std::string& what) {
  rtmsg header = route.family;
  header.rtm_flags &= kSettableRouteFlags;
  Message message(RTM_NEWROUTE, kAppend, header, what, item.bytes.size() + 64);
  Attributes all = route.attributes;
  while (const auto attribute = all.next()) {
    switch (attribute->type) {
      case RTA_MULTIPATH:
      case RTA_PAD:
      // The next hop object went with the interface; the route holds what it stood for, and both are not
      // accepted.
      case RTA_NH_ID:
        break;
      case RTA_OIF: {
        int index = 0;
        std::memcpy(&index, attribute->bytes.data(), std::min(sizeof index, attribute->bytes.size()));
        message.put(RTA_OIF, target.now(index));
        break;
      }
      case RTA_CACHEINFO: {
        const auto cache = route.attributes.number<rta_cacheinfo>(RTA_CACHEINFO);
        const long ticks = sysconf(_SC_CLK_TCK);
        if (cache && cache->rta_expires > 0 && ticks > 0) {
          message.put(RTA_EXPIRES, static_cast<std::uint32_t>(std::max(1L, cache->rta_expires / ticks)));
        }
        break;
      }
      default:
        message.put(attribute->type, attribute->bytes);
    }
  }
  return message;
}

}  // namespace

Message route_dump_request(std::uint8_t family) {
  rtmsg header{};
  header.rtm_family = family;
  return {RTM_GETROUTE, NLM_F_REQUEST | NLM_F_DUMP, header, "reading the routes"};
}

std::set<int> route_owners(const nlmsghdr& header, std::uint8_t family, const BarePrefixes& bare) {
  const auto route = Parsed<rtmsg>::of(header);
  if (header.nlmsg_type != RTM_NEWROUTE || !route || route->family.rtm_family != family) return {};
  if ((route->family.rtm_flags & RTM_F_CLONED) != 0 || route->family.rtm_protocol == RTPROT_REDIRECT)
    return {};
  const bool unicast = route->family.rtm_type == RTN_UNICAST;
  if (!unicast && route->family.rtm_protocol <= RTPROT_KERNEL) return {};
  std::set<int> owners;
  if (const auto index = route->attributes.number<int>(RTA_OIF)) owners.insert(*index);
  for (const auto& hop : next_hops(route->attributes)) owners.insert(hop.header.rtnh_ifindex);
  if (route->family.rtm_protocol == RTPROT_KERNEL) {
    // NetworkManager marks its prefix routes as the kernel's, for addresses for which the kernel makes none.
    const auto destination = route->attributes.find(RTA_DST);
    if (!destination || owners.size() != 1) return {};
    const int length = route->family.rtm_dst_len;
    if (!bare.contains({*owners.begin(), family, masked_prefix(*destination, length), length})) return {};
  }
  return owners;
}

std::vector<RouteReplay> replay_route(const Item& item, const Target& target) {
  const auto route = Parsed<rtmsg>::of(item.header());
  if (!route) return {};
  const int family = route->family.rtm_family;
  const auto destination = route->attributes.find(RTA_DST).value_or(std::span<const std::byte>{});
  const auto what = fmt::format("{}: put back route {}", target.name,
                                prefix_text(family, destination, route->family.rtm_dst_len));
  const auto hops = next_hops(route->attributes);
  std::vector<RouteReplay> out;
  if (hops.empty()) {
    out.push_back({rebuilt(item, *route, target, what), has_gateway(route->attributes), false});
    return out;
  }
  const bool gateway = std::any_of(
      hops.begin(), hops.end(), [](const NextHop& hop) { return has_gateway(Attributes(hop.attributes)); });
  if (family != AF_INET6) {
    const bool shared = std::any_of(
        hops.begin(), hops.end(), [&](const NextHop& hop) { return hop.header.rtnh_ifindex != target.from; });
    RouteReplay replay{rebuilt(item, *route, target, what), gateway, shared};
    put_next_hops(replay.add, hops, target);
    out.push_back(std::move(replay));
    return out;
  }
  for (const auto& hop : hops) {
    // A dead one is of an interface that was down, without the address that leads to its gateway. It is in
    // the route for as long as another hop lives, and whoever takes the interface up has to say it again.
    if (hop.header.rtnh_ifindex != target.from || (hop.header.rtnh_flags & RTNH_F_DEAD) != 0) continue;
    RouteReplay replay{rebuilt(item, *route, target, what), gateway, false};
    put_next_hops(replay.add, {&hop, 1}, target);
    out.push_back(std::move(replay));
  }
  return out;
}

}  // namespace rdmacfg::system::detail
