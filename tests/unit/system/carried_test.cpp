// SPDX-License-Identifier: Apache-2.0
#include "system/linux/carried/carried.hpp"

#include <gmock/gmock.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "system/link.hpp"
#include "system/linux/netlink/inet_text.hpp"

namespace rdmacfg::system::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::array<std::uint8_t, 4> kAddress{192, 0, 2, 1};
constexpr std::array<std::uint8_t, 16> kAddress6{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

template <std::size_t N>
std::span<const std::byte> raw(const std::array<std::uint8_t, N>& bytes) {
  return std::as_bytes(std::span(bytes));
}

const Target kMoved{.from = 5,
                    .old_name = "ib0",
                    .to = 9,
                    .name = "mlx4_ib0",
                    .moved = {{6, 16}},
                    .former = {"ib0", "rdmacfg5"}};

Item item_of(ItemSort sort, const Message& message) {
  return parse_item(item_text(sort, *message.header())).value();
}

Message address(std::uint8_t family, std::uint32_t flags, const std::string& label) {
  ifaddrmsg header{};
  header.ifa_family = family;
  header.ifa_prefixlen = family == AF_INET ? 24 : 64;
  header.ifa_index = 5;
  Message message(RTM_NEWADDR, 0, header, "");
  message.put(IFA_ADDRESS, family == AF_INET ? raw(kAddress) : raw(kAddress6));
  if (family == AF_INET) message.put(IFA_LOCAL, raw(kAddress));
  message.put(IFA_FLAGS, flags);
  if (!label.empty()) message.put(IFA_LABEL, label);
  return message;
}

Message replayed(const Message& message) {
  return std::move(replay_address(item_of(ItemSort::kAddress, message), kMoved).value().add);
}

/// Views into the message, which has to outlive it.
Parsed<ifaddrmsg> parsed(const Message& message) { return Parsed<ifaddrmsg>::of(*message.header()).value(); }

std::string replayed_label(const std::string& label) {
  const auto message = replayed(address(AF_INET, 0, label));
  return parsed(message).attributes.text(IFA_LABEL);
}

TEST(CarriedItems, AreTextAndBack) {
  const auto message = address(AF_INET, 0, "ib0");
  const auto text = item_text(ItemSort::kAddress, *message.header());
  EXPECT_THAT(text, ::testing::MatchesRegex("addr [0-9a-f]+"));
  const auto item = parse_item(text).value();
  EXPECT_EQ(item.sort, ItemSort::kAddress);
  EXPECT_THAT(item.bytes, ::testing::ElementsAreArray(message.bytes()));
}

TEST(CarriedItems, RefuseWhatIsTorn) {
  const auto text = item_text(ItemSort::kRoute, *address(AF_INET, 0, "").header());
  for (const auto& bad :
       {std::string(), std::string("addr"), std::string("addr "), std::string("link 00"),
        text.substr(0, text.size() - 1), text.substr(0, text.size() - 2), text + "00", text + "zz"}) {
    EXPECT_FALSE(parse_item(bad)) << bad;
  }
}

TEST(CarriedAddresses, FollowIndexAndName) {
  const auto message = replayed(address(AF_INET, IFA_F_PERMANENT | IFA_F_SECONDARY, "ib0:1"));
  const auto replay = parsed(message);
  EXPECT_EQ(replay.family.ifa_index, 9U);
  EXPECT_EQ(replay.attributes.text(IFA_LABEL), "mlx4_ib0:1");
  EXPECT_EQ(replay.attributes.number<std::uint32_t>(IFA_FLAGS), unsigned{IFA_F_PERMANENT});
  EXPECT_EQ(replayed_label("ib0"), "mlx4_ib0");
  EXPECT_EQ(replayed_label("ib01:1"), "ib01:1");
  EXPECT_EQ(replayed_label("ib0:longlabel"), "");  // too long under the new name
}

TEST(CarriedAddresses, ProvenIpv6OnesComeBackWithoutDetection) {
  const auto proven = replay_address(
      item_of(ItemSort::kAddress, address(AF_INET6, IFA_F_PERMANENT | IFA_F_NOPREFIXROUTE, "")), kMoved);
  ASSERT_TRUE(proven && proven->settle);
  EXPECT_EQ(Parsed<ifaddrmsg>::of(*proven->add.header())->attributes.number<std::uint32_t>(IFA_FLAGS),
            unsigned{IFA_F_NODAD | IFA_F_NOPREFIXROUTE});
  EXPECT_EQ(Parsed<ifaddrmsg>::of(*proven->settle->header())->attributes.number<std::uint32_t>(IFA_FLAGS),
            unsigned{IFA_F_NOPREFIXROUTE});
  EXPECT_NE(proven->settle->header()->nlmsg_flags & NLM_F_REPLACE, 0);
  const auto tentative = replay_address(
      item_of(ItemSort::kAddress, address(AF_INET6, IFA_F_TENTATIVE | IFA_F_DADFAILED, "")), kMoved);
  ASSERT_TRUE(tentative);
  EXPECT_FALSE(tentative->settle);
  EXPECT_EQ(Parsed<ifaddrmsg>::of(*tentative->add.header())->attributes.number<std::uint32_t>(IFA_FLAGS), 0U);
}

TEST(CarriedAddresses, LeaveOutWhatTheKernelMakes) {
  BarePrefixes bare;
  EXPECT_EQ(address_owner(*address(AF_INET6, 0, "").header(), AF_INET6, bare), 5);
  EXPECT_EQ(address_owner(*address(AF_INET6, 0, "").header(), AF_INET, bare), 0);
  EXPECT_EQ(address_owner(*address(AF_INET6, IFA_F_TEMPORARY, "").header(), AF_INET6, bare), 0);
  auto link_local = address(AF_INET6, 0, "");
  link_local.put(IFA_PROTO, std::uint8_t{IFAPROT_KERNEL_LL});
  EXPECT_EQ(address_owner(*link_local.header(), AF_INET6, bare), 0);
  EXPECT_THAT(bare, IsEmpty());
  EXPECT_EQ(address_owner(*address(AF_INET, IFA_F_NOPREFIXROUTE, "").header(), AF_INET, bare), 5);
  EXPECT_EQ(bare.size(), 1U);
}

Message route(std::uint8_t family, std::uint8_t protocol, std::uint8_t type = RTN_UNICAST) {
  rtmsg header{};
  header.rtm_family = family;
  header.rtm_dst_len = 24;
  header.rtm_table = RT_TABLE_MAIN;
  header.rtm_protocol = protocol;
  header.rtm_type = type;
  header.rtm_flags = RTNH_F_ONLINK | RTNH_F_LINKDOWN | RTNH_F_DEAD;
  return {RTM_NEWROUTE, 0, header, ""};
}

std::vector<std::byte> two_hops(unsigned char flags = RTNH_F_LINKDOWN) {
  std::vector<std::byte> out;
  for (const int index : {5, 6}) {
    rtnexthop hop{};
    hop.rtnh_len = sizeof hop;
    hop.rtnh_ifindex = index;
    hop.rtnh_flags = flags;
    hop.rtnh_hops = static_cast<unsigned char>(index);
    const auto bytes = std::as_bytes(std::span(&hop, 1));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

std::vector<rtnexthop> hops_of(const Message& message) {
  const auto bytes = Parsed<rtmsg>::of(*message.header())->attributes.find(RTA_MULTIPATH).value();
  std::vector<rtnexthop> out(bytes.size() / sizeof(rtnexthop));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(rtnexthop));
  return out;
}

TEST(CarriedRoutes, LeaveOutWhatTheKernelMakes) {
  const auto owners = [](Message message, const BarePrefixes& bare = {}) {
    message.put(RTA_DST, raw(kAddress));
    message.put(RTA_OIF, 5);
    return route_owners(*message.header(), AF_INET, bare);
  };
  EXPECT_THAT(owners(route(AF_INET, RTPROT_STATIC)), ElementsAre(5));
  EXPECT_THAT(owners(route(AF_INET, RTPROT_KERNEL)), IsEmpty());
  EXPECT_THAT(owners(route(AF_INET, RTPROT_REDIRECT)), IsEmpty());
  EXPECT_THAT(owners(route(AF_INET, RTPROT_KERNEL, RTN_LOCAL)), IsEmpty());
  EXPECT_THAT(owners(route(AF_INET, RTPROT_BOOT, RTN_LOCAL)), ElementsAre(5));
  EXPECT_THAT(owners(route(AF_INET6, RTPROT_STATIC)), IsEmpty());
  // The prefix route of an address with noprefixroute is somebody's, whatever it says.
  const BarePrefixes bare{{5, AF_INET, masked_prefix(raw(kAddress), 24), 24}};
  auto made = route(AF_INET, RTPROT_KERNEL);
  made.put(RTA_DST, masked_prefix(raw(kAddress), 24));
  made.put(RTA_OIF, 5);
  EXPECT_THAT(route_owners(*made.header(), AF_INET, bare), ElementsAre(5));
}

TEST(CarriedRoutes, FollowTheIndexAndForgetTheirState) {
  auto saved = route(AF_INET, RTPROT_STATIC);
  saved.put(RTA_OIF, 5);
  saved.put(RTA_GATEWAY, raw(kAddress));
  saved.put(RTA_NH_ID, 1);
  const auto replays = replay_route(item_of(ItemSort::kRoute, saved), kMoved);
  ASSERT_EQ(replays.size(), 1U);
  EXPECT_TRUE(replays[0].gateway);
  EXPECT_FALSE(replays[0].shared);
  EXPECT_EQ(replays[0].add.header()->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_APPEND);
  const auto replay = Parsed<rtmsg>::of(*replays[0].add.header()).value();
  EXPECT_EQ(replay.family.rtm_flags, unsigned{RTNH_F_ONLINK});
  EXPECT_EQ(replay.attributes.number<int>(RTA_OIF), 9);
  EXPECT_FALSE(replay.attributes.find(RTA_NH_ID));
}

TEST(CarriedRoutes, Ipv4MultipathComesBackWhole) {
  auto saved = route(AF_INET, RTPROT_STATIC);
  saved.put(RTA_MULTIPATH, two_hops());
  EXPECT_THAT(route_owners(*saved.header(), AF_INET, {}), ElementsAre(5, 6));
  const auto replays = replay_route(item_of(ItemSort::kRoute, saved), kMoved);
  ASSERT_EQ(replays.size(), 1U);
  EXPECT_TRUE(replays[0].shared);
  const auto hops = hops_of(replays[0].add);
  ASSERT_EQ(hops.size(), 2U);
  EXPECT_EQ(hops[0].rtnh_ifindex, 9);
  EXPECT_EQ(hops[0].rtnh_flags, 0);
  EXPECT_EQ(hops[1].rtnh_ifindex, 16);
}

TEST(CarriedRoutes, Ipv6MultipathComesBackByNextHop) {
  auto saved = route(AF_INET6, RTPROT_STATIC);
  saved.put(RTA_MULTIPATH, two_hops());
  const auto replays = replay_route(item_of(ItemSort::kRoute, saved), kMoved);
  ASSERT_EQ(replays.size(), 1U);
  EXPECT_FALSE(replays[0].shared);
  const auto hops = hops_of(replays[0].add);
  ASSERT_EQ(hops.size(), 1U);
  EXPECT_EQ(hops[0].rtnh_ifindex, 9);
  EXPECT_EQ(hops[0].rtnh_hops, 5);  // its weight
}

TEST(CarriedRoutes, ADeadNextHopOfIpv6IsNothingToPutBack) {
  auto saved = route(AF_INET6, RTPROT_STATIC);
  saved.put(RTA_MULTIPATH, two_hops(RTNH_F_DEAD | RTNH_F_LINKDOWN));
  EXPECT_THAT(replay_route(item_of(ItemSort::kRoute, saved), kMoved), IsEmpty());
}

TEST(CarriedRoutes, ExpiryIsGivenInSeconds) {
  auto saved = route(AF_INET6, RTPROT_RA);
  saved.put(RTA_OIF, 5);
  rta_cacheinfo cache{};
  cache.rta_expires = 300 * 100;  // USER_HZ is 100 everywhere but on alpha
  saved.put(RTA_CACHEINFO, std::as_bytes(std::span(&cache, 1)));
  const auto replays = replay_route(item_of(ItemSort::kRoute, saved), kMoved);
  const auto replay = Parsed<rtmsg>::of(*replays.at(0).add.header()).value();
  EXPECT_EQ(replay.attributes.number<std::uint32_t>(RTA_EXPIRES), 300U);
  EXPECT_FALSE(replay.attributes.find(RTA_CACHEINFO));
}

TEST(CarriedRules, MoveToTheNewName) {
  fib_rule_hdr header{};
  header.family = AF_INET;
  header.flags = FIB_RULE_INVERT | FIB_RULE_IIF_DETACHED;
  Message saved(RTM_NEWRULE, 0, header, "");
  saved.put(FRA_IIFNAME, "ib0");
  saved.put(FRA_OIFNAME, "ib01");
  saved.put(FRA_PRIORITY, std::uint32_t{1000});
  EXPECT_THAT(rule_owners(*saved.header(), AF_INET), ElementsAre("ib0", "ib01"));
  EXPECT_THAT(rule_owners(*saved.header(), AF_INET6), IsEmpty());
  const auto replay = replay_rule(item_of(ItemSort::kRule, saved), kMoved);
  ASSERT_TRUE(replay && replay->remove.size() == 2);
  const auto add = Parsed<fib_rule_hdr>::of(*replay->add.header()).value();
  EXPECT_EQ(add.family.flags, unsigned{FIB_RULE_INVERT});
  EXPECT_EQ(add.attributes.text(FRA_IIFNAME), "mlx4_ib0");
  EXPECT_EQ(add.attributes.text(FRA_OIFNAME), "ib01");
  EXPECT_NE(replay->add.header()->nlmsg_flags & NLM_F_EXCL, 0);
  const auto remove = Parsed<fib_rule_hdr>::of(*replay->remove.front().header()).value();
  EXPECT_EQ(remove.attributes.text(FRA_IIFNAME), "ib0");
  EXPECT_EQ(replay->remove.front().header()->nlmsg_type, RTM_DELRULE);
  EXPECT_EQ(Parsed<fib_rule_hdr>::of(*replay->remove.back().header())->attributes.text(FRA_IIFNAME),
            "rdmacfg5");
  EXPECT_THAT(replay_rule(item_of(ItemSort::kRule, saved), {5, "ib0", 9, "ib0"})->remove, IsEmpty());
}

Message rule_of_dscp(std::uint8_t tos, std::uint8_t dscp, std::uint32_t flags = 0) {
  constexpr int kDscp = 25;  // FRA_DSCP, since Linux 6.13
  fib_rule_hdr header{};
  header.family = AF_INET;
  header.tos = tos;
  header.flags = flags;
  Message rule(RTM_NEWRULE, 0, header, "");
  rule.put(FRA_IIFNAME, "ib0");
  rule.put(FRA_PRIORITY, std::uint32_t{1000});
  rule.put(kDscp, raw(std::array<std::uint8_t, 1>{dscp}));
  return rule;
}

TEST(CarriedRules, AreEqualOnlyIfAllSelectorsAre) {
  const auto identity = [](const Message& rule) { return rule_identity(*rule.header()); };
  const auto known = identity(rule_of_dscp(0, 46));
  EXPECT_NE(known, "");
  EXPECT_EQ(identity(rule_of_dscp(0, 46)), known);
  EXPECT_EQ(identity(rule_of_dscp(0, 46, FIB_RULE_IIF_DETACHED)), known);
  EXPECT_NE(identity(rule_of_dscp(0, 46, FIB_RULE_INVERT)), known);
  EXPECT_NE(identity(rule_of_dscp(0, 10)), known);
  EXPECT_NE(identity(rule_of_dscp(8, 46)), known);
}

Message neighbour(std::uint16_t state, std::uint8_t flags) {
  ndmsg header{};
  header.ndm_family = AF_INET;
  header.ndm_ifindex = 5;
  header.ndm_state = state;
  header.ndm_flags = flags;
  Message message(RTM_NEWNEIGH, 0, header, "");
  message.put(NDA_DST, raw(kAddress));
  message.put(NDA_LLADDR, raw(kAddress6));
  message.put(NDA_PROBES, std::uint32_t{4});
  return message;
}

TEST(CarriedNeighbours, LeaveOutWhatIsLearned) {
  EXPECT_EQ(neighbour_owner(*neighbour(NUD_PERMANENT, 0).header(), AF_INET), 5);
  EXPECT_EQ(neighbour_owner(*neighbour(NUD_NONE, NTF_PROXY).header(), AF_INET), 5);
  EXPECT_EQ(neighbour_owner(*neighbour(NUD_REACHABLE, NTF_ROUTER).header(), AF_INET), 0);
  EXPECT_EQ(neighbour_owner(*neighbour(NUD_NOARP, 0).header(), AF_INET), 0);
  EXPECT_EQ(neighbour_owner(*neighbour(NUD_PERMANENT, 0).header(), AF_INET6), 0);
}

TEST(CarriedNeighbours, FollowTheIndex) {
  const auto message =
      replay_neighbour(item_of(ItemSort::kNeighbour, neighbour(NUD_PERMANENT, NTF_ROUTER | NTF_USE)), kMoved);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->what(), "mlx4_ib0: put back neighbour 192.0.2.1/32");
  EXPECT_EQ(message->header()->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE);
  const auto replay = Parsed<ndmsg>::of(*message->header()).value();
  EXPECT_EQ(replay.family.ndm_ifindex, 9);
  EXPECT_EQ(replay.family.ndm_state, NUD_PERMANENT);
  EXPECT_EQ(replay.family.ndm_flags, NTF_ROUTER);
  EXPECT_TRUE(replay.attributes.find(NDA_LLADDR));
  EXPECT_FALSE(replay.attributes.find(NDA_PROBES));
}

TEST(Carried, FormerNames) {
  const system::Carried swapped{.index = 3, .name = "a", .items = {}, .becomes = "b"};
  EXPECT_THAT(system::former_names(swapped, "a"), ElementsAre("b", "rdmacfg3"));
  EXPECT_THAT(system::former_names(swapped, "b"), ElementsAre("a", "rdmacfg3"));
  EXPECT_THAT(system::former_names(swapped, "rdmacfg3"), ElementsAre("a", "b"));
  EXPECT_THAT(system::former_names({.index = 3, .name = "a", .items = {}}, "a"), IsEmpty());
}

TEST(InetText, PrefixesAndMasks) {
  EXPECT_EQ(prefix_text(AF_INET, raw(kAddress), 24), "192.0.2.1/24");
  EXPECT_EQ(prefix_text(AF_INET6, raw(kAddress6), 64), "2001:db8::1/64");
  EXPECT_EQ(prefix_text(AF_INET, {}, 0), "default");
  EXPECT_EQ(prefix_text(AF_INET, masked_prefix(raw(kAddress), 23), 23), "192.0.2.0/23");
  EXPECT_EQ(prefix_text(AF_INET, masked_prefix(raw(kAddress), 0), 0), "0.0.0.0/0");
}

}  // namespace
}  // namespace rdmacfg::system::detail
