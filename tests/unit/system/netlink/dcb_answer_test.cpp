// SPDX-License-Identifier: Apache-2.0
#include "system/linux/netlink/dcb_answer.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::system::detail {
namespace {

TEST(DcbAnswer, IsTheDriversIntCutToAByte) {
  const auto cut = [](int word) { return static_cast<std::uint8_t>(word); };
  EXPECT_EQ(dcb_errno(cut(0)), 0);
  EXPECT_EQ(dcb_errno(cut(-EINVAL)), EINVAL);
  EXPECT_EQ(dcb_errno(cut(-EPERM)), EPERM);
  EXPECT_EQ(dcb_errno(cut(-EREMOTEIO)), EREMOTEIO);
}

TEST(DcbAnswer, WordsOfIceAreNoErrors) {
  EXPECT_EQ(dcb_errno(1), 0);  // ICE_DCB_NO_HW_CHG
  EXPECT_EQ(dcb_errno(2), 0);  // ICE_DCB_HW_CHG
}

TEST(DcbAnswer, ENotSupportedOfBnxtIsNotOutOfMemory) {
  EXPECT_EQ(dcb_errno(static_cast<std::uint8_t>(-524)), EOPNOTSUPP);
}

}  // namespace
}  // namespace rdmacfg::system::detail
