// SPDX-License-Identifier: Apache-2.0
#include "daemon/health.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::daemon {
namespace {

Health content() {
  Health health;
  health.ready = true;
  health.generation = 3;
  return health;
}

TEST(Health, Content) {
  EXPECT_EQ(content().state(), "idle");
  EXPECT_EQ(content().status(), "generation 3 is active");
  auto health = content();
  health.pending = 2;
  EXPECT_EQ(health.state(), "idle");
  EXPECT_EQ(health.status(), "generation 3 is active, 2 pending");
  health.limited = 1;
  EXPECT_EQ(health.status(), "generation 3 is active, 2 pending, 1 limited");
}

TEST(Health, WhatIsWrongIsSaid) {
  auto health = content();
  health.refused = "config.toml:3:1: no such key\n  hint";
  EXPECT_EQ(health.state(), "degraded");
  EXPECT_EQ(health.status(),
            "generation 3 is active; the configuration is not applied: config.toml:3:1: no such key");
  health = content();
  health.failing = "ipoib ib0: no";
  EXPECT_EQ(health.state(), "degraded");
  EXPECT_EQ(health.status(), "generation 3 is active; failing: ipoib ib0: no");
  health = content();
  health.degraded = "state.json: damaged";
  EXPECT_EQ(health.state(), "degraded");
  EXPECT_EQ(health.status(), "generation 3 is active; DEGRADED: state.json: damaged");
  health = content();
  health.contended = "ipoib ib0: somebody";
  EXPECT_EQ(health.state(), "degraded");
  EXPECT_EQ(health.status(), "generation 3 is active; left alone: ipoib ib0: somebody");
  health.generation = 0;
  EXPECT_EQ(health.status(), "no generation is active; left alone: ipoib ib0: somebody");
}

/// Names of devices are in it.
TEST(Health, ItIsSafeToShow) {
  auto health = content();
  health.failing = "ib\x1b[31m\xff: no";
  EXPECT_EQ(health.status(), "generation 3 is active; failing: ib\uFFFD[31m\uFFFD: no");
  health.busy = true;
  health.doing = "making ib\x1b[0m\nREADY=1";
  EXPECT_EQ(health.status(), "making ib\uFFFD[0m; generation 3 is active");
}

TEST(Health, WhatGoesOnComesFirst) {
  auto health = content();
  health.failing = "ipoib ib0: no";
  health.unconfirmed = "2026-11-21T14:03:22Z";
  EXPECT_EQ(health.state(), "unconfirmed");
  EXPECT_EQ(
      health.status(),
      "generation 3 is active until 2026-11-21T14:03:22Z unless it is confirmed; failing: ipoib ib0: no");
  health.busy = true;
  EXPECT_EQ(health.state(), "working");
  EXPECT_EQ(health.status(),
            "working; generation 3 is active until 2026-11-21T14:03:22Z unless it is confirmed");
  health.doing = "1 of 3 changes done: mtu";
  EXPECT_EQ(health.state(), "working");
  EXPECT_EQ(
      health.status(),
      "1 of 3 changes done: mtu; generation 3 is active until 2026-11-21T14:03:22Z unless it is confirmed");
  health.unconfirmed.clear();
  EXPECT_EQ(health.status(), "1 of 3 changes done: mtu; generation 3 is active");
  health.ready = false;
  EXPECT_EQ(health.state(), "starting");
  EXPECT_EQ(health.status(), "1 of 3 changes done: mtu");
  health.doing.clear();
  EXPECT_EQ(health.status(), "starting");
}

}  // namespace
}  // namespace rdmacfg::daemon
