// SPDX-License-Identifier: Apache-2.0
#include "system/linux/netlink/link_requests.hpp"

#include <fmt/format.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "base/text.hpp"

namespace rdmacfg::system::detail {

namespace {

constexpr std::uint16_t kChangeLink = NLM_F_REQUEST | NLM_F_ACK;
constexpr std::uint16_t kCreateLink = kChangeLink | NLM_F_CREATE | NLM_F_EXCL;
constexpr std::string_view kIpoibLinkType = "ipoib";

ifinfomsg header_of(int index) {
  ifinfomsg header{};
  header.ifi_index = index;
  return header;
}

void set_up(ifinfomsg& header, std::optional<bool> up) {
  if (!up) return;
  header.ifi_change = IFF_UP;
  if (*up) header.ifi_flags = IFF_UP;
}

template <class Data>
void put_ipoib(Message& message, Data data) {
  message.nest(IFLA_LINKINFO, [&] {
    message.put(IFLA_INFO_KIND, kIpoibLinkType);
    message.nest(IFLA_INFO_DATA, data);
  });
}

/// "set name x, MTU 2044, up"; the same words for both sorts of requests that set something.
std::string words_of(const SetLink& set) {
  std::vector<std::string> parts;
  if (set.name) parts.push_back(fmt::format("name {}", *set.name));
  if (set.mtu) parts.push_back(fmt::format("MTU {}", *set.mtu));
  if (set.umcast) parts.push_back(fmt::format("umcast {}", *set.umcast ? "on" : "off"));
  if (set.group) parts.push_back(fmt::format("group {}", *set.group));
  if (set.up) parts.emplace_back(*set.up ? "up" : "down");
  return fmt::format("set {}", base::join(parts, ", "));
}

/// One RTM_NEWLINK without NLM_F_CREATE: RTM_SETLINK would ignore IFLA_INFO_DATA.
Message change(const SetLink& set, const std::string& object) {
  auto header = header_of(set.index);
  set_up(header, set.up);
  Message message(RTM_NEWLINK, kChangeLink, header, fmt::format("{}: {}", object, words_of(set)));
  if (set.index == 0) {
    message.put(IFLA_IFNAME, object);
  } else if (set.name) {
    message.put(IFLA_IFNAME, *set.name);
  }
  if (set.mtu) message.put(IFLA_MTU, static_cast<std::uint32_t>(*set.mtu));
  if (set.group) message.put(IFLA_GROUP, *set.group);
  if (set.umcast) {
    put_ipoib(message,
              [&] { message.put(IFLA_IPOIB_UMCAST, static_cast<std::uint16_t>(*set.umcast ? 1 : 0)); });
  }
  return message;
}

struct LinkEncoder {
  const NameOf& name_of;
  std::vector<Message>& out;

  void operator()(const SetLink& set) const {
    const std::string object = name_of(set.index);
    if (set.name && set.up == false) {
      // The kernel renames before it changes flags, and refuses to rename what is up.
      SetLink down, rest = set;
      down.index = set.index;
      down.up = false;
      rest.up.reset();
      out.push_back(change(down, object));
      out.push_back(change(rest, object));
      return;
    }
    out.push_back(change(set, object));
  }

  void operator()(const SetCreated& set) const {
    out.push_back(change({.mtu = set.mtu, .up = set.up, .umcast = set.umcast}, set.name));
  }

  void operator()(const CreateChild& child) const {
    Message message(RTM_NEWLINK, kCreateLink, ifinfomsg{},
                    fmt::format("{}: create it on {} with P_Key {}", child.name, name_of(child.parent),
                                child.pkey.text()));
    message.put(IFLA_IFNAME, child.name);
    message.put(IFLA_LINK, static_cast<std::uint32_t>(child.parent));
    // No IFLA_IPOIB_MODE: a mode change inside the kernel's handler may return without the RTNL lock.
    put_ipoib(message, [&] { message.put(IFLA_IPOIB_PKEY, child.pkey.full()); });
    out.push_back(std::move(message));
  }

  void operator()(const DeleteLink& gone) const {
    out.emplace_back(std::uint16_t{RTM_DELLINK}, kChangeLink, header_of(gone.index),
                     fmt::format("{}: delete it", name_of(gone.index)));
  }

  void operator()(const DeleteGroup& gone) const {
    Message message(RTM_DELLINK, kChangeLink, ifinfomsg{},
                    fmt::format("link group {}: delete its interfaces", gone.group));
    message.put(IFLA_GROUP, gone.group);
    out.push_back(std::move(message));
  }

  void operator()(const AddAltname& add) const {
    altname(RTM_NEWLINKPROP, kCreateLink, add.index, add.altname, "add");
  }
  void operator()(const DeleteAltname& gone) const {
    altname(RTM_DELLINKPROP, kChangeLink, gone.index, gone.altname, "delete");
  }

  void altname(std::uint16_t type, std::uint16_t flags, int index, const std::string& name,
               const char* verb) const {
    Message message(type, flags, header_of(index),
                    fmt::format("{}: {} altname {}", name_of(index), verb, name));
    message.nest(IFLA_PROP_LIST, [&] { message.put(IFLA_ALT_IFNAME, name); });
    out.push_back(std::move(message));
  }
};

}  // namespace

void encode(const LinkRequest& request, const NameOf& name_of, std::vector<Message>& out) {
  std::visit(LinkEncoder{name_of, out}, request);
}

}  // namespace rdmacfg::system::detail
