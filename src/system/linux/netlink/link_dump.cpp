// SPDX-License-Identifier: Apache-2.0
#include "system/linux/netlink/link_dump.hpp"

#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <vector>

namespace rdmacfg::system::detail {

namespace {

constexpr std::size_t kIpoibAddress = 20;  // bytes; INFINIBAND_ALEN
constexpr std::size_t kGuidBytes = 8;
constexpr unsigned kConnectedFlag = 0x80;    // of the first address byte; IPOIB_FLAGS_RC
constexpr std::uint16_t kModeConnected = 1;  // IPOIB_MODE_CONNECTED of if_link.h

/// The attributes of a link collected in one pass: a dump of 1,000 links has some 40,000 of them.
struct Raw {
  std::optional<std::span<const std::byte>> address;
  std::optional<std::int32_t> parent;
  bool parent_elsewhere = false;  ///< the parent's index is one of another network namespace
  Attributes info;                ///< IFLA_LINKINFO
};

IpoibInfo parse_ipoib(const Raw& raw, Attributes data, int index) {
  IpoibInfo info;
  if (raw.address && raw.address->size() == kIpoibAddress) {
    for (const auto byte : raw.address->last(kGuidBytes)) {
      info.guid.number = info.guid.number << 8U | std::to_integer<std::uint64_t>(byte);
    }
    info.connected_capable = (std::to_integer<unsigned>(raw.address->front()) & kConnectedFlag) != 0;
  }
  // A child that was moved here keeps the number its parent has over there: it may be our own.
  if (raw.parent) info.child = *raw.parent != index || raw.parent_elsewhere;
  while (const auto item = data.next()) {
    const auto number = item->number<std::uint16_t>();
    if (!number) continue;
    switch (item->type) {
      case IFLA_IPOIB_PKEY:
        if (const auto pkey = model::Pkey::make(*number)) info.pkey = *pkey;
        break;
      case IFLA_IPOIB_MODE:
        if (*number == kModeConnected) info.mode = model::IpoibMode::kConnected;
        break;
      case IFLA_IPOIB_UMCAST:
        info.umcast = *number != 0;
        break;
      default:
        break;
    }
  }
  return info;
}

std::vector<std::string> alternative_names(Attributes properties) {
  std::vector<std::string> names;
  while (const auto property = properties.next()) {
    if (property->type == IFLA_ALT_IFNAME) names.emplace_back(property->text());
  }
  return names;
}

}  // namespace

Message link_dump_request() {
  Message request(RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, ifinfomsg{}, "reading the network interfaces");
  request.put(IFLA_EXT_MASK, std::uint32_t{RTEXT_FILTER_SKIP_STATS});
  return request;
}

std::optional<Link> parse_link(const nlmsghdr& header) {
  if (header.nlmsg_type != RTM_NEWLINK) return std::nullopt;
  const auto parsed = Parsed<ifinfomsg>::of(header);
  // Bridge ports are announced once more with their own family and few attributes.
  if (!parsed || parsed->family.ifi_family != AF_UNSPEC) return std::nullopt;
  Link link;
  link.index = parsed->family.ifi_index;
  link.up = (parsed->family.ifi_flags & IFF_UP) != 0;
  link.carrier = (parsed->family.ifi_flags & IFF_LOWER_UP) != 0;
  Raw raw;
  auto attributes = parsed->attributes;
  while (const auto item = attributes.next()) {
    switch (item->type) {
      case IFLA_IFNAME:
        link.name = item->text();
        break;
      case IFLA_PROP_LIST:
        link.altnames = alternative_names(item->nested());
        break;
      case IFLA_MTU:
        link.mtu = item->number<std::uint32_t>().value_or(0);
        break;
      case IFLA_MASTER:
        link.master = item->number<std::int32_t>().value_or(0);
        break;
      case IFLA_GROUP:
        link.group = item->number<std::uint32_t>().value_or(0);
        break;
      case IFLA_ADDRESS:
        raw.address = item->bytes;
        break;
      case IFLA_LINK:
        raw.parent = item->number<std::int32_t>();
        break;
      case IFLA_LINK_NETNSID:
        raw.parent_elsewhere = true;
        break;
      case IFLA_LINKINFO:
        raw.info = item->nested();
        break;
      default:
        break;
    }
  }
  if (!raw.parent_elsewhere && raw.parent && *raw.parent != link.index) link.parent = *raw.parent;
  link.kind = raw.info.text(IFLA_INFO_KIND);
  if (is_ipoib(parsed->family.ifi_type == ARPHRD_INFINIBAND, link.kind))
    link.ipoib = parse_ipoib(raw, raw.info.nested(IFLA_INFO_DATA), link.index);
  return link;
}

}  // namespace rdmacfg::system::detail
