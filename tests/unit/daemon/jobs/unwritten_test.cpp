// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/unwritten.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::daemon {
namespace {

using Time = Unwritten::Time;

TEST(Unwritten, IsTriedAgainEverLaterUntilItIsWritten) {
  Unwritten unwritten;
  EXPECT_FALSE(unwritten.due());
  Time now(1000);
  for (auto delay = Unwritten::kBackOffMin; delay < Unwritten::kBackOffMax; delay *= 2) {
    unwritten.tried(now);
    EXPECT_EQ(unwritten.due(), now + delay);
    now += delay;
  }
  for (int time = 0; time < 3; ++time) {
    unwritten.tried(now);
    EXPECT_EQ(unwritten.due(), now + Unwritten::kBackOffMax);
  }
  unwritten.written();
  EXPECT_FALSE(unwritten.due());
  unwritten.tried(now);
  EXPECT_EQ(unwritten.due(), now + Unwritten::kBackOffMin);
}

TEST(Unwritten, QueriesDoNotPutItOff) {
  Unwritten unwritten;
  unwritten.waits(Time(1000));
  unwritten.waits(Time(5000));
  EXPECT_EQ(unwritten.due(), Time(1000) + Unwritten::kBackOffMin);
  unwritten.tried(Time(7000));
  unwritten.waits(Time(9000));
  EXPECT_EQ(unwritten.due(), Time(7000) + Unwritten::kBackOffMin);
}

}  // namespace
}  // namespace rdmacfg::daemon
