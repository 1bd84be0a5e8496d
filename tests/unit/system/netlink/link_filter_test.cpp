// SPDX-License-Identifier: Apache-2.0
#include "system/linux/netlink/link_filter.hpp"

#include <gtest/gtest.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

#include "system/linux/netlink/netlink_message.hpp"

namespace rdmacfg::system::detail {
namespace {

constexpr int kIb0 = 7, kEth0 = 2;

Message link(std::uint16_t type, int index, unsigned short hardware, const char* name,
             std::uint16_t flags = 0) {
  ifinfomsg header{};
  header.ifi_index = index;
  header.ifi_type = hardware;
  Message message(type, flags, header, "");
  message.put(IFLA_IFNAME, name);
  return message;
}

Message address(std::uint16_t type, int index, std::uint32_t flags = IFA_F_PERMANENT,
                std::uint8_t family = AF_INET, std::uint8_t scope = RT_SCOPE_UNIVERSE) {
  ifaddrmsg header{};
  header.ifa_family = family;
  header.ifa_index = static_cast<std::uint32_t>(index);
  header.ifa_scope = scope;
  Message message(type, 0, header, "");
  message.put(IFA_FLAGS, flags);
  return message;
}

struct Route {
  int index = kIb0;
  unsigned char protocol = RTPROT_STATIC;
  unsigned char type = RTN_UNICAST;
  unsigned flags = 0;
  std::uint16_t message_flags = 0;
};

Message route(std::uint16_t type, const Route& described) {
  rtmsg header{};
  header.rtm_family = AF_INET;
  header.rtm_type = described.type;
  header.rtm_protocol = described.protocol;
  header.rtm_flags = described.flags;
  Message message(type, described.message_flags, header, "");
  message.put(RTA_OIF, static_cast<std::uint32_t>(described.index));
  return message;
}

class LinkFilterTest : public ::testing::Test {
 protected:
  /// The two interfaces are there from the start, as the dump tells.
  LinkFilterTest() {
    EXPECT_FALSE(take(link(RTM_NEWLINK, kIb0, ARPHRD_INFINIBAND, "ib0", NLM_F_MULTI)));
    EXPECT_FALSE(take(link(RTM_NEWLINK, kEth0, ARPHRD_ETHER, "eth0", NLM_F_MULTI)));
  }

  std::optional<std::string> take(const Message& message) { return filter.take(*message.header()); }

  LinkFilter filter{WatchedLinks::kIpoib};
};

TEST_F(LinkFilterTest, LinksOfTheSortAskedFor) {
  EXPECT_EQ(take(link(RTM_NEWLINK, kIb0, ARPHRD_INFINIBAND, "ib0")), "ib0");
  EXPECT_EQ(take(link(RTM_DELLINK, kIb0, ARPHRD_INFINIBAND, "ib0")), "ib0");
  EXPECT_FALSE(take(link(RTM_NEWLINK, kEth0, ARPHRD_ETHER, "eth0")));
  filter = LinkFilter(WatchedLinks::kAll);
  EXPECT_EQ(take(link(RTM_NEWLINK, kEth0, ARPHRD_ETHER, "eth0")), "eth0");
}

TEST_F(LinkFilterTest, AddressesOfOurInterfaces) {
  EXPECT_EQ(take(address(RTM_DELADDR, kIb0)), "address");
  EXPECT_EQ(take(address(RTM_NEWADDR, kIb0)), "address");
  EXPECT_EQ(take(address(RTM_DELADDR, kIb0, 0, AF_INET6)), "address");
  EXPECT_FALSE(take(address(RTM_DELADDR, kEth0)));
  EXPECT_FALSE(take(address(RTM_DELADDR, kIb0, IFA_F_PERMANENT, AF_INET6, RT_SCOPE_LINK)));
  EXPECT_FALSE(take(address(RTM_NEWADDR, kIb0, 0))) << "a lease that was renewed";
}

TEST_F(LinkFilterTest, AnInterfaceThatCameOrWentSinceIsKnown) {
  take(link(RTM_NEWLINK, 9, ARPHRD_INFINIBAND, "ib0.8002"));
  EXPECT_EQ(take(address(RTM_DELADDR, 9)), "address");
  take(link(RTM_DELLINK, 9, ARPHRD_INFINIBAND, "ib0.8002"));
  EXPECT_FALSE(take(address(RTM_DELADDR, 9)));
}

TEST_F(LinkFilterTest, RoutesThatSomebodySet) {
  EXPECT_EQ(take(route(RTM_DELROUTE, {})), "route");
  EXPECT_EQ(take(route(RTM_NEWROUTE, {.protocol = RTPROT_BOOT})), "route");
  EXPECT_FALSE(take(route(RTM_NEWROUTE, {.protocol = RTPROT_BGP}))) << "beside ours";
  EXPECT_EQ(take(route(RTM_NEWROUTE, {.protocol = RTPROT_BGP, .message_flags = NLM_F_REPLACE})), "route");
  EXPECT_EQ(take(route(RTM_DELROUTE, {.protocol = RTPROT_BGP})), "route") << "it may have stood for ours";
  EXPECT_FALSE(take(route(RTM_DELROUTE, {.index = kEth0})));
  EXPECT_FALSE(take(route(RTM_NEWROUTE, {.protocol = RTPROT_KERNEL})));
  EXPECT_FALSE(take(route(RTM_NEWROUTE, {.protocol = RTPROT_RA})));
  EXPECT_FALSE(take(route(RTM_NEWROUTE, {.type = RTN_LOCAL})));
  EXPECT_FALSE(take(route(RTM_NEWROUTE, {.flags = RTM_F_CLONED})));
  EXPECT_EQ(
      take(route(RTM_NEWROUTE, {.index = kEth0, .protocol = RTPROT_BOOT, .message_flags = NLM_F_REPLACE})),
      "route")
      << "it may have taken the place of ours";
  EXPECT_FALSE(
      take(route(RTM_NEWROUTE, {.index = kEth0, .protocol = RTPROT_BGP, .message_flags = NLM_F_REPLACE})));
}

TEST_F(LinkFilterTest, WhatIsCutOffIsNoMatter) {
  for (const std::uint16_t type : {RTM_NEWLINK, RTM_DELADDR, RTM_NEWROUTE, RTM_NEWNEIGH}) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_len = sizeof header;
    EXPECT_FALSE(filter.take(header));
  }
}

/// NLM_F_DUMP_INTR: netlink(7) and nl_dump_check_consistent() of the kernel. A list may lack interfaces that
/// were next to one that went meanwhile.
TEST(LinkListTest, AnInterruptedListIsNotWhole) {
  using State = LinkList::State;
  LinkList list;
  const auto take = [&list](const Message& message) { return list.take(*message.header()); };
  const auto part = [](std::uint16_t flags) {
    return link(RTM_NEWLINK, kIb0, ARPHRD_INFINIBAND, "ib0", static_cast<std::uint16_t>(NLM_F_MULTI | flags));
  };
  const auto done = [](int status) { return Message(NLMSG_DONE, NLM_F_MULTI, status, ""); };
  EXPECT_EQ(take(part(0)), State::kUnderWay);
  EXPECT_EQ(take(done(0)), State::kWhole);
  EXPECT_EQ(take(part(NLM_F_DUMP_INTR)), State::kUnderWay);
  EXPECT_EQ(take(part(0)), State::kUnderWay);
  EXPECT_EQ(take(done(0)), State::kTorn);
  EXPECT_EQ(take(done(0)), State::kWhole) << "an interruption concerns one list";
  EXPECT_EQ(take(done(-EINTR)), State::kTorn) << "the kernel gave up";
  EXPECT_EQ(take(link(RTM_NEWLINK, kIb0, ARPHRD_INFINIBAND, "ib0")), State::kUnderWay);
}

}  // namespace
}  // namespace rdmacfg::system::detail
