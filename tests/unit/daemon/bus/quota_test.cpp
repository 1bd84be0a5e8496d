// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/quota.hpp"

#include <gtest/gtest.h>

#include "model/limits.hpp"

namespace rdmacfg::daemon {
namespace {

TEST(Quota, OfOneAndInAll) {
  Quota<int> quota(4, 2);
  EXPECT_TRUE(quota.try_acquire(1));
  EXPECT_TRUE(quota.try_acquire(1));
  EXPECT_FALSE(quota.try_acquire(1));
  EXPECT_TRUE(quota.try_acquire(2));
  EXPECT_TRUE(quota.try_acquire(3));
  EXPECT_FALSE(quota.try_acquire(4));
  quota.release(1);
  EXPECT_TRUE(quota.try_acquire(4));
  quota.release(4);
  quota.release(4);  // was not taken
  EXPECT_TRUE(quota.try_acquire(1));
  EXPECT_FALSE(quota.try_acquire(2));
}

TEST(Quota, OfQuestionsAsTheTableHasThem) {
  using model::limits::kQuestions;
  using model::limits::kQuestionsOfUser;
  Quota<std::size_t> quota(kQuestions, kQuestionsOfUser);
  for (std::size_t i = 0; i < kQuestionsOfUser; ++i) EXPECT_TRUE(quota.try_acquire(0));
  EXPECT_FALSE(quota.try_acquire(0));
  for (std::size_t i = kQuestionsOfUser; i < kQuestions; ++i) EXPECT_TRUE(quota.try_acquire(i));
  EXPECT_FALSE(quota.try_acquire(kQuestions));
}

TEST(Known, OneMoreThanTheTableHasAndAllAreForgotten) {
  using model::limits::kOthersKnown;
  Known<std::size_t> known(kOthersKnown);
  for (std::size_t i = 0; i < kOthersKnown; ++i) known.add(i);
  known.add(kOthersKnown - 1);  // again
  EXPECT_TRUE(known.contains(0));
  EXPECT_FALSE(known.contains(kOthersKnown));
  known.add(kOthersKnown);
  EXPECT_FALSE(known.contains(0));
  EXPECT_TRUE(known.contains(kOthersKnown));
}

}  // namespace
}  // namespace rdmacfg::daemon
