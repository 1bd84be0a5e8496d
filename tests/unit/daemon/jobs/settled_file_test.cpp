// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/settled_file.hpp"

#include <gtest/gtest.h>

#include "system/linux/linux_host.hpp"
#include "unit/system/temp_tree.hpp"

namespace rdmacfg::daemon {
namespace {

TEST(SettledFile, IsReadInItsBootAndInNoOther) {
  const system::TempTree tree;
  const auto files = system::make_linux_files();
  const auto path = tree.at("/run/settled.json").native();
  SettledFile file(*files, path, "this boot");
  EXPECT_FALSE(file.load());
  EXPECT_TRUE(file.clear()) << "there is none";
  const SettledFile::Content content{7, {{{"ipoib", "x"}, "this boot/3"}, {{"pkey", "x 8002"}, ""}}};
  ASSERT_TRUE(file.save(content));
  EXPECT_EQ(file.load(), content);
  EXPECT_FALSE(SettledFile(*files, path, "another boot").load());
  tree.put("/run/settled.json", "{\"boot_id\": \"this boot\"}");
  EXPECT_FALSE(file.load()) << "damaged";
  ASSERT_TRUE(file.clear());
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace rdmacfg::daemon
