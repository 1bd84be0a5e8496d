// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/audit.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace rdmacfg::daemon {
namespace {

using Time = Audit::Time;

TEST(Audit, WithoutAPeriodNever) {
  Audit audit;
  audit.set(Time(0), Time(1000));
  audit.looked(Time(2000));
  EXPECT_FALSE(audit.due());
}

TEST(Audit, WhatIsNotHeardOfIsLookedAt) {
  EXPECT_EQ(Audit::period(Time(0), Audit::Events::kComplete), Time(0));
  EXPECT_EQ(Audit::period(Time(0), Audit::Events::kIncomplete), Audit::kIncomplete);
  EXPECT_EQ(Audit::period(Time(3'600'000), Audit::Events::kIncomplete), Audit::kIncomplete);
  EXPECT_EQ(Audit::period(Time(10'000), Audit::Events::kIncomplete), Time(10'000));
  EXPECT_EQ(Audit::period(Time(3'600'000), Audit::Events::kComplete), Time(3'600'000));
}

TEST(Audit, OnlyARunPutsItOff) {
  Audit audit;
  audit.set(Time(60'000), Time(1000));
  EXPECT_EQ(audit.due(), Time(61'000));
  audit.set(Time(60'000), Time(30'000));  // a client's job ended, and the document is the same
  EXPECT_EQ(audit.due(), Time(61'000));
  audit.looked(Time(50'000));
  EXPECT_EQ(audit.due(), Time(110'000));
  audit.set(Time(10'000), Time(60'000));
  EXPECT_EQ(audit.due(), Time(70'000)) << "another document";
  audit.set(Time(0), Time(60'000));
  EXPECT_FALSE(audit.due());
}

TEST(Audit, JitterKeepsAClusterOutOfStep) {
  double factor = 0.8;
  Audit audit([&] { return factor; });
  audit.set(Time(10'000), Time(0));
  EXPECT_EQ(audit.due(), Time(8'000));
  factor = 1.2;
  audit.looked(Time(8'000));
  EXPECT_EQ(audit.due(), Time(20'000));
}

TEST(Audit, DoesNotWaitForALaterRun) {
  Audit audit;
  EXPECT_FALSE(audit.due_before(std::nullopt));
  EXPECT_FALSE(audit.due_before(Time(1000)));
  audit.set(Time(60'000), Time(1000));
  EXPECT_EQ(audit.due_before(std::nullopt), Time(61'000));
  EXPECT_EQ(audit.due_before(Time(300'000)), Time(61'000)) << "as while a change fails";
  EXPECT_FALSE(audit.due_before(Time(61'000)));
  EXPECT_FALSE(audit.due_before(Time(2000)));
}

/// The run may not come, and then another is not asked for at once, again and again.
TEST(Audit, IsNotAskedForAgainAtOnce) {
  Audit audit;
  audit.set(Time(60'000), Time(1000));
  audit.asked(Time(61'000));
  EXPECT_EQ(audit.due(), Time(121'000));
}

}  // namespace
}  // namespace rdmacfg::daemon
