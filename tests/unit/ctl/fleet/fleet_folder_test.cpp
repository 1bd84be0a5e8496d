// SPDX-License-Identifier: Apache-2.0
#include "ctl/fleet/fleet_folder.hpp"

#include <gtest/gtest.h>

#include <string>

#include "unit/system/temp_tree.hpp"

namespace rdmacfg::ctl {
namespace {

TEST(FleetFolderLimit, AFolderOfMoreHostsIsAnError) {  // kFleetHosts
  constexpr std::size_t kMost = 3;
  system::TempTree tree;
  const auto folder = tree.path().native();
  for (const auto* name : {"a1", "a2", "a3"}) {
    tree.put(std::string("/") + name + ".show.json", "{}");
    tree.put(std::string("/") + name + ".diff.json", "{}");
  }
  const auto at_limit = fleet_files_in(folder, kMost);
  ASSERT_TRUE(at_limit) << at_limit.error().message;
  EXPECT_EQ(at_limit->files.size(), kMost);
  tree.put("/a4/show.json", "{}");
  const auto beyond = fleet_files_in(folder, kMost);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().message, folder + ": has files of more than the 3 hosts allowed");
  EXPECT_TRUE(fleet_files_in(folder)) << "kFleetHosts is far more";
}

}  // namespace
}  // namespace rdmacfg::ctl
