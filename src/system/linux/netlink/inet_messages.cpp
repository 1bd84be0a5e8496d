// SPDX-License-Identifier: Apache-2.0
#include "system/linux/netlink/inet_messages.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_addr.h>
#include <linux/inet_diag.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

namespace rdmacfg::system::detail {

using model::Family;
using model::IpAddress;
using model::IpPrefix;

namespace {

constexpr std::uint16_t kChangeInet = NLM_F_REQUEST | NLM_F_ACK;
constexpr std::uint16_t kCreateInet = kChangeInet | NLM_F_CREATE | NLM_F_EXCL;
/// Of one that is there with a lifetime it takes that away (inet_rtm_newaddr(), inet6_addr_modify()).
constexpr std::uint16_t kLastingInet = kChangeInet | NLM_F_CREATE | NLM_F_REPLACE;

std::uint8_t af_of(Family family) { return family == Family::kIpv4 ? AF_INET : AF_INET6; }

std::span<const std::byte> bytes_of(const IpAddress& address) {
  return std::as_bytes(std::span(address.bytes)).first(address.size());
}

std::optional<IpAddress> address_in(std::uint8_t family, std::span<const std::byte> bytes) {
  IpAddress out;
  if (family == AF_INET6) out.family = Family::kIpv6;
  if ((family != AF_INET && family != AF_INET6) || bytes.size() < out.size()) return std::nullopt;
  std::memcpy(out.bytes.data(), bytes.data(), out.size());
  return out;
}

std::optional<IpAddress> address_in(std::uint8_t family, const Attributes& attributes, int type) {
  const auto bytes = attributes.find(type);
  return bytes ? address_in(family, *bytes) : std::nullopt;
}

ifaddrmsg header_of(int index, const IpPrefix& prefix) {
  ifaddrmsg header{};
  header.ifa_family = af_of(prefix.address.family);
  header.ifa_prefixlen = static_cast<std::uint8_t>(prefix.length);
  header.ifa_index = static_cast<std::uint32_t>(index);
  return header;
}

Message add_message(int index, const std::string& name, const IpPrefix& prefix,
                    std::uint16_t how = kCreateInet) {
  Message message(RTM_NEWADDR, how, header_of(index, prefix),
                  fmt::format("{}: add address {}", name, prefix.text()));
  message.put(IFA_LOCAL, bytes_of(prefix.address));
  message.put(IFA_ADDRESS, bytes_of(prefix.address));
  if (const auto broadcast = prefix.broadcast()) message.put(IFA_BROADCAST, bytes_of(*broadcast));
  return message;
}

/// Of one with a lifetime; the kernel refuses one that is over, or less than the preferred one
/// (inet_rtm_newaddr()), and takes a preferred one of 0 s for a deprecated address.
std::optional<ifa_cacheinfo> lifetimes_of(const InetAddress& address) {
  if (address.valid == kForever && address.preferred == kForever) return std::nullopt;
  ifa_cacheinfo out{};
  out.ifa_valid = std::max(address.valid, std::uint32_t{1});
  out.ifa_prefered = std::min(address.preferred, out.ifa_valid);
  return out;
}

/// An address that went with another one, with all that user space sets of it (rtm_to_ifaddr()), but for
/// IFA_F_MCAUTOJOIN: the kernel does not leave the group of an address that goes with its primary
/// (inet_rtm_deladdr() leaves that of the requested one only), so a second join is refused with EADDRINUSE
/// (ip_mc_join_group()). Without the flag the address comes back, and the host is still in the group.
Message restore_message(int index, const std::string& name, const InetAddress& address) {
  auto header = header_of(index, address.prefix);
  header.ifa_scope = address.scope;
  Message message(RTM_NEWADDR, kCreateInet, header,
                  fmt::format("{}: add address {}", name, address.prefix.text()));
  message.put(IFA_LOCAL, bytes_of(address.prefix.address));
  message.put(IFA_ADDRESS, bytes_of(address.peer.value_or(address.prefix.address)));
  if (address.broadcast) message.put(IFA_BROADCAST, bytes_of(*address.broadcast));
  // The kernel takes any text; that it begins with the interface's name is a rule of ip-address(8) alone.
  if (!address.label.empty()) message.put(IFA_LABEL, std::string_view(address.label));
  if (address.no_network_route) message.put(IFA_FLAGS, std::uint32_t{IFA_F_NOPREFIXROUTE});
  if (address.metric != 0) message.put(IFA_RT_PRIORITY, address.metric);
  if (address.protocol != 0) message.put(IFA_PROTO, address.protocol);
  if (const auto lifetimes = lifetimes_of(address))
    message.put(IFA_CACHEINFO, std::as_bytes(std::span(&*lifetimes, 1)));
  return message;
}

Message delete_message(int index, const std::string& name, const IpPrefix& prefix) {
  Message message(RTM_DELADDR, kChangeInet, header_of(index, prefix),
                  fmt::format("{}: delete address {}", name, prefix.text()));
  message.put(IFA_LOCAL, bytes_of(prefix.address));
  message.put(IFA_ADDRESS, bytes_of(prefix.address));
  return message;
}

/// A next hop of the other family (struct rtvia): the family, then the address.
std::vector<std::byte> other_hop(const IpAddress& hop) {
  const std::uint16_t family = af_of(hop.family);
  const auto head = std::as_bytes(std::span(&family, 1));
  std::vector<std::byte> out(head.begin(), head.end());
  const auto address = bytes_of(hop);
  out.insert(out.end(), address.begin(), address.end());
  return out;
}

std::optional<IpAddress> other_hop(const Attributes& attributes) {
  const auto bytes = attributes.find(RTA_VIA);
  std::uint16_t family = 0;
  if (!bytes || bytes->size() < sizeof family) return std::nullopt;
  std::memcpy(&family, bytes->data(), sizeof family);
  return address_in(static_cast<std::uint8_t>(family), bytes->subspan(sizeof family));
}

Message route_message(std::uint16_t type, std::uint16_t flags, const InetRoute& route,
                      const std::string& what) {
  rtmsg header{};
  header.rtm_family = af_of(route.family);
  header.rtm_dst_len = static_cast<unsigned char>(route.to.any ? 0 : route.to.network.length);
  // Larger numbers are only in RTA_TABLE.
  if (route.table < 256) header.rtm_table = static_cast<unsigned char>(route.table);
  // A deletion matches the given attributes; 0 and RTN_UNSPEC are not compared (ip-route(8) does the same).
  header.rtm_protocol = type == RTM_NEWROUTE ? RTPROT_STATIC : RTPROT_UNSPEC;
  header.rtm_type = type == RTM_NEWROUTE ? RTN_UNICAST : RTN_UNSPEC;
  if (type == RTM_DELROUTE) {
    header.rtm_scope = RT_SCOPE_NOWHERE;
  } else {
    header.rtm_scope = route.via || route.family == Family::kIpv6 ? std::uint8_t{RT_SCOPE_UNIVERSE}
                                                                  : std::uint8_t{RT_SCOPE_LINK};
  }
  Message message(type, flags, header, what);
  if (!route.to.any) message.put(RTA_DST, bytes_of(route.to.network.address));
  if (route.via && route.via->family == route.family) message.put(RTA_GATEWAY, bytes_of(*route.via));
  if (route.via && route.via->family != route.family) message.put(RTA_VIA, other_hop(*route.via));
  message.put(RTA_OIF, static_cast<std::uint32_t>(route.index));
  message.put(RTA_PRIORITY, route.metric);
  message.put(RTA_TABLE, route.table);
  return message;
}

std::string words_of(const std::string& name, std::string_view verb, const InetRoute& route) {
  return fmt::format("{}: {} route {}{} metric {} table {}", name, verb, route.to.text(),
                     route.via ? " via " + route.via->text() : "", route.metric, route.table);
}

struct InetEncoder {
  std::vector<Message> operator()(const AddAddress& request) const {
    std::vector<Message> out;
    out.push_back(add_message(request.index, request.name, request.prefix, kLastingInet));
    return out;
  }
  std::vector<Message> operator()(const DeleteAddress& request) const {
    std::vector<Message> out;
    const auto hold = request.hold ? std::optional(IpPrefix{*request.hold, request.hold->bits()})
                                   : std::optional<IpPrefix>();
    if (hold) out.push_back(add_message(request.index, request.name, *hold));
    out.push_back(delete_message(request.index, request.name, request.prefix));
    for (const auto& kept : request.keep) out.push_back(restore_message(request.index, request.name, kept));
    if (hold) out.push_back(delete_message(request.index, request.name, *hold));
    return out;
  }
  std::vector<Message> operator()(const AddRoute& request) const {
    std::vector<Message> out;
    out.push_back(route_message(RTM_NEWROUTE, kCreateInet, request.route,
                                words_of(request.name, "add", request.route)));
    return out;
  }
  std::vector<Message> operator()(const DeleteRoute& request) const {
    std::vector<Message> out;
    out.push_back(route_message(RTM_DELROUTE, kChangeInet, request.route,
                                words_of(request.name, "delete", request.route)));
    return out;
  }
};

}  // namespace

Message address_request() {
  return {RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP, ifaddrmsg{}, "reading the addresses"};
}

Message route_request() { return {RTM_GETROUTE, NLM_F_REQUEST | NLM_F_DUMP, rtmsg{}, "reading the routes"}; }

Message connection_request(Family family) {
  constexpr std::uint32_t kEstablished = 1;  // TCP_ESTABLISHED of include/net/tcp_states.h
  inet_diag_req_v2 asked{};
  asked.sdiag_family = af_of(family);
  asked.sdiag_protocol = IPPROTO_TCP;
  asked.idiag_states = 1U << kEstablished;
  return {SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, asked, "reading the TCP connections"};
}

std::optional<TcpConnection> parse_connection(const nlmsghdr& header) {
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;
  const auto parsed = Parsed<inet_diag_msg>::of(header);
  if (!parsed) return std::nullopt;
  const auto& socket = parsed->family;
  const auto local = address_in(socket.idiag_family, std::as_bytes(std::span(socket.id.idiag_src)));
  const auto remote = address_in(socket.idiag_family, std::as_bytes(std::span(socket.id.idiag_dst)));
  if (!local || !remote) return std::nullopt;
  return TcpConnection{.local = *local, .remote = *remote, .local_port = ntohs(socket.id.idiag_sport)};
}

namespace {

std::optional<InetAddress> address_of_message(const nlmsghdr& header) {
  const auto parsed = Parsed<ifaddrmsg>::of(header);
  if (!parsed || parsed->family.ifa_scope >= RT_SCOPE_HOST) return std::nullopt;
  const auto& family = parsed->family;
  const auto flags = parsed->attributes.number<std::uint32_t>(IFA_FLAGS).value_or(family.ifa_flags);
  if (family.ifa_family == AF_INET6 && (flags & IFA_F_TEMPORARY) != 0) return std::nullopt;
  // IFA_ADDRESS is the peer's of a point-to-point address; IPv6 has IFA_LOCAL only with one.
  auto address = address_in(family.ifa_family, parsed->attributes, IFA_LOCAL);
  if (!address) address = address_in(family.ifa_family, parsed->attributes, IFA_ADDRESS);
  if (!address || (address->family == Family::kIpv6 && address->link_local())) return std::nullopt;
  const IpPrefix prefix{*address, family.ifa_prefixlen};
  const auto& attributes = parsed->attributes;
  auto peer = address_in(family.ifa_family, attributes, IFA_ADDRESS);
  if (peer == *address) peer.reset();
  const auto lifetimes = attributes.number<ifa_cacheinfo>(IFA_CACHEINFO);
  const bool deprecated = (flags & IFA_F_DEPRECATED) != 0;  // one that stays has no lifetimes to say so
  return InetAddress{.index = static_cast<int>(family.ifa_index),
                     .prefix = prefix,
                     // An optimistic one works while the kernel asks (RFC 4429).
                     .tentative = (flags & IFA_F_TENTATIVE) != 0 && (flags & IFA_F_OPTIMISTIC) == 0,
                     .duplicate = (flags & IFA_F_DADFAILED) != 0,
                     .permanent = (flags & IFA_F_PERMANENT) != 0,
                     .peer_elsewhere = address->family == Family::kIpv4 && peer && !prefix.contains(*peer),
                     .no_network_route = (flags & IFA_F_NOPREFIXROUTE) != 0,
                     .peer = peer,
                     .broadcast = address_in(family.ifa_family, attributes, IFA_BROADCAST),
                     .label = attributes.text(IFA_LABEL),
                     .scope = family.ifa_scope,
                     .metric = attributes.number<std::uint32_t>(IFA_RT_PRIORITY).value_or(0),
                     .protocol = attributes.number<std::uint8_t>(IFA_PROTO).value_or(0),
                     .valid = lifetimes ? lifetimes->ifa_valid : kForever,
                     .preferred = deprecated  ? 0
                                  : lifetimes ? lifetimes->ifa_prefered
                                              : kForever};
}

}  // namespace

std::optional<InetAddress> parse_address(const nlmsghdr& header) {
  return header.nlmsg_type == RTM_NEWADDR ? address_of_message(header) : std::nullopt;
}

void AddressChecks::begin(const std::vector<InetAddress>& all) {
  checked_.clear();
  for (const auto& address : all) note(address);
}

void AddressChecks::note(const nlmsghdr& header) {
  if (header.nlmsg_type != RTM_NEWADDR && header.nlmsg_type != RTM_DELADDR) return;
  const auto address = address_of_message(header);
  if (!address) return;
  if (header.nlmsg_type == RTM_NEWADDR) {
    note(*address);
  } else {
    checked_.erase(std::pair(address->index, address->prefix.address));
  }
}

void AddressChecks::note(const InetAddress& address) {
  if (!indexes_.contains(address.index)) return;
  const std::pair key{address.index, address.prefix.address};
  if (address.tentative && !address.duplicate) {
    checked_.insert(key);
  } else {
    checked_.erase(key);
  }
}

std::optional<InetRoute> parse_route(const nlmsghdr& header) {
  if (header.nlmsg_type != RTM_NEWROUTE) return std::nullopt;
  const auto parsed = Parsed<rtmsg>::of(header);
  if (!parsed) return std::nullopt;
  const auto& family = parsed->family;
  const auto& attributes = parsed->attributes;
  const auto index = attributes.number<std::uint32_t>(RTA_OIF);
  if ((family.rtm_family != AF_INET && family.rtm_family != AF_INET6) || family.rtm_type != RTN_UNICAST ||
      (family.rtm_flags & RTM_F_CLONED) != 0 || !index)
    return std::nullopt;
  InetRoute route;
  route.index = static_cast<int>(*index);
  route.family = family.rtm_family == AF_INET ? Family::kIpv4 : Family::kIpv6;
  route.table = attributes.number<std::uint32_t>(RTA_TABLE).value_or(family.rtm_table);
  route.metric = attributes.number<std::uint32_t>(RTA_PRIORITY).value_or(0);
  route.made_by_kernel = family.rtm_protocol == RTPROT_KERNEL || family.rtm_protocol == RTPROT_RA ||
                         family.rtm_protocol == RTPROT_REDIRECT;
  route.selective = family.rtm_tos != 0 || family.rtm_src_len != 0;
  route.via = address_in(family.rtm_family, attributes, RTA_GATEWAY);
  if (!route.via) route.via = other_hop(attributes);
  if (family.rtm_dst_len == 0) {
    route.to.any = true;
  } else if (const auto network = address_in(family.rtm_family, attributes, RTA_DST)) {
    route.to.network = {*network, family.rtm_dst_len};
  } else {
    return std::nullopt;
  }
  return route;
}

std::vector<Message> encode(const InetRequest& request) { return std::visit(InetEncoder{}, request); }

}  // namespace rdmacfg::system::detail
