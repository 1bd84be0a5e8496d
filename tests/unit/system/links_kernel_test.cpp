// SPDX-License-Identifier: Apache-2.0
// The rtnetlink adapter against the kernel of this machine, in a network namespace of the test's own. IPoIB
// itself needs the lab; here a pair of veth interfaces stands in for what is the same for all interfaces.
#include <gmock/gmock.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "system/linux/carried/carried.hpp"
#include "system/linux/linux_host.hpp"
#include "system/linux/netlink/inet_text.hpp"
#include "system/linux/netlink/netlink_socket.hpp"

namespace rdmacfg::system {
namespace {

using detail::Attributes;
using detail::Message;
using detail::NetlinkSocket;
using detail::Parsed;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

constexpr std::uint16_t kCreate = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE;
using Bytes4 = std::array<std::uint8_t, 4>;
using Bytes16 = std::array<std::uint8_t, 16>;

class LinksKernelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "no network namespace can be made here";
    auto opened = NetlinkSocket::open();
    ASSERT_TRUE(opened) << opened.error().message;
    netlink.emplace(std::move(*opened));
    Message pair(RTM_NEWLINK, kCreate, ifinfomsg{}, "making a veth pair");
    pair.put(IFLA_IFNAME, "v0");
    pair.nest(IFLA_LINKINFO, [&] {
      pair.put(IFLA_INFO_KIND, "veth");
      pair.nest(IFLA_INFO_DATA, [&] {
        Message peer(RTM_NEWLINK, 0, ifinfomsg{}, "");
        peer.put(IFLA_IFNAME, "v1");
        pair.put(VETH_INFO_PEER, peer.bytes().subspan(detail::kNlHeader));
      });
    });
    const auto made = netlink->execute({&pair, 1});
    if (!made) GTEST_SKIP() << "this kernel has no veth: " << made.error().message;
    ASSERT_TRUE(set(SetLink{.index = find("v1").index, .up = true}));
    ASSERT_TRUE(set(SetLink{.index = find("v0").index, .up = true}));
  }

  base::Result<void> set(const LinkRequest& request) const { return links->execute({&request, 1}); }

  [[nodiscard]] Link find(const std::string& name) const {
    const auto all = links->observe_links().value();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Link& link) { return link.name == name; });
    EXPECT_NE(found, all.end()) << name;
    return found == all.end() ? Link{} : *found;
  }

  template <class Bytes>
  void add_address(std::uint8_t family, const Bytes& bytes, std::uint8_t length, std::uint32_t flags = 0) {
    ifaddrmsg header{};
    header.ifa_family = family;
    header.ifa_prefixlen = length;
    header.ifa_index = static_cast<std::uint32_t>(find("v0").index);
    Message message(RTM_NEWADDR, kCreate, header, "address");
    message.put(IFA_LOCAL, std::as_bytes(std::span(bytes)));
    message.put(IFA_ADDRESS, std::as_bytes(std::span(bytes)));
    if (flags != 0) message.put(IFA_FLAGS, flags);
    const auto done = netlink->execute({&message, 1});
    ASSERT_TRUE(done) << done.error().message;
  }

  template <class Bytes>
  void add_route(std::uint8_t family, const Bytes& destination, std::uint8_t length, const Bytes& gateway,
                 const std::optional<Bytes>& source = std::nullopt) {
    rtmsg header{};
    header.rtm_family = family;
    header.rtm_dst_len = length;
    header.rtm_table = RT_TABLE_MAIN;
    header.rtm_protocol = RTPROT_STATIC;
    header.rtm_type = RTN_UNICAST;
    Message message(RTM_NEWROUTE, kCreate, header, "route");
    message.put(RTA_DST, std::as_bytes(std::span(destination)));
    message.put(RTA_GATEWAY, std::as_bytes(std::span(gateway)));
    message.put(RTA_OIF, find("v0").index);
    if (source) message.put(RTA_PREFSRC, std::as_bytes(std::span(*source)));
    const auto done = netlink->execute({&message, 1});
    ASSERT_TRUE(done) << done.error().message;
  }

  void add_rule(const std::string& iif) {
    fib_rule_hdr header{};
    header.family = AF_INET;
    header.table = RT_TABLE_MAIN;
    header.action = FR_ACT_TO_TBL;
    Message message(RTM_NEWRULE, kCreate, header, "rule");
    message.put(FRA_IIFNAME, iif);
    message.put(FRA_PRIORITY, std::uint32_t{1000});
    ASSERT_TRUE(netlink->execute({&message, 1}));
  }

  template <class Bytes>
  void add_neighbour(std::uint8_t family, const Bytes& address, std::uint16_t state, std::uint8_t flags = 0) {
    ndmsg header{};
    header.ndm_family = family;
    header.ndm_ifindex = find("v0").index;
    header.ndm_state = state;
    header.ndm_flags = flags;
    Message message(RTM_NEWNEIGH, kCreate, header, "neighbour");
    message.put(NDA_DST, std::as_bytes(std::span(address)));
    constexpr std::array<std::uint8_t, 6> kPeer{2, 0, 0, 0, 0, 9};
    if (flags == 0) message.put(NDA_LLADDR, std::as_bytes(std::span(kPeer)));
    const auto done = netlink->execute({&message, 1});
    ASSERT_TRUE(done) << done.error().message;
  }

  /// Addresses of the neighbours that are carried.
  [[nodiscard]] std::vector<std::string> carried_neighbours(const std::string& name) const {
    const std::array wanted{find(name)};
    const auto carried = links->observe_carried(wanted).value();
    std::vector<std::string> out;
    for (const auto& text : carried.at(0).items) {
      const auto item = detail::parse_item(text).value();
      if (item.sort != detail::ItemSort::kNeighbour) continue;
      const auto neighbour = Parsed<ndmsg>::of(item.header()).value();
      const auto address = neighbour.attributes.find(NDA_DST).value();
      out.push_back(
          detail::prefix_text(neighbour.family.ndm_family, address, static_cast<int>(address.size()) * 8));
    }
    return out;
  }

  /// Items without what changes by itself: time stamps, and the state of duplicate address detection.
  [[nodiscard]] std::vector<std::string> carried_facts(const std::string& name) const {
    const std::array wanted{find(name)};
    const auto carried = links->observe_carried(wanted).value();
    std::vector<std::string> facts;
    for (const auto& text : carried.at(0).items) {
      auto item = detail::parse_item(text).value();
      auto* header = reinterpret_cast<nlmsghdr*>(item.bytes.data());
      header->nlmsg_seq = header->nlmsg_pid = 0;
      if (item.sort == detail::ItemSort::kAddress) {
        const auto address = Parsed<ifaddrmsg>::of(*header).value();
        std::string fact = "addr ";
        Attributes all = address.attributes;
        while (const auto attribute = all.next()) {
          if (attribute->type == IFA_CACHEINFO) continue;
          fact += std::to_string(attribute->type) + "=";
          for (const auto byte : attribute->bytes) fact += std::to_string(std::to_integer<int>(byte)) + ".";
        }
        facts.push_back(fact);
      } else {
        facts.push_back(item_text(item.sort, *header));
      }
    }
    return facts;
  }

  std::unique_ptr<Links> links = make_linux_links();
  std::optional<NetlinkSocket> netlink;
};

TEST_F(LinksKernelTest, ObservesInTheOrderOfIndexes) {
  const auto all = links->observe_links().value();
  ASSERT_GE(all.size(), 3U);
  EXPECT_TRUE(
      std::is_sorted(all.begin(), all.end(), [](const Link& a, const Link& b) { return a.index < b.index; }));
  const auto v0 = find("v0");
  EXPECT_EQ(v0.kind, "veth");
  EXPECT_TRUE(v0.up);
  EXPECT_EQ(v0.mtu, 1500);
  EXPECT_EQ(v0.parent, find("v1").index);
  EXPECT_FALSE(v0.ipoib);
}

TEST_F(LinksKernelTest, SetsAndNamesWhatIsRefused) {
  const int index = find("v0").index;
  ASSERT_TRUE(set(SetLink{.index = index, .mtu = 1400, .group = 5}));
  EXPECT_EQ(find("v0").mtu, 1400);
  EXPECT_EQ(find("v0").group, 5U);
  const auto refused = set(SetLink{.index = index, .mtu = 1});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("v0: set MTU 1: Invalid argument"));
  EXPECT_EQ(refused.error().sys_errno, EINVAL);
  EXPECT_EQ(set(DeleteLink{9999}).error().code, base::Code::kNotFound);
  EXPECT_THAT(set(DeleteLink{9999}).error().message, HasSubstr("interface 9999: delete it"));
}

TEST_F(LinksKernelTest, AltnamesComeAndGo) {
  const int index = find("v0").index;
  ASSERT_TRUE(set(AddAltname{index, "a-rather-long-alternative-name"}));
  EXPECT_THAT(find("v0").altnames, Contains("a-rather-long-alternative-name"));
  ASSERT_TRUE(set(DeleteAltname{index, "a-rather-long-alternative-name"}));
  EXPECT_THAT(find("v0").altnames, IsEmpty());
}

TEST_F(LinksKernelTest, FindsOneByItsName) {
  const auto index = find("v0").index;
  ASSERT_TRUE(set(AddAltname{index, "another"}));
  for (const auto* name : {"v0", "another"}) EXPECT_EQ(links->index_of(name).value(), index) << name;
  for (const auto* name : {"", "absent", "longer_than_a_name_is"})
    EXPECT_EQ(links->index_of(name).value(), std::nullopt) << name;
  EXPECT_EQ(links->index_of("v1").value(), find("v1").index) << "a refusal leaves nothing unread";
}

TEST_F(LinksKernelTest, ManyRequestsInOrderAndTheFirstRefusal) {
  const int index = find("v0").index;
  std::vector<LinkRequest> requests;
  for (int mtu = 1000; mtu < 1300; ++mtu) requests.emplace_back(SetLink{.index = index, .mtu = mtu});
  ASSERT_TRUE(links->execute(requests));
  EXPECT_EQ(find("v0").mtu, 1299);
  requests.insert(requests.begin() + 200,
                  {SetLink{.index = index, .mtu = 2}, SetLink{.index = index, .mtu = 3}});
  EXPECT_THAT(links->execute(requests).error().message, HasSubstr("v0: set MTU 2:"));
}

TEST_F(LinksKernelTest, RenamesWhatItTakesDown) {
  const int index = find("v0").index;
  ASSERT_TRUE(set(SetLink{.index = index, .name = "renamed", .up = false}));
  EXPECT_EQ(find("renamed").index, index);
  EXPECT_FALSE(find("renamed").up);
}

TEST_F(LinksKernelTest, DeletesAGroup) {
  ASSERT_TRUE(set(SetLink{.index = find("v0").index, .group = 77}));
  ASSERT_TRUE(set(DeleteGroup{77}));
  const auto all = links->observe_links().value();
  EXPECT_TRUE(std::none_of(all.begin(), all.end(), [](const Link& link) { return link.kind == "veth"; }));
  EXPECT_FALSE(set(DeleteGroup{77}));
}

TEST_F(LinksKernelTest, PutsBackWhatDownAndRenameTake) {
  add_address(AF_INET, Bytes4{192, 0, 2, 1}, 24);
  add_address(AF_INET, Bytes4{192, 0, 2, 2}, 24);
  add_address(AF_INET6, Bytes16{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 64, IFA_F_NODAD);
  add_address(AF_INET6, Bytes16{0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 64, IFA_F_NODAD);
  add_route(AF_INET, Bytes4{10, 0, 0, 0}, 8, Bytes4{192, 0, 2, 254}, std::optional(Bytes4{192, 0, 2, 2}));
  const Bytes16 gateway{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
  add_route(AF_INET6, Bytes16{0x20, 1, 0xd, 0xb8, 0, 9}, 48, gateway,
            std::optional(Bytes16{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  add_rule("v0");
  const std::array before_link{find("v0")};
  const auto carried = links->observe_carried(before_link).value().at(0);
  const auto before = carried_facts("v0");
  EXPECT_EQ(before.size(), 7U);

  const int index = before_link[0].index;
  ASSERT_TRUE(set(SetLink{.index = index, .name = "renamed", .up = false}));
  ASSERT_TRUE(set(SetLink{.index = index, .up = true}));
  EXPECT_NE(carried_facts("renamed").size(), before.size());
  for (int time = 0; time < 2; ++time) {  // the second one finds everything in place
    const auto restored = links->restore_carried(carried, index, "renamed");
    ASSERT_TRUE(restored) << restored.error().message;
  }
  EXPECT_EQ(carried_facts("renamed").size(), before.size());

  const std::array renamed{find("renamed")};
  const auto again = links->observe_carried(renamed).value().at(0);
  ASSERT_TRUE(set(SetLink{.index = index, .name = "v0", .up = false}));
  ASSERT_TRUE(set(SetLink{.index = index, .up = true}));
  ASSERT_TRUE(links->restore_carried(again, index, "v0"));
  EXPECT_EQ(carried_facts("v0"), before);
}

TEST_F(LinksKernelTest, PutsBackPermanentNeighboursAndProxies) {
  const Bytes4 permanent{192, 0, 2, 9};
  const Bytes16 permanent6{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
  add_address(AF_INET, Bytes4{192, 0, 2, 1}, 24);
  add_neighbour(AF_INET, permanent, NUD_PERMANENT);
  add_neighbour(AF_INET6, permanent6, NUD_PERMANENT);
  add_neighbour(AF_INET, Bytes4{192, 0, 2, 10}, NUD_NONE, NTF_PROXY);
  add_neighbour(AF_INET, Bytes4{192, 0, 2, 11}, NUD_STALE);
  const std::array before_link{find("v0")};
  const auto carried = links->observe_carried(before_link).value().at(0);
  const auto all = UnorderedElementsAre("192.0.2.9/32", "2001:db8::9/128", "192.0.2.10/32");
  EXPECT_THAT(carried_neighbours("v0"), all);

  const int index = before_link[0].index;
  ASSERT_TRUE(set(SetLink{.index = index, .up = false}));
  EXPECT_THAT(carried_neighbours("v0"), IsEmpty());
  ASSERT_TRUE(set(SetLink{.index = index, .up = true}));
  add_neighbour(AF_INET, permanent, NUD_STALE);  // learned meanwhile
  for (int time = 0; time < 2; ++time) {
    const auto restored = links->restore_carried(carried, index, "v0");
    ASSERT_TRUE(restored) << restored.error().message;
    EXPECT_THAT(carried_neighbours("v0"), all);
  }
}

TEST_F(LinksKernelTest, ItemsThatAreNoneAreRefused) {
  const auto done = links->restore_carried({1, "v0", {"addr zz"}}, find("v0").index, "v0");
  EXPECT_EQ(done.error().code, base::Code::kInvalid);
}

TEST_F(LinksKernelTest, WaitsForCarrier) {
  const std::array indexes{find("v0").index};
  EXPECT_THAT(links->wait_for_carrier(indexes, 60s).value(), IsEmpty());
  ASSERT_TRUE(set(SetLink{.index = find("v1").index, .up = false}));
  EXPECT_THAT(links->wait_for_carrier(indexes, 50ms).value(), ::testing::ElementsAre(indexes[0]));
  const LinkRequest up = SetLink{.index = find("v1").index, .up = true};
  std::thread later([&up] {
    std::this_thread::sleep_for(100ms);
    EXPECT_TRUE(make_linux_links()->execute({&up, 1}));
  });
  const auto without = links->wait_for_carrier(indexes, 60s);
  later.join();
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_THAT(*without, IsEmpty());
  const std::array absent{9999};
  EXPECT_THAT(links->wait_for_carrier(absent, 20ms).value(), ::testing::ElementsAre(9999));
}

}  // namespace
}  // namespace rdmacfg::system
