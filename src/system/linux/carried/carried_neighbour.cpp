// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "system/linux/carried/carried.hpp"
#include "system/linux/netlink/inet_text.hpp"

namespace rdmacfg::system::detail {

namespace {

// An entry learned for the same address meanwhile gives way.
constexpr std::uint16_t kReplaceNeighbour = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
/// Of the flags only these are settings.
constexpr unsigned kSettableNeighbourFlags = NTF_PROXY | NTF_ROUTER | NTF_EXT_LEARNED;

}  // namespace

Message neighbour_dump_request(std::uint8_t family, NeighbourTable table) {
  ndmsg header{};
  header.ndm_family = family;
  if (table == NeighbourTable::kProxies) header.ndm_flags = NTF_PROXY;
  return {RTM_GETNEIGH, NLM_F_REQUEST | NLM_F_DUMP, header, "reading the neighbours"};
}

int neighbour_owner(const nlmsghdr& header, std::uint8_t family) {
  const auto neighbour = Parsed<ndmsg>::of(header);
  if (header.nlmsg_type != RTM_NEWNEIGH || !neighbour || neighbour->family.ndm_family != family) return 0;
  const bool permanent = (neighbour->family.ndm_state & NUD_PERMANENT) != 0;
  const bool proxy = (neighbour->family.ndm_flags & NTF_PROXY) != 0;
  return permanent || proxy ? neighbour->family.ndm_ifindex : 0;
}

std::optional<Message> replay_neighbour(const Item& item, const Target& target) {
  const auto neighbour = Parsed<ndmsg>::of(item.header());
  if (!neighbour) return std::nullopt;
  ndmsg header = neighbour->family;
  header.ndm_ifindex = target.to;
  header.ndm_state &= NUD_PERMANENT;
  header.ndm_flags = static_cast<std::uint8_t>(header.ndm_flags & kSettableNeighbourFlags);
  const auto address = neighbour->attributes.find(NDA_DST).value_or(std::span<const std::byte>{});
  const auto length = static_cast<int>(address.size()) * 8;
  Message message(
      RTM_NEWNEIGH, kReplaceNeighbour, header,
      fmt::format("{}: put back neighbour {}", target.name, prefix_text(header.ndm_family, address, length)),
      item.bytes.size() + 64);
  Attributes all = neighbour->attributes;
  while (const auto attribute = all.next()) {
    if (attribute->type == NDA_CACHEINFO || attribute->type == NDA_PROBES) continue;  // how it fares
    message.put(attribute->type, attribute->bytes);
  }
  return message;
}

}  // namespace rdmacfg::system::detail
