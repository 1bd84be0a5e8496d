// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include <initializer_list>
#include <set>

#include "system/linux/carried/carried.hpp"
#include "system/linux/netlink/inet_messages.hpp"
#include "system/linux/netlink/links.hpp"

namespace rdmacfg::system::detail {

namespace {

/// The identity of an item, whatever its counters, lifetimes and flags are now.
struct Known {
  std::string identity;
  std::string words;
  bool stays = true;
};

std::string hex(std::span<const std::byte> bytes) {
  std::string out;
  for (const auto byte : bytes) out += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return out;
}

std::string essence(const Attributes& attributes, std::initializer_list<int> types) {
  std::string out;
  for (const int type : types) {
    const auto bytes = attributes.find(type);
    out += fmt::format(" {}={}", type, bytes ? hex(*bytes) : "");
  }
  return out;
}

Known of_address(const nlmsghdr& header) {
  const auto parsed = Parsed<ifaddrmsg>::of(header);
  if (!parsed) return {};
  const auto& a = parsed->attributes;
  const auto flags = a.number<std::uint32_t>(IFA_FLAGS).value_or(parsed->family.ifa_flags);
  const auto address = parse_address(header);
  return {fmt::format("address {} {}{}", parsed->family.ifa_family, parsed->family.ifa_prefixlen,
                      essence(a, {IFA_LOCAL, IFA_ADDRESS})),
          address ? address->prefix.text() : "an address", (flags & IFA_F_PERMANENT) != 0};
}

Known of_route(const nlmsghdr& header) {
  const auto parsed = Parsed<rtmsg>::of(header);
  if (!parsed) return {};
  const auto& h = parsed->family;
  const auto route = parse_route(header);
  return {fmt::format("route {} {} {} {}{}", h.rtm_family, h.rtm_dst_len, h.rtm_tos, h.rtm_type,
                      essence(parsed->attributes, {RTA_DST, RTA_GATEWAY, RTA_PRIORITY, RTA_TABLE, RTA_OIF})),
          route ? "the route to " + route->to.text() : "a route",
          h.rtm_protocol != RTPROT_RA && h.rtm_protocol != RTPROT_REDIRECT};
}

Known of_rule(const nlmsghdr& header) { return {rule_identity(header), "a policy rule", true}; }

Known of_neighbour(const nlmsghdr& header) {
  const auto parsed = Parsed<ndmsg>::of(header);
  if (!parsed) return {};
  return {fmt::format("neighbour {}{}", parsed->family.ndm_family,
                      essence(parsed->attributes, {NDA_DST, NDA_LLADDR})),
          "a permanent neighbour", true};
}

Known known(std::string_view text) {
  const auto item = parse_item(text);
  if (!item) return {};
  switch (item->sort) {
    case ItemSort::kAddress:
      return of_address(item->header());
    case ItemSort::kRoute:
      return of_route(item->header());
    case ItemSort::kRule:
      return of_rule(item->header());
    case ItemSort::kNeighbour:
      break;
  }
  return of_neighbour(item->header());
}

}  // namespace

std::string rule_identity(const nlmsghdr& header) {
  const auto rule = Parsed<fib_rule_hdr>::of(header);
  if (!rule) return {};
  const auto& h = rule->family;
  auto out = fmt::format("rule {} {} {} {} {} {}", h.family, h.src_len, h.dst_len, h.tos, h.action,
                         h.flags & FIB_RULE_INVERT);
  Attributes all = rule->attributes;
  while (const auto attribute = all.next()) {
    if (attribute->type != FRA_PAD) out += fmt::format(" {}={}", attribute->type, hex(attribute->bytes));
  }
  return out;
}

std::vector<std::string> LinuxLinks::lacking(const Carried& then, const Carried& now) {
  std::set<std::string> there;
  for (const auto& item : now.items) there.insert(known(item).identity);
  std::vector<std::string> out;
  for (const auto& item : then.items) {
    auto past = known(item);
    if (past.stays && !past.identity.empty() && !there.contains(past.identity))
      out.push_back(std::move(past.words));
  }
  return out;
}

}  // namespace rdmacfg::system::detail
