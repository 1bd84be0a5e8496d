// SPDX-License-Identifier: Apache-2.0
#include "system/linux/netlink/inet_messages.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/if_addr.h>
#include <linux/inet_diag.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system::detail {
namespace {

using model::IpAddress;
using model::IpPrefix;

std::span<const std::byte> bytes(const IpAddress& address) {
  return std::as_bytes(std::span(address.bytes)).first(address.size());
}

/// A message as the kernel sends it.
Message kernel_address(const char* prefix, std::uint32_t flags, std::uint8_t scope = RT_SCOPE_UNIVERSE,
                       std::uint16_t type = RTM_NEWADDR, unsigned index = 7) {
  const auto parsed = IpPrefix::parse(prefix).value();
  ifaddrmsg header{};
  header.ifa_family = parsed.address.family == model::Family::kIpv4 ? AF_INET : AF_INET6;
  header.ifa_prefixlen = static_cast<std::uint8_t>(parsed.length);
  header.ifa_scope = scope;
  header.ifa_index = index;
  Message message(type, 0, header, "");
  message.put(IFA_ADDRESS, bytes(parsed.address));
  message.put(IFA_FLAGS, flags);
  return message;
}

TEST(InetMessages, AddressesAndWhatIsSaidOfThem) {
  const auto four = parse_address(*kernel_address("192.0.2.1/24", IFA_F_PERMANENT).header());
  ASSERT_TRUE(four);
  EXPECT_EQ(four->index, 7);
  EXPECT_EQ(four->prefix.text(), "192.0.2.1/24");
  const auto six =
      parse_address(*kernel_address("2001:db8::1/64", IFA_F_TENTATIVE | IFA_F_DADFAILED).header());
  ASSERT_TRUE(six);
  EXPECT_TRUE(six->tentative && six->duplicate);
  const auto optimistic =
      parse_address(*kernel_address("2001:db8::3/64", IFA_F_TENTATIVE | IFA_F_OPTIMISTIC).header());
  ASSERT_TRUE(optimistic);
  EXPECT_FALSE(optimistic->tentative || optimistic->duplicate) << "it is used while the kernel asks";
  EXPECT_FALSE(parse_address(*kernel_address("fe80::1/64", 0, RT_SCOPE_LINK).header()));
  EXPECT_FALSE(parse_address(*kernel_address("2001:db8::2/64", IFA_F_TEMPORARY).header()));
  EXPECT_FALSE(parse_address(*kernel_address("127.0.0.1/8", 0, RT_SCOPE_HOST).header()));
}

/// Of `ip address add 192.0.2.1 peer PEER/LENGTH dev ib0` (inet_fill_ifaddr()): both, and the length of the
/// peer's.
TEST(InetMessages, APeerInAnotherNetworkMakesAnotherAddress) {
  struct Row {
    const char *local, *peer;
    std::uint8_t length;
    bool elsewhere;
  };
  for (const auto& row :
       {Row{"192.0.2.1", "203.0.113.9", 24, true}, Row{"192.0.2.1", "192.0.2.9", 32, true},
        Row{"192.0.2.1", "192.0.2.9", 24, false}, Row{"192.0.2.1", "192.0.2.1", 32, false}}) {
    ifaddrmsg header{};
    header.ifa_family = AF_INET;
    header.ifa_prefixlen = row.length;
    header.ifa_index = 7;
    Message message(RTM_NEWADDR, 0, header, "");
    const auto local = IpAddress::parse(row.local).value(), peer = IpAddress::parse(row.peer).value();
    message.put(IFA_ADDRESS, bytes(peer));
    message.put(IFA_LOCAL, bytes(local));
    const auto read = parse_address(*message.header());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->prefix.address, local);
    EXPECT_EQ(read->peer_elsewhere, row.elsewhere) << row.peer << '/' << int{row.length};
  }
}

/// A kernel that checks one address of interface 7, and has told `then`.
struct EndOfCheck {
  const char* name;
  const char* prefix;
  std::uint32_t flags;
  std::uint16_t type;
  unsigned index;
  bool waits;  ///< whether the check is still under way
};

class AddressChecksTest : public testing::TestWithParam<EndOfCheck> {};

TEST_P(AddressChecksTest, NotificationsSayWhenTheCheckHasEnded) {
  const auto& then = GetParam();
  AddressChecks checks({7});
  const auto asked = parse_address(*kernel_address("2001:db8::1/64", IFA_F_TENTATIVE).header());
  ASSERT_TRUE(asked);
  checks.begin({*asked});
  ASSERT_TRUE(checks.any());
  checks.note(*kernel_address(then.prefix, then.flags, RT_SCOPE_UNIVERSE, then.type, then.index).header());
  EXPECT_EQ(checks.any(), then.waits);
}

INSTANTIATE_TEST_SUITE_P(
    Ends, AddressChecksTest,
    testing::Values(EndOfCheck{"Unique", "2001:db8::1/64", IFA_F_PERMANENT, RTM_NEWADDR, 7, false},
                    EndOfCheck{"Duplicate", "2001:db8::1/64", IFA_F_TENTATIVE | IFA_F_DADFAILED, RTM_NEWADDR,
                               7, false},
                    EndOfCheck{"Deleted", "2001:db8::1/64", IFA_F_TENTATIVE, RTM_DELADDR, 7, false},
                    EndOfCheck{"BegunAgain", "2001:db8::1/64", IFA_F_TENTATIVE, RTM_NEWADDR, 7, true},
                    EndOfCheck{"AnotherOne", "2001:db8::2/64", IFA_F_PERMANENT, RTM_NEWADDR, 7, true},
                    EndOfCheck{"AnotherInterface", "2001:db8::1/64", IFA_F_PERMANENT, RTM_NEWADDR, 8, true}),
    [](const auto& end) { return std::string(end.param.name); });

TEST(AddressChecks, OtherInterfacesAreNotWaitedFor) {
  AddressChecks checks({7});
  checks.note(*kernel_address("2001:db8::1/64", IFA_F_TENTATIVE, RT_SCOPE_UNIVERSE, RTM_NEWADDR, 8).header());
  EXPECT_FALSE(checks.any());
  checks.note(*kernel_address("2001:db8::1/64", IFA_F_TENTATIVE).header());
  EXPECT_TRUE(checks.any()) << "one that appears meanwhile";
  checks.begin({});
  EXPECT_FALSE(checks.any()) << "a dump has the last word";
}

TEST(InetMessages, AnAddressComesBackAsItWasAsked) {
  const auto messages = encode(AddAddress{7, "ib0", IpPrefix::parse("192.0.2.1/24").value()});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].what(), "ib0: add address 192.0.2.1/24");
  const auto read = parse_address(*messages[0].header());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->prefix.text(), "192.0.2.1/24");
  const auto parsed = Parsed<ifaddrmsg>::of(*messages[0].header());
  const auto broadcast = parsed->attributes.find(IFA_BROADCAST);
  ASSERT_TRUE(broadcast);
  EXPECT_EQ(std::to_integer<int>(broadcast->back()), 255);
}

TEST(InetMessages, AnAddressThatIsAddedStays) {
  const auto prefix = IpPrefix::parse("192.0.2.1/24").value();
  const auto added = encode(AddAddress{7, "ib0", prefix});
  EXPECT_EQ(added.at(0).header()->nlmsg_flags & (NLM_F_REPLACE | NLM_F_EXCL), NLM_F_REPLACE);
  const auto kept = encode(
      DeleteAddress{7, "ib0", IpPrefix::parse("192.0.2.2/24").value(), {{.index = 7, .prefix = prefix}}});
  EXPECT_EQ(kept.at(1).header()->nlmsg_flags & (NLM_F_REPLACE | NLM_F_EXCL), NLM_F_EXCL)
      << "a lease of somebody else's stays one";
}

TEST(InetMessages, WhatIsToBeKeptFollowsTheDeletion) {
  const auto messages = encode(DeleteAddress{7,
                                             "ib0",
                                             IpPrefix::parse("192.0.2.1/24").value(),
                                             {{.prefix = IpPrefix::parse("192.0.2.2/24").value()}}});
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].header()->nlmsg_type, RTM_DELADDR);
  EXPECT_EQ(messages[1].header()->nlmsg_type, RTM_NEWADDR);
}

/// An address of somebody else's as inet_fill_ifaddr() sends it.
Message labelled_lease(std::uint32_t valid, std::uint32_t preferred) {
  ifaddrmsg header{};
  header.ifa_family = AF_INET;
  header.ifa_prefixlen = 24;
  header.ifa_scope = RT_SCOPE_LINK;
  header.ifa_index = 7;
  Message message(RTM_NEWADDR, 0, header, "");
  message.put(IFA_ADDRESS, bytes(IpAddress::parse("192.0.2.9").value()));
  message.put(IFA_LOCAL, bytes(IpAddress::parse("192.0.2.2").value()));
  message.put(IFA_BROADCAST, bytes(IpAddress::parse("192.0.2.127").value()));
  message.put(IFA_LABEL, std::string_view("ib0:1"));
  message.put(IFA_FLAGS, std::uint32_t{IFA_F_SECONDARY | IFA_F_NOPREFIXROUTE});
  message.put(IFA_RT_PRIORITY, std::uint32_t{50});
  message.put(IFA_PROTO, std::uint8_t{4});
  ifa_cacheinfo lifetimes{};
  lifetimes.ifa_valid = valid;
  lifetimes.ifa_prefered = preferred;
  message.put(IFA_CACHEINFO, std::as_bytes(std::span(&lifetimes, 1)));
  return message;
}

/// How that address comes back to an interface of this name.
Message restored_lease(const Message& lease, const std::string& name) {
  const auto read = parse_address(*lease.header());
  EXPECT_TRUE(read);
  auto messages =
      encode(DeleteAddress{7, name, IpPrefix::parse("192.0.2.1/24").value(), {read.value_or(InetAddress{})}});
  return std::move(messages.at(1));
}

TEST(InetMessages, AnAddressOfOthersComesBackAsItWas) {
  const auto lease = labelled_lease(60, 30);
  const auto back = restored_lease(lease, "ib0");
  const auto then = Parsed<ifaddrmsg>::of(*lease.header()), now = Parsed<ifaddrmsg>::of(*back.header());
  ASSERT_TRUE(then && now);
  EXPECT_EQ(now->family.ifa_index, 7U);
  EXPECT_EQ(now->family.ifa_prefixlen, 24);
  EXPECT_EQ(int{now->family.ifa_scope}, int{RT_SCOPE_LINK});
  for (const int type : {IFA_ADDRESS, IFA_LOCAL, IFA_BROADCAST, IFA_LABEL, IFA_RT_PRIORITY, IFA_PROTO}) {
    const auto was = then->attributes.find(type), is = now->attributes.find(type);
    ASSERT_TRUE(was && is) << type;
    EXPECT_TRUE(std::equal(was->begin(), was->end(), is->begin(), is->end())) << type;
  }
  EXPECT_EQ(now->attributes.number<std::uint32_t>(IFA_FLAGS), std::uint32_t{IFA_F_NOPREFIXROUTE});
  const auto lifetimes = now->attributes.number<ifa_cacheinfo>(IFA_CACHEINFO);
  ASSERT_TRUE(lifetimes);
  EXPECT_EQ(lifetimes->ifa_valid, 60U);
  EXPECT_EQ(lifetimes->ifa_prefered, 30U);
}

TEST(InetMessages, AnAddressInItsLastSecondComesBackForOne) {
  const auto back = restored_lease(labelled_lease(0, 0), "ib0");
  const auto lifetimes =
      Parsed<ifaddrmsg>::of(*back.header())->attributes.number<ifa_cacheinfo>(IFA_CACHEINFO);
  ASSERT_TRUE(lifetimes);
  EXPECT_EQ(lifetimes->ifa_valid, 1U) << "the kernel refuses 0 s";
  EXPECT_EQ(lifetimes->ifa_prefered, 0U);
}

TEST(InetMessages, AnAddressThatStaysComesBackWithoutLifetimes) {
  const auto back = restored_lease(labelled_lease(kForever, kForever), "ib0");
  EXPECT_FALSE(Parsed<ifaddrmsg>::of(*back.header())->attributes.find(IFA_CACHEINFO));
}

/// rtm_to_ifaddr() copies any text; ip-address(8) alone asks for the interface's name.
TEST(InetMessages, ALabelOfAnotherNameComesBack) {
  for (const auto* name : {"mlx4_ib0", "ib"}) {
    const auto back = restored_lease(labelled_lease(60, 30), name);
    EXPECT_EQ(Parsed<ifaddrmsg>::of(*back.header())->attributes.text(IFA_LABEL), "ib0:1") << name;
  }
}

TEST(InetMessages, AnInterfaceIsNeverWithoutAnAddressInBetween) {
  const auto kept = IpPrefix::parse("192.0.2.2/24").value();
  const auto messages = encode(
      DeleteAddress{7, "ib0", IpPrefix::parse("192.0.2.1/24").value(), {{.prefix = kept}}, kept.address});
  ASSERT_EQ(messages.size(), 4U);
  std::vector<std::string> what;
  for (const auto& message : messages) what.push_back(message.what());
  EXPECT_EQ(what,
            (std::vector<std::string>{"ib0: add address 192.0.2.2/32", "ib0: delete address 192.0.2.1/24",
                                      "ib0: add address 192.0.2.2/24", "ib0: delete address 192.0.2.2/32"}));
  EXPECT_EQ(messages[3].header()->nlmsg_type, RTM_DELADDR);
}

TEST(InetMessages, LeasesAreToldFromWhatIsSet) {
  EXPECT_TRUE(parse_address(*kernel_address("192.0.2.1/24", IFA_F_PERMANENT).header())->permanent);
  EXPECT_FALSE(parse_address(*kernel_address("192.0.2.1/24", 0).header())->permanent);
  EXPECT_FALSE(parse_address(*kernel_address("2001:db8::1/64", IFA_F_MANAGETEMPADDR).header())->permanent);
}

TEST(InetMessages, AnAddressWithoutARouteToItsNetworkIsMarked) {
  EXPECT_FALSE(parse_address(*kernel_address("192.0.2.1/24", IFA_F_PERMANENT).header())->no_network_route);
  EXPECT_TRUE(parse_address(*kernel_address("192.0.2.1/24", IFA_F_PERMANENT | IFA_F_NOPREFIXROUTE).header())
                  ->no_network_route);
}

/// `ip route add default via 192.0.2.254 dev ib0 tos 0x10`, `ip -6 route add default from 2001:db8::/64 …`.
TEST(InetMessages, ARouteForSomePacketsDiffersFromTheOneForAll) {
  struct Row {
    std::uint8_t family, tos, source_length;
    bool selective;
  };
  for (const auto& row :
       {Row{AF_INET, 0, 0, false}, Row{AF_INET, 0x10, 0, true}, Row{AF_INET6, 0, 64, true}}) {
    rtmsg header{};
    header.rtm_family = row.family;
    header.rtm_type = RTN_UNICAST;
    header.rtm_tos = row.tos;
    header.rtm_src_len = row.source_length;
    Message message(RTM_NEWROUTE, 0, header, "");
    message.put(RTA_OIF, std::uint32_t{7});
    const auto read = parse_route(*message.header());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->selective, row.selective) << int{row.tos} << '/' << int{row.source_length};
  }
}

TEST(InetMessages, RoutesComeBackAsTheyWereAsked) {
  for (const auto* via : {"192.0.2.254", "2001:db8::fffe"}) {
    InetRoute route;
    route.index = 7;
    route.via = IpAddress::parse(via).value();
    route.family = route.via->family;
    route.to.any = true;
    route.metric = 150;
    route.table = 1000;
    const auto messages = encode(AddRoute{"ib0", route});
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(parse_route(*messages[0].header()), route);
  }
  InetRoute route;
  route.index = 7;
  route.to = model::RouteTarget::parse("198.51.100.0/24").value();
  EXPECT_EQ(parse_route(*encode(AddRoute{"ib0", route})[0].header()), route);
}

TEST(InetMessages, ANextHopOfTheOtherFamilyIsOne) {
  InetRoute route;
  route.index = 7;
  route.to = model::RouteTarget::parse("198.51.100.0/24").value();
  route.via = IpAddress::parse("2001:db8::9").value();
  const auto messages = encode(AddRoute{"ib0", route});
  const auto attributes = Parsed<rtmsg>::of(*messages.at(0).header())->attributes;
  EXPECT_FALSE(attributes.find(RTA_GATEWAY));
  ASSERT_TRUE(attributes.find(RTA_VIA));
  EXPECT_EQ(attributes.find(RTA_VIA)->size(), 2U + 16U);
  EXPECT_EQ(parse_route(*messages.at(0).header()), route);
}

TEST(InetMessages, ShortOnesAreNothing) {
  nlmsghdr header{};
  header.nlmsg_len = sizeof header;
  for (const int type : {RTM_NEWADDR, RTM_NEWROUTE, RTM_NEWLINK}) {
    header.nlmsg_type = static_cast<std::uint16_t>(type);
    EXPECT_FALSE(parse_address(header));
    EXPECT_FALSE(parse_route(header));
  }
  header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  EXPECT_FALSE(parse_connection(header));
}

TEST(InetMessages, ConnectionsHaveBothEndsAndThePort) {
  for (const auto* text : {"192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"}) {
    const auto local = IpAddress::parse(text).value();
    inet_diag_msg socket{};
    socket.idiag_family = local.family == model::Family::kIpv4 ? AF_INET : AF_INET6;
    socket.id.idiag_sport = htons(2222);
    std::copy_n(local.bytes.begin(), local.size(), reinterpret_cast<std::uint8_t*>(socket.id.idiag_src));
    std::copy_n(local.bytes.begin(), local.size(), reinterpret_cast<std::uint8_t*>(socket.id.idiag_dst));
    const Message message(SOCK_DIAG_BY_FAMILY, 0, socket, "");
    const auto read = parse_connection(*message.header());
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, (TcpConnection{.local = local, .remote = local, .local_port = 2222}));
  }
  inet_diag_msg unix_socket{};
  unix_socket.idiag_family = AF_UNIX;
  EXPECT_FALSE(parse_connection(*Message(SOCK_DIAG_BY_FAMILY, 0, unix_socket, "").header()));
}

/// Tests before this one may have left for a network namespace in which the loopback interface is down.
bool loopback_up() {
  const base::UniqueFd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::copy_n("lo", 3, request.ifr_name);
  if (::ioctl(any.get(), SIOCGIFFLAGS, &request) != 0) return false;
  if ((request.ifr_flags & IFF_UP) != 0) return true;
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  return ::ioctl(any.get(), SIOCSIFFLAGS, &request) == 0;
}

/// Of the running kernel: a connection over the loopback interface shows both of its sockets, one that only
/// listens shows none.
TEST(InetConnections, AreThoseOfTheKernel) {
  const auto inet = make_linux_inet();
  if (!inet->observe_connections()) GTEST_SKIP() << "this kernel has no tcp_diag";
  ASSERT_TRUE(loopback_up());
  const base::UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof at;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &length), 0);
  const auto seen = [&] {
    const auto connections = inet->observe_connections().value();
    return std::count_if(connections.begin(), connections.end(), [&](const TcpConnection& connection) {
      return connection.local == IpAddress::parse("127.0.0.1") && connection.local_port == ntohs(at.sin_port);
    });
  };
  EXPECT_EQ(seen(), 0);
  const base::UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  // The kernel may still have to take the end of the handshake.
  const base::UniqueFd server(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ASSERT_TRUE(server);
  EXPECT_EQ(seen(), 1);
}

}  // namespace
}  // namespace rdmacfg::system::detail
