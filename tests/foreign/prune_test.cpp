// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stage.hpp"

namespace rdmacfg::foreign {
namespace {

using testing::HasSubstr;

TEST(Prune, APartitionGoesAsAWholeWithItsMembers) {
  std::vector<Line> lines;
  for (const auto* text :
       {"version = 1", "[[partition]]", "pkey = 0x0010", "members = [\"ALL=none\"]", "mtu = 5",
        "[[partition]]", "pkey = 0x0011", "members = [\"ALL=full\"]", "mtu = 7"})
    lines.push_back({text, {"partitions.conf", static_cast<int>(lines.size())}});
  Claims claims;
  const auto text = prune(lines, complaints, claims);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text,
            "version = 1\n# [[partition]]\n# pkey = 0x0010\n# members = [\"ALL=none\"]\n# mtu = 5\n"
            "[[partition]]\npkey = 0x0011\nmembers = [\"ALL=full\"]\n# mtu = 7\n");
  ASSERT_EQ(claims.missed.size(), 2U);
  EXPECT_THAT(claims.missed.front().text, HasSubstr("the partition is left out"));
}

}  // namespace
}  // namespace rdmacfg::foreign
