// SPDX-License-Identifier: Apache-2.0
#include "system/linux/link_dump.hpp"

#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace rdmacfg::system::detail {

namespace {

constexpr std::size_t kIpoibAddress = 20;  // bytes; INFINIBAND_ALEN
constexpr std::size_t kGuidBytes = 8;
constexpr unsigned kConnectedFlag = 0x80;    // of the first address byte; IPOIB_FLAGS_RC
constexpr std::uint16_t kModeConnected = 1;  // IPOIB_MODE_CONNECTED of if_link.h

IpoibInfo parse_ipoib(const Attributes& attributes, int index) {
  IpoibInfo info;
  if (const auto address = attributes.find(IFLA_ADDRESS); address && address->size() == kIpoibAddress) {
    for (const auto byte : address->last(kGuidBytes)) {
      info.guid.number = info.guid.number << 8U | std::to_integer<std::uint64_t>(byte);
    }
    info.connected_capable = (std::to_integer<unsigned>(address->front()) & kConnectedFlag) != 0;
  }
  if (const auto parent = attributes.number<std::int32_t>(IFLA_LINK)) {
    // A child that was moved here keeps the number its parent has over there: it may be our own.
    info.child = *parent != index || attributes.find(IFLA_LINK_NETNSID).has_value();
  }
  const auto data = attributes.nested(IFLA_LINKINFO).nested(IFLA_INFO_DATA);
  if (const auto pkey = model::Pkey::make(data.number<std::uint16_t>(IFLA_IPOIB_PKEY).value_or(0)))
    info.pkey = *pkey;
  if (data.number<std::uint16_t>(IFLA_IPOIB_MODE) == kModeConnected) info.mode = model::IpoibMode::kConnected;
  info.umcast = data.number<std::uint16_t>(IFLA_IPOIB_UMCAST).value_or(0) != 0;
  return info;
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
  const auto& attributes = parsed->attributes;
  Link link;
  link.index = parsed->family.ifi_index;
  link.name = attributes.text(IFLA_IFNAME);
  Attributes properties = attributes.nested(IFLA_PROP_LIST);
  while (const auto property = properties.next()) {
    if (property->type != IFLA_ALT_IFNAME) continue;
    const std::string_view all(reinterpret_cast<const char*>(property->bytes.data()), property->bytes.size());
    link.altnames.emplace_back(all.substr(0, all.find('\0')));
  }
  link.up = (parsed->family.ifi_flags & IFF_UP) != 0;
  link.carrier = (parsed->family.ifi_flags & IFF_LOWER_UP) != 0;
  link.mtu = attributes.number<std::uint32_t>(IFLA_MTU).value_or(0);
  if (!attributes.find(IFLA_LINK_NETNSID)) {
    link.parent = attributes.number<std::int32_t>(IFLA_LINK).value_or(0);
    if (link.parent == link.index) link.parent = 0;
  }
  link.master = attributes.number<std::int32_t>(IFLA_MASTER).value_or(0);
  link.group = attributes.number<std::uint32_t>(IFLA_GROUP).value_or(0);
  link.kind = attributes.nested(IFLA_LINKINFO).text(IFLA_INFO_KIND);
  if (parsed->family.ifi_type == ARPHRD_INFINIBAND) link.ipoib = parse_ipoib(attributes, link.index);
  return link;
}

}  // namespace rdmacfg::system::detail
