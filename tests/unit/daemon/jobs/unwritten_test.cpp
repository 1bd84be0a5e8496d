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

/// A failed change is retried after up to five minutes, and everything else waits until then.
TEST(Unwritten, DoesNotWaitForALaterRun) {
  Unwritten unwritten;
  EXPECT_FALSE(unwritten.due_before(std::nullopt));
  EXPECT_FALSE(unwritten.due_before(Time(1000)));
  unwritten.waits(Time(1000));
  const auto due = Time(1000) + Unwritten::kBackOffMin;
  EXPECT_EQ(unwritten.due_before(std::nullopt), due);
  EXPECT_EQ(unwritten.due_before(Time(300'000)), due);
  EXPECT_FALSE(unwritten.due_before(due)) << "that run tries it";
  EXPECT_FALSE(unwritten.due_before(Time(2000)));
}

/// A run that failed as a whole is not retried early, so the requested run does not start at once.
TEST(Unwritten, IsNotAskedForAgainAtOnce) {
  Unwritten unwritten;
  unwritten.waits(Time(1000));
  const auto due = *unwritten.due();
  unwritten.asked(due);
  EXPECT_EQ(unwritten.due(), due + Unwritten::kBackOffMin);
  unwritten.tried(due);
  EXPECT_EQ(unwritten.due(), due + Unwritten::kBackOffMin) << "a request does not count as a try";
}

}  // namespace
}  // namespace rdmacfg::daemon
