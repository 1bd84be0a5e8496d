// SPDX-License-Identifier: Apache-2.0
// Units that count as running.
#include "kinds/units.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

namespace rdmacfg::kinds {
namespace {

struct UnitCase {
  const char *active, *sub, *job;
  bool up;
};

TEST(Units, AQueuedJobSaysWhetherAUnitIsUp) {
  const std::vector<UnitCase> cases{{"active", "running", "", true},
                                    {"active", "running", "restart", true},
                                    {"active", "running", "stop", false},
                                    {"inactive", "dead", "", false},
                                    {"inactive", "dead", "start", true},
                                    {"failed", "failed", "", false},
                                    {"failed", "failed", "start", true},
                                    {"activating", "start", "", true},
                                    {"activating", "start", "stop", false},
                                    {"activating", "auto-restart", "", false},
                                    {"deactivating", "stop-sigterm", "stop", false},
                                    {"reloading", "reload", "", true}};
  for (const auto& example : cases) {
    system::Unit unit;
    unit.active = example.active;
    unit.sub = example.sub;
    unit.job = example.job;
    EXPECT_EQ(is_up(unit), example.up)
        << fmt::format("{} ({}), job \"{}\"", example.active, example.sub, example.job);
  }
}

TEST(UnitStates, AreReadAsTheyAreWritten) {
  for (const auto& state :
       {UnitState{"activating", "auto-restart"}, UnitState{"failed", "failed"}, UnitState{"masked"}}) {
    const auto read = UnitState::parse(state.text());
    EXPECT_EQ(read.active, state.active);
    EXPECT_EQ(read.sub, state.sub);
  }
  EXPECT_EQ((UnitState{"activating", "auto-restart"}.text()), "activating (auto-restart)");
  EXPECT_TRUE((UnitState{"activating", "auto-restart-queued"}.restarts()));
  EXPECT_FALSE((UnitState{"activating", "start"}.restarts()));
}

}  // namespace
}  // namespace rdmacfg::kinds
