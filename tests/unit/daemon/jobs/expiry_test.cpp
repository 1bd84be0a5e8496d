// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/expiry.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::daemon {
namespace {

using Time = Expiry::Time;

TEST(Expiry, AtTheDeadline) {
  Expiry expiry;
  EXPECT_FALSE(expiry.due());
  expiry.set(Time(5000));
  EXPECT_EQ(expiry.due(), Time(5000));
  expiry.set(std::nullopt);
  EXPECT_FALSE(expiry.due());
}

TEST(Expiry, WhatDoesNotSucceedIsTriedLessAndLessOften) {
  Expiry expiry;
  expiry.set(Time(0));  // of another boot
  Time now(100'000), before(0);
  for (int i = 0; i < 12; ++i) {
    expiry.tried(now);
    expiry.set(Time(0));  // the ledger still has it
    const auto delay = *expiry.due() - now;
    EXPECT_GE(delay, std::max(before, Expiry::kBackOffMin));
    EXPECT_LE(delay, Expiry::kBackOffMax);
    before = delay;
    now = *expiry.due();
  }
  EXPECT_EQ(before, Expiry::kBackOffMax);
}

TEST(Expiry, AnotherDeadlineStartsAnew) {
  Expiry expiry;
  expiry.set(Time(1000));
  for (int i = 0; i < 12; ++i) expiry.tried(Time(2000));
  expiry.set(Time(3000));
  EXPECT_EQ(expiry.due(), Time(3000));
  expiry.tried(Time(3000));
  EXPECT_EQ(expiry.due(), Time(3000) + Expiry::kBackOffMin);
}

}  // namespace
}  // namespace rdmacfg::daemon
