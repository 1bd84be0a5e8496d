// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/lost_records.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::daemon {
namespace {

using Time = LostRecords::Time;

TEST(LostRecords, AreAnsweredEverLater) {
  LostRecords lost;
  Time now(7000);
  EXPECT_EQ(lost.not_before(Time(5)), Time(5)) << "none was found";
  EXPECT_EQ(lost.found(now), now) << "the first at once";
  EXPECT_EQ(lost.not_before(Time(5)), now);
  EXPECT_EQ(lost.not_before(now + Time(5)), now + Time(5));
  for (auto delay = LostRecords::kBackOffMin; delay < LostRecords::kBackOffMax; delay *= 2) {
    EXPECT_EQ(lost.found(now + Time(200)), now + delay);
    now += delay;
  }
  for (int time = 0; time < 3; ++time) {
    EXPECT_EQ(lost.found(now + Time(200)), now + LostRecords::kBackOffMax);
    now += LostRecords::kBackOffMax;
  }
}

TEST(LostRecords, ALossAfterItsDistanceIsAnsweredAtOnce) {
  LostRecords lost;
  (void)lost.found(Time(1000));
  const auto later = Time(1000) + LostRecords::kBackOffMin + Time(1);
  EXPECT_EQ(lost.found(later), later);
}

TEST(LostRecords, AfterALongTimeOrAnApplyTheyAreTheFirstAgain) {
  for (const bool forgotten : {false, true}) {
    LostRecords lost;
    Time now(0);
    for (int time = 0; time < 5; ++time) now = lost.found(now);
    if (forgotten) lost.forget();
    if (!forgotten) now += LostRecords::kQuiet;
    EXPECT_EQ(lost.found(now), now);
    EXPECT_EQ(lost.found(now), now + LostRecords::kBackOffMin);
  }
}

}  // namespace
}  // namespace rdmacfg::daemon
