// SPDX-License-Identifier: Apache-2.0
// The journal's messages and what explains them.
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/ctl/sources.hpp"

namespace rdmacfg::daemon {
namespace {

using ctl::found;
using ctl::kSource;

const auto kCatalog = kSource / "units/rdma-configd.catalog";

TEST(Journal, EachMessageIsExplainedOnce) {
  auto explained = found(kCatalog, "-- ([0-9a-f]{32})\n");
  auto used = found(kSource / "src/daemon/journal.cpp", "\"([0-9a-f]{32})\"");
  EXPECT_FALSE(explained.empty());
  std::sort(explained.begin(), explained.end());
  std::sort(used.begin(), used.end());
  EXPECT_EQ(explained, used);
}

TEST(Journal, AnExplanationUsesOnlyWhatIsWritten) {
  const auto used = found(kCatalog, "@([A-Z_]+)@");
  ASSERT_FALSE(used.empty());
  for (const auto* file : {"src/daemon/tell.cpp", "src/daemon/controller.cpp"}) {
    const auto written = found(kSource / file, "\\{\"(RDMA_[A-Z]+)\",");
    for (const auto& name : used)
      EXPECT_NE(std::find(written.begin(), written.end(), name), written.end()) << file << ": " << name;
  }
}

}  // namespace
}  // namespace rdmacfg::daemon
