// SPDX-License-Identifier: Apache-2.0
#include "daemon/quota.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::daemon {
namespace {

TEST(Quota, OfOneAndInAll) {
  Quota<int> quota(4, 2);
  EXPECT_TRUE(quota.take(1));
  EXPECT_TRUE(quota.take(1));
  EXPECT_FALSE(quota.take(1));
  EXPECT_TRUE(quota.take(2));
  EXPECT_TRUE(quota.take(3));
  EXPECT_FALSE(quota.take(4));
  quota.give(1);
  EXPECT_TRUE(quota.take(4));
  quota.give(4);
  quota.give(4);  // was not taken
  EXPECT_TRUE(quota.take(1));
  EXPECT_FALSE(quota.take(2));
}

}  // namespace
}  // namespace rdmacfg::daemon
