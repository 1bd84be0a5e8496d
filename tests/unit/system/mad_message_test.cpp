// SPDX-License-Identifier: Apache-2.0
// Answers to management datagrams, byte by byte (InfiniBand architecture 14.2.5.3, 14.2.5.7, 15.2.5.16).
#include "system/linux/verbs/mad_message.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "system/linux/fabric/decode.hpp"

namespace rdmacfg::system::detail {
namespace {

using ::testing::ElementsAre;

using MadBytes = std::array<std::uint8_t, kMadBytes>;

TEST(MadMessages, ThePortGuidOfANodeInfoIsInNetworkOrder) {
  constexpr std::size_t kNodeInfo = 64, kPortGuid = 20;
  constexpr std::array<std::uint8_t, 8> kGuid{0x00, 0x02, 0xc9, 0x03, 0x00, 0x31, 0x78, 0xf2};
  MadBytes answer{};
  std::copy(kGuid.begin(), kGuid.end(), answer.begin() + kNodeInfo + kPortGuid);
  EXPECT_EQ(port_guid_in(answer), 0x0002c903003178f2U);
  EXPECT_EQ(port_guid_in(std::span(answer).first(kMadBytes - 1)), std::nullopt);
  answer[5] = 0x0c;  // an unsupported method or attribute
  EXPECT_EQ(port_guid_in(answer), std::nullopt);
}

TEST(MadMessages, TheLidOfAPathRecordIsInNetworkOrder) {
  constexpr std::size_t kStatus = 4, kRecord = 56, kDlid = 40;
  MadBytes answer{};
  EXPECT_EQ(lid_in(answer), std::nullopt);
  answer[kRecord + kDlid] = 0x12;
  answer[kRecord + kDlid + 1] = 0x34;
  EXPECT_EQ(lid_in(answer), 0x1234);
  answer[kRecord + kDlid] = 0xbf;
  answer[kRecord + kDlid + 1] = 0xff;
  EXPECT_EQ(lid_in(answer), 0xbfff);
  answer[kRecord + kDlid] = 0xc0;
  answer[kRecord + kDlid + 1] = 0x00;
  EXPECT_EQ(lid_in(answer), std::nullopt) << "a multicast group";
  answer[kStatus] = 0x03;  // ERR_NO_RECORDS is 0x0300
  EXPECT_EQ(lid_in(answer), std::nullopt);
}

TEST(MadMessages, PkeysAreInNetworkOrder) {
  std::vector<std::uint16_t> pkeys;
  add_pkeys(std::array<std::uint8_t, 8>{0xff, 0xff, 0x80, 0x02, 0x00, 0x00, 0x00, 0x03}, pkeys);
  EXPECT_THAT(pkeys, ElementsAre(0xffff, 0x8002, 0x0003));
}

}  // namespace
}  // namespace rdmacfg::system::detail
