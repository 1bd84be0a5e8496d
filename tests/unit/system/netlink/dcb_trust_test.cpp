// SPDX-License-Identifier: Apache-2.0
// The order of trust in dcbnl messages (include/uapi/linux/dcbnl.h and net/dcb/dcbnl.c of Linux 6.2).
#include <gmock/gmock.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "system/linux/netlink/dcb_message.hpp"

namespace rdmacfg::system::detail {
namespace {

using Selectors = std::vector<std::uint8_t>;

// Numbers of the kernel's interface, which never change: DCB_ATTR_DCB_APP_TRUST_TABLE, DCB_ATTR_IEEE_APP,
// DCB_ATTR_DCB_APP.
constexpr int kTableNumber = 11, kIeeeNumber = 1, kOtherNumber = 2;

/// An answer to DCB_CMD_IEEE_GET with what `fill` puts into DCB_ATTR_IEEE.
template <class Fill>
std::optional<DcbState> state_in_answer(Fill fill) {
  dcbmsg header{};
  header.cmd = DCB_CMD_IEEE_GET;
  Message message(RTM_GETDCB, 0, header, "");
  message.put(DCB_ATTR_IFNAME, std::string_view("eth0"));
  message.nest(DCB_ATTR_IEEE, [&] { fill(message); });
  return parse_dcb(*message.header());
}

struct TableCase {
  std::string name;
  std::vector<std::pair<int, std::uint8_t>> entries;  ///< attribute and selector
  Selectors order;
};

TEST(DcbTrustMessages, IsReadInOrder) {
  const std::vector<TableCase> cases{
      {"as the table has them", {{kIeeeNumber, 5}, {kOtherNumber, 255}}, {5, 255}},
      {"the other way round", {{kOtherNumber, 255}, {kIeeeNumber, 5}}, {255, 5}},
      {"all of IEEE 802.1Qaz",
       {{kIeeeNumber, 1}, {kIeeeNumber, 2}, {kIeeeNumber, 3}, {kIeeeNumber, 4}},
       {1, 2, 3, 4}},
      // As dcb_app_selector_validate() of iproute2 has it.
      {"a selector in the attribute of another sort",
       {{kIeeeNumber, 255}, {kOtherNumber, 5}, {kIeeeNumber, 5}},
       {5}},
      {"reserved selectors", {{kIeeeNumber, 6}, {kIeeeNumber, 0}, {0, 0}, {kIeeeNumber, 5}}, {5}}};
  for (const auto& tested : cases) {
    const auto state = state_in_answer([&](Message& message) {
      message.nest(kTableNumber, [&] {
        for (const auto& [attribute, selector] : tested.entries) message.put(attribute, selector);
      });
    });
    ASSERT_TRUE(state && state->trust) << tested.name;
    EXPECT_EQ(*state->trust, tested.order) << tested.name;
  }
}

TEST(DcbTrustMessages, AnEmptyTableTrustsNothingAndAMissingOneIsNotSupported) {
  const auto empty = state_in_answer(
      [](Message& message) { message.put(kTableNumber | NLA_F_NESTED, std::span<const std::byte>{}); });
  ASSERT_TRUE(empty && empty->trust);
  EXPECT_TRUE(empty->trust->empty());
  // Linux 6.1, or a driver without dcbnl_getapptrust().
  const auto missing = state_in_answer([](Message& message) {
    ieee_pfc pfc{};
    pfc.pfc_en = 0x08;
    message.put(DCB_ATTR_IEEE_PFC, std::as_bytes(std::span(&pfc, 1)));
  });
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->pfc, std::uint8_t{0x08});
  EXPECT_FALSE(missing->trust);
}

TEST(DcbTrustMessages, AnEntryWithoutBytesIsPassedOver) {
  const auto state = state_in_answer([](Message& message) {
    message.nest(kTableNumber, [&] {
      message.put(kIeeeNumber, std::span<const std::byte>{});
      message.put(kOtherNumber, std::uint8_t{255});
    });
  });
  ASSERT_TRUE(state && state->trust);
  EXPECT_EQ(*state->trust, Selectors{255});
}

TEST(DcbTrustMessages, IsAskedForInOrderEachInItsAttribute) {
  const auto message = trust_request("eth0", Selectors{5, 255});
  EXPECT_TRUE(message.complete());
  EXPECT_EQ(message.what(), "eth0: set the order of trust to selectors 5 255");
  EXPECT_EQ(message.header()->nlmsg_type, RTM_SETDCB);
  EXPECT_EQ(message.header()->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
  const auto sent = Parsed<dcbmsg>::of(*message.header()).value();
  EXPECT_EQ(sent.family.cmd, DCB_CMD_IEEE_SET);
  EXPECT_EQ(sent.attributes.text(DCB_ATTR_IFNAME), "eth0");
  auto table = sent.attributes.nested(DCB_ATTR_IEEE).nested(kTableNumber);
  std::vector<std::pair<int, int>> entries;
  while (const auto item = table.next()) {
    EXPECT_EQ(item->bytes.size(), 1U);  // dcbnl_ieee_set() refuses other lengths
    entries.emplace_back(item->type, item->number<std::uint8_t>().value_or(0));
  }
  EXPECT_THAT(entries, testing::ElementsAre(std::pair<int, int>(kIeeeNumber, 5),
                                            std::pair<int, int>(kOtherNumber, 255)));
}

// libnl's nla_nest_end() removes a nest without content; then the kernel would set nothing, and say it did.
TEST(DcbTrustMessages, OfNothingIsAnEmptyTable) {
  const auto message = trust_request("eth0", Selectors{});
  EXPECT_TRUE(message.complete());
  const auto sent = Parsed<dcbmsg>::of(*message.header()).value();
  const auto table = sent.attributes.nested(DCB_ATTR_IEEE).find(kTableNumber);
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->empty());
}

}  // namespace
}  // namespace rdmacfg::system::detail
