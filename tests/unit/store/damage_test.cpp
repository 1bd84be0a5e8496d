// SPDX-License-Identifier: Apache-2.0
// Folders and links in the place of records: nobody must delete anything of ours by hand.
#include "store/damage.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "store/generations.hpp"
#include "system/linux/linux_host.hpp"
#include "unit/system/temp_tree.hpp"

namespace rdmacfg::core {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

class DamageTest : public ::testing::Test {
 protected:
  /// A folder with something in it, which rename(2) does not replace.
  void put_folder(const std::string& path) const { tree.put(path + "/inside", ""); }

  system::TempTree tree;
  std::unique_ptr<system::Files> files = system::make_linux_files(tree.path());
  const GenerationPaths paths{};
};

TEST_F(DamageTest, AFolderInThePlaceOfTheReasonsDoesNotKeepAHostDegraded) {
  put_folder(kDegradedFile);
  EXPECT_EQ(degraded(*files).size(), 1U);
  EXPECT_TRUE(clear_degraded(*files));
  EXPECT_THAT(degraded(*files), IsEmpty());
  put_folder(kDegradedFile);
  degrade(*files, {"state.json: damaged"});
  EXPECT_THAT(degraded(*files), Contains("state.json: damaged"));
  EXPECT_TRUE(clear_degraded(*files));
  EXPECT_THAT(degraded(*files), IsEmpty());
  EXPECT_TRUE(clear_degraded(*files)) << "nothing is there";
}

TEST_F(DamageTest, AFolderInThePlaceOfTheCopyIsSetAside) {
  Ledger ledger;
  ledger.transaction = 1;
  put_folder(paths.backup);
  EXPECT_TRUE(save_backup(*files, paths, ledger));
  EXPECT_TRUE(std::filesystem::is_regular_file(tree.at(paths.backup)));
  std::filesystem::remove(tree.at(paths.backup));
  tree.link(paths.backup, "elsewhere");
  EXPECT_TRUE(save_backup(*files, paths, ledger));
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(tree.at(paths.backup))));
}

TEST_F(DamageTest, HoweverManyFoldersWereSetAside) {
  for (int i = 0; i < 2 * kDamagedKept; ++i) {
    put_folder(paths.take_back);
    put_aside(*files, paths.take_back, {base::Code::kIo, "it is a directory", 0});
    EXPECT_FALSE(std::filesystem::exists(tree.at(paths.take_back))) << i;
  }
  tree.put(paths.take_back, "{");
  put_aside(*files, paths.take_back, {base::Code::kInvalid, "damaged", 0});
  EXPECT_FALSE(std::filesystem::exists(tree.at(paths.take_back)));
}

}  // namespace
}  // namespace rdmacfg::core
