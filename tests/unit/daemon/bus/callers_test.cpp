// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/callers.hpp"

#include <gmock/gmock.h>

namespace rdmacfg::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Callers, LooksOfAClientThatLeavesAreKnown) {
  Callers callers;
  for (const std::uint32_t job : {1U, 2U}) {
    ASSERT_TRUE(callers.came(":1.5"));
    EXPECT_TRUE(callers.became(":1.5", job));
  }
  callers.ended(":1.5", 1);
  EXPECT_THAT(callers.left(":1.7"), IsEmpty());
  EXPECT_THAT(callers.left(":1.5"), ElementsAre(2U));
  callers.ended(":1.5", 2);
  EXPECT_EQ(callers.size(), 0U);
}

TEST(Callers, OneThatLeavesWhileItIsAuthorizedGetsNoLook) {
  Callers callers;
  ASSERT_TRUE(callers.came(":1.5"));
  EXPECT_FALSE(callers.is_gone(":1.5"));
  EXPECT_THAT(callers.left(":1.5"), IsEmpty());
  EXPECT_TRUE(callers.is_gone(":1.5"));
  EXPECT_FALSE(callers.became(":1.5", 0));
  EXPECT_EQ(callers.size(), 0U);
}

TEST(Callers, AreBounded) {
  Callers callers;
  for (std::size_t i = 0; i < model::limits::kLeavingClients; ++i)
    EXPECT_TRUE(callers.came(":1." + std::to_string(i)));
  EXPECT_FALSE(callers.came(":1.1000"));
  EXPECT_TRUE(callers.came(":1.1")) << "one that is known";
  EXPECT_FALSE(callers.came(":1.1000", model::limits::kLeavingClients));
  EXPECT_TRUE(callers.came(":1.1001", model::limits::kLeavingClients + 1)) << "root";
  EXPECT_TRUE(callers.became(":1.1001", 0));
  EXPECT_TRUE(callers.became(":1.0", 0));
  EXPECT_TRUE(callers.came(":1.1000"));
}

}  // namespace
}  // namespace rdmacfg::daemon
