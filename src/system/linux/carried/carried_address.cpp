// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "model/types.hpp"
#include "system/linux/carried/carried.hpp"
#include "system/linux/netlink/inet_text.hpp"

namespace rdmacfg::system::detail {

namespace {

constexpr std::uint32_t kLearned = IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED | IFA_F_SECONDARY;
/// The attributes that inet6_rtm_newaddr() lets user space set.
constexpr std::uint32_t kSettable6 =
    IFA_F_NODAD | IFA_F_HOMEADDRESS | IFA_F_MANAGETEMPADDR | IFA_F_NOPREFIXROUTE | IFA_F_MCAUTOJOIN;
constexpr std::uint16_t kAddAddress = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE;
constexpr std::uint16_t kReplaceAddress = NLM_F_REQUEST | NLM_F_ACK | NLM_F_REPLACE;

std::uint32_t flags_of(const Parsed<ifaddrmsg>& address) {
  return address.attributes.number<std::uint32_t>(IFA_FLAGS).value_or(address.family.ifa_flags);
}

/// An IPv4 label begins with the interface's name: "ib0:1" follows a rename to "mlx4_ib0:1".
std::string label_after_rename(std::string label, const Target& target) {
  const bool follows = label.starts_with(target.old_name) &&
                       (label.size() == target.old_name.size() || label[target.old_name.size()] == ':');
  return follows ? target.name + label.substr(target.old_name.size()) : label;
}

Message rebuilt(const Item& item, const Parsed<ifaddrmsg>& address, const Target& target, std::uint16_t how,
                std::uint32_t flags, const std::string& what) {
  ifaddrmsg header = address.family;
  header.ifa_index = static_cast<std::uint32_t>(target.to);
  header.ifa_flags = static_cast<std::uint8_t>(flags);
  Message message(RTM_NEWADDR, how, header, what, item.bytes.size() + 64);
  Attributes all = address.attributes;
  while (const auto attribute = all.next()) {
    if (attribute->type == IFA_FLAGS || attribute->type == IFA_LABEL) continue;
    message.put(attribute->type, attribute->bytes);
  }
  message.put(IFA_FLAGS, flags);
  if (address.attributes.find(IFA_LABEL)) {
    const auto label = label_after_rename(address.attributes.text(IFA_LABEL), target);
    // Too long under the new name: without a label the kernel takes the interface's name.
    if (label.size() <= model::kInterfaceNameMax) message.put(IFA_LABEL, label);
  }
  return message;
}

}  // namespace

Message address_dump_request(std::uint8_t family) {
  ifaddrmsg header{};
  header.ifa_family = family;
  return {RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP, header, "reading the addresses"};
}

int address_owner(const nlmsghdr& header, std::uint8_t family, BarePrefixes& bare) {
  const auto address = Parsed<ifaddrmsg>::of(header);
  // Without IPv6 in the kernel the dump for it is answered with that of all other families.
  if (header.nlmsg_type != RTM_NEWADDR || !address || address->family.ifa_family != family) return 0;
  const std::uint32_t flags = flags_of(*address);
  if (family == AF_INET6) {
    if ((flags & IFA_F_TEMPORARY) != 0) return 0;
    if (address->attributes.number<std::uint8_t>(IFA_PROTO) == IFAPROT_KERNEL_LL) return 0;
  }
  const int index = static_cast<int>(address->family.ifa_index);
  if ((flags & IFA_F_NOPREFIXROUTE) != 0) {
    if (const auto bytes = address->attributes.find(IFA_ADDRESS)) {
      const int length = address->family.ifa_prefixlen;
      bare.emplace(index, family, masked_prefix(*bytes, length), length);
    }
  }
  return index;
}

std::optional<Label> label_of(const nlmsghdr& header, int index) {
  const auto address = Parsed<ifaddrmsg>::of(header);
  if (header.nlmsg_type != RTM_NEWADDR || !address || address->family.ifa_family != AF_INET)
    return std::nullopt;
  const auto local = address->attributes.find(IFA_LOCAL);
  if (!local || static_cast<int>(address->family.ifa_index) != index) return std::nullopt;
  return Label{
      {local->begin(), local->end()}, address->family.ifa_prefixlen, address->attributes.text(IFA_LABEL)};
}

std::optional<AddressReplay> replay_address(const Item& item, const Target& target) {
  const auto address = Parsed<ifaddrmsg>::of(item.header());
  if (!address) return std::nullopt;
  const auto lives = address->attributes.number<ifa_cacheinfo>(IFA_CACHEINFO);
  if (lives && lives->ifa_valid == 0) return std::nullopt;  // it was about to go
  const auto bytes = address->attributes.find(IFA_LOCAL).value_or(
      address->attributes.find(IFA_ADDRESS).value_or(std::span<const std::byte>{}));
  const auto what =
      fmt::format("{}: put back address {}", target.name,
                  prefix_text(address->family.ifa_family, bytes, address->family.ifa_prefixlen));
  const std::uint32_t seen = flags_of(*address);
  if (address->family.ifa_family != AF_INET6) {
    ifaddrmsg header = address->family;
    header.ifa_index = static_cast<std::uint32_t>(target.to);
    AddressReplay replay{.family = AF_INET,
                         .add = rebuilt(item, *address, target, kAddAddress, seen & ~kLearned, what),
                         .remove = Message(RTM_DELADDR, NLM_F_REQUEST | NLM_F_ACK, header, what)};
    for (const int type : {IFA_LOCAL, IFA_ADDRESS}) {
      if (const auto part = address->attributes.find(type)) replay.remove->put(type, *part);
    }
    return replay;
  }
  const std::uint32_t flags = seen & kSettable6;
  const bool proven = (seen & (IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_NODAD)) == 0;
  AddressReplay replay{
      .family = AF_INET6,
      .add = rebuilt(item, *address, target, kAddAddress, proven ? flags | IFA_F_NODAD : flags, what)};
  if (proven) replay.settle = rebuilt(item, *address, target, kReplaceAddress, flags, what);
  return replay;
}

}  // namespace rdmacfg::system::detail
