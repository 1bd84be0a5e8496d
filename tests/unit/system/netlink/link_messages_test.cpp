// SPDX-License-Identifier: Apache-2.0
// Requests and answers about interfaces, byte by byte (rtnetlink(7)).
#include <gmock/gmock.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "system/linux/netlink/link_dump.hpp"
#include "system/linux/netlink/link_requests.hpp"
#include "system/linux/netlink/netlink_socket.hpp"

namespace rdmacfg::system::detail {
namespace {

using ::testing::ElementsAre;

const NameOf kNames = [](int index) {
  return index == 7 ? std::string("ib0") : "interface " + std::to_string(index);
};

std::vector<Message> encoded(const LinkRequest& request) {
  std::vector<Message> out;
  encode(request, kNames, out);
  return out;
}

Parsed<ifinfomsg> parsed(const Message& message) { return Parsed<ifinfomsg>::of(*message.header()).value(); }

std::vector<int> types_of(Attributes attributes) {
  std::vector<int> out;
  while (const auto item = attributes.next()) out.push_back(item->type);
  return out;
}

TEST(LinkRequests, CreateChildAsksForAPkeyAndNoMode) {
  const auto messages = encoded(CreateChild{7, "ib0.8002", model::Pkey::make(2).value()});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].header()->nlmsg_type, RTM_NEWLINK);
  EXPECT_EQ(messages[0].header()->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
  const auto message = parsed(messages[0]);
  EXPECT_EQ(message.family.ifi_index, 0);
  EXPECT_EQ(message.family.ifi_change, 0U);
  EXPECT_EQ(message.attributes.text(IFLA_IFNAME), "ib0.8002");
  EXPECT_EQ(message.attributes.number<std::uint32_t>(IFLA_LINK), 7U);
  EXPECT_EQ(message.attributes.nested(IFLA_LINKINFO).text(IFLA_INFO_KIND), "ipoib");
  const auto data = message.attributes.nested(IFLA_LINKINFO).nested(IFLA_INFO_DATA);
  EXPECT_THAT(types_of(data), ElementsAre(IFLA_IPOIB_PKEY));
  EXPECT_EQ(data.number<std::uint16_t>(IFLA_IPOIB_PKEY), 0x8002);
  EXPECT_EQ(data.find(IFLA_IPOIB_PKEY)->size(), 2U);
}

TEST(LinkRequests, SetLinkCarriesOnlyWhatIsSet) {
  const auto messages = encoded(SetLink{.index = 7, .mtu = 2044, .up = true, .group = 9});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].what(), "ib0: set MTU 2044, group 9, up");
  EXPECT_EQ(messages[0].header()->nlmsg_type, RTM_NEWLINK);
  EXPECT_EQ(messages[0].header()->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
  const auto message = parsed(messages[0]);
  EXPECT_EQ(message.family.ifi_index, 7);
  EXPECT_EQ(message.family.ifi_flags, unsigned{IFF_UP});
  EXPECT_EQ(message.family.ifi_change, unsigned{IFF_UP});
  EXPECT_THAT(types_of(message.attributes), ElementsAre(IFLA_MTU, IFLA_GROUP));
  EXPECT_EQ(message.attributes.number<std::uint32_t>(IFLA_MTU), 2044U);
}

TEST(LinkRequests, DownGoesBeforeRename) {
  const auto messages = encoded(SetLink{.index = 7, .name = "mlx4_ib0", .mtu = 2044, .up = false});
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].what(), "ib0: set down");
  EXPECT_EQ(parsed(messages[0]).family.ifi_change, unsigned{IFF_UP});
  EXPECT_EQ(parsed(messages[0]).family.ifi_flags, 0U);
  EXPECT_EQ(messages[1].what(), "ib0: set name mlx4_ib0, MTU 2044");
  EXPECT_EQ(parsed(messages[1]).family.ifi_change, 0U);
  EXPECT_EQ(parsed(messages[1]).attributes.text(IFLA_IFNAME), "mlx4_ib0");
}

TEST(LinkRequests, UmcastIsDataOfTheKind) {
  const auto messages = encoded(SetLink{.index = 7, .umcast = true});
  const auto info = parsed(messages.at(0)).attributes.nested(IFLA_LINKINFO);
  EXPECT_EQ(info.text(IFLA_INFO_KIND), "ipoib");
  EXPECT_THAT(types_of(info.nested(IFLA_INFO_DATA)), ElementsAre(IFLA_IPOIB_UMCAST));
  EXPECT_EQ(info.nested(IFLA_INFO_DATA).number<std::uint16_t>(IFLA_IPOIB_UMCAST), 1);
}

TEST(LinkRequests, SetCreatedGoesByName) {
  const auto messages = encoded(SetCreated{.name = "ib0.8002", .mtu = 2044, .up = true});
  const auto message = parsed(messages.at(0));
  EXPECT_EQ(message.family.ifi_index, 0);
  EXPECT_EQ(message.attributes.text(IFLA_IFNAME), "ib0.8002");
  EXPECT_EQ(messages[0].what(), "ib0.8002: set MTU 2044, up");
}

TEST(LinkRequests, Deleting) {
  const auto messages = encoded(DeleteLink{8});
  EXPECT_EQ(messages.at(0).header()->nlmsg_type, RTM_DELLINK);
  EXPECT_EQ(parsed(messages[0]).family.ifi_index, 8);
  EXPECT_EQ(messages[0].what(), "interface 8: delete it");
  const auto group = encoded(DeleteGroup{77});
  EXPECT_EQ(group.at(0).header()->nlmsg_type, RTM_DELLINK);
  EXPECT_EQ(parsed(group[0]).family.ifi_index, 0);
  EXPECT_THAT(types_of(parsed(group[0]).attributes), ElementsAre(IFLA_GROUP));
}

TEST(LinkRequests, Altnames) {
  const auto add = encoded(AddAltname{7, "a-long-alternative-name"});
  EXPECT_EQ(add.at(0).header()->nlmsg_type, RTM_NEWLINKPROP);
  EXPECT_EQ(parsed(add[0]).attributes.nested(IFLA_PROP_LIST).text(IFLA_ALT_IFNAME),
            "a-long-alternative-name");
  EXPECT_EQ(encoded(DeleteAltname{7, "x"}).at(0).header()->nlmsg_type, RTM_DELLINKPROP);
}

TEST(LinkDump, ParsesAChild) {
  ifinfomsg header{};
  header.ifi_type = ARPHRD_INFINIBAND;
  header.ifi_index = 9;
  header.ifi_flags = IFF_UP | IFF_LOWER_UP;
  Message message(RTM_NEWLINK, 0, header, "");
  std::array<std::uint8_t, 20> address{0x80, 0, 2, 8, 0xfe, 0x80};
  const std::array<std::uint8_t, 8> guid{0x00, 0x02, 0xc9, 0x03, 0x00, 0x31, 0x78, 0xf2};
  std::copy(guid.begin(), guid.end(), address.end() - 8);
  message.put(IFLA_IFNAME, "ib0.8002");
  message.put(IFLA_MTU, std::uint32_t{65520});
  message.put(IFLA_LINK, 7);
  message.put(IFLA_GROUP, std::uint32_t{3});
  message.put(IFLA_ADDRESS, std::as_bytes(std::span(address)));
  message.nest(IFLA_PROP_LIST, [&] {
    message.put(IFLA_ALT_IFNAME, "one");
    message.put(IFLA_ALT_IFNAME, "two");
  });
  message.nest(IFLA_LINKINFO, [&] {
    message.put(IFLA_INFO_KIND, "ipoib");
    message.nest(IFLA_INFO_DATA, [&] {
      message.put(IFLA_IPOIB_PKEY, std::uint16_t{0x8002});
      message.put(IFLA_IPOIB_MODE, std::uint16_t{1});
      message.put(IFLA_IPOIB_UMCAST, std::uint16_t{1});
    });
  });
  const auto link = parse_link(*message.header());
  ASSERT_TRUE(link && link->ipoib);
  EXPECT_EQ(link->index, 9);
  EXPECT_EQ(link->name, "ib0.8002");
  EXPECT_TRUE(link->up);
  EXPECT_TRUE(link->carrier);
  EXPECT_EQ(link->mtu, 65520);
  EXPECT_EQ(link->parent, 7);
  EXPECT_EQ(link->group, 3U);
  EXPECT_EQ(link->kind, "ipoib");
  EXPECT_THAT(link->altnames, ElementsAre("one", "two"));
  EXPECT_TRUE(link->ipoib->child);
  EXPECT_TRUE(link->ipoib->umcast);
  EXPECT_TRUE(link->ipoib->connected_capable);
  EXPECT_EQ(link->ipoib->mode, model::IpoibMode::kConnected);
  EXPECT_EQ(link->ipoib->pkey.text(), "0x8002");
  EXPECT_EQ(link->ipoib->guid.text(), "00:02:c9:03:00:31:78:f2");
}

/// A port's own interface, or what looks like one.
std::optional<Link> link_of_kind(const char* kind) {
  ifinfomsg header{};
  header.ifi_type = ARPHRD_INFINIBAND;
  header.ifi_index = 9;
  Message message(RTM_NEWLINK, 0, header, "");
  const std::array<std::uint8_t, 20> address{0x80, 0, 2, 8, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0xc9, 3};
  message.put(IFLA_ADDRESS, std::as_bytes(std::span(address)));
  if (kind != nullptr) message.nest(IFLA_LINKINFO, [&] { message.put(IFLA_INFO_KIND, kind); });
  return parse_link(*message.header());
}

TEST(LinkDump, ABondOverIpoibIsNoPortsInterface) {
  for (const auto* kind : {"bond", "team", "tun"}) {
    const auto link = link_of_kind(kind);
    ASSERT_TRUE(link) << kind;
    EXPECT_FALSE(link->ipoib) << kind;
  }
  for (const auto* kind : {"ipoib", static_cast<const char*>(nullptr)}) {
    const auto link = link_of_kind(kind);
    ASSERT_TRUE(link && link->ipoib);
    EXPECT_FALSE(link->ipoib->child);
    EXPECT_EQ(link->ipoib->guid.text(), "00:02:c9:03:00:00:00:00");
  }
}

TEST(LinkDump, AChildMovedToAnotherNamespaceHasNoParentHere) {
  ifinfomsg header{};
  header.ifi_type = ARPHRD_INFINIBAND;
  header.ifi_index = 9;
  Message message(RTM_NEWLINK, 0, header, "");
  message.put(IFLA_LINK, 9);
  message.put(IFLA_LINK_NETNSID, 0);
  const auto link = parse_link(*message.header());
  ASSERT_TRUE(link && link->ipoib);
  EXPECT_TRUE(link->ipoib->child);
  EXPECT_EQ(link->parent, 0);
}

TEST(LinkDump, TornMessagesEndEarly) {
  ifinfomsg header{};
  header.ifi_index = 9;
  Message message(RTM_NEWLINK, 0, header, "");
  message.put(IFLA_IFNAME, "ib0");
  message.put(IFLA_MTU, std::uint32_t{2044});
  const auto bytes = message.bytes();
  for (std::size_t length = kNlHeader; length < bytes.size(); ++length) {
    std::vector<std::byte> torn(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    auto* torn_header = reinterpret_cast<nlmsghdr*>(torn.data());
    torn_header->nlmsg_len = static_cast<std::uint32_t>(length);
    const auto link = parse_link(*torn_header);
    EXPECT_EQ(link ? link->mtu : 0, 0) << length;
  }
}

TEST(Batches, EndAtTheirLimits) {
  std::vector<Message> messages;
  for (int i = 0; i < 300; ++i)
    messages.emplace_back(std::uint16_t{RTM_GETLINK}, std::uint16_t{0}, ifinfomsg{}, "x");
  EXPECT_EQ(batch_size(messages), 128U);
  EXPECT_EQ(batch_size(std::span(messages).first(5)), 5U);
  std::vector<Message> large;
  for (int i = 0; i < 3; ++i) {
    large.emplace_back(std::uint16_t{RTM_NEWROUTE}, std::uint16_t{0}, rtmsg{}, "x", 20000);
    large.back().put(RTA_MULTIPATH, std::vector<std::byte>(19000));
  }
  EXPECT_EQ(batch_size(large), 1U);
}

TEST(Batches, WhatDoesNotFitAMessageIsMarked) {
  Message message(RTM_NEWLINK, 0, ifinfomsg{}, "x", 64);
  message.put(IFLA_IFNAME, std::string(100, 'x'));
  EXPECT_FALSE(message.complete());
}

TEST(Refusals, NameObjectActionAndTheKernelsWords) {
  const Message message(RTM_NEWLINK, 0, ifinfomsg{}, "mlx4_ib0: set MTU 65521");
  const auto error = refusal(message, {EINVAL, "mtu greater than device maximum"});
  EXPECT_EQ(error.message, "mlx4_ib0: set MTU 65521: Invalid argument (mtu greater than device maximum)");
  EXPECT_EQ(error.sys_errno, EINVAL);
  EXPECT_EQ(refusal(message, {EBUSY, ""}).message, "mlx4_ib0: set MTU 65521: Device or resource busy");
}

}  // namespace
}  // namespace rdmacfg::system::detail
