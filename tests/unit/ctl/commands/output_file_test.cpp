// SPDX-License-Identifier: Apache-2.0
#include "ctl/output_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "unit/temp_folder.hpp"

namespace rdmacfg::ctl {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string text_in_file(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

std::ptrdiff_t entries_of(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(OutputFile, IsWrittenWithTheFoldersAboveIt) {
  const unit::TempFolder folder;
  const auto path = folder.path() / "a" / "b" / "out.toml";
  ASSERT_TRUE(write_output(path, "first"));
  EXPECT_EQ(text_in_file(path), "first");
  fs::permissions(path, fs::perms(0600));
  ASSERT_TRUE(write_output(path, "second, and longer"));
  EXPECT_EQ(text_in_file(path), "second, and longer");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0600)) << "as it was";
  EXPECT_EQ(entries_of(path.parent_path()), 1) << "nothing is left beside it";
}

TEST(OutputFile, ThatCannotBeWrittenIsNamed) {
  const unit::TempFolder folder;
  const auto file = folder.path() / "file";
  std::ofstream(file) << "theirs";
  const auto below = write_output(file / "out.toml", "x");
  ASSERT_FALSE(below);
  EXPECT_THAT(below.error().message, HasSubstr(file.string()));
  EXPECT_EQ(text_in_file(file), "theirs");
  const auto taken = write_output(folder.path(), "x");
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr(folder.path().string()));
  const auto full = write_output("/dev/full", "x");
  ASSERT_FALSE(full) << "there is no space";
  EXPECT_THAT(full.error().message, HasSubstr("/dev/full"));
}

TEST(OutputFile, IsReplacedAsAWhole) {
  const unit::TempFolder folder;
  const auto path = folder.path() / "rdma-configd.prom";
  ASSERT_TRUE(replace_output(path, "first"));
  ASSERT_TRUE(replace_output(path, "second"));
  EXPECT_EQ(text_in_file(path), "second");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0644)) << "its readers are other users";
  EXPECT_EQ(entries_of(folder.path()), 1);
  EXPECT_TRUE(replace_output("/dev/null", "x")) << "a device stays one";
  const auto nowhere = replace_output(folder.path() / "none" / "out.prom", "x");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().sys_errno, ENOENT);
  EXPECT_FALSE(fs::exists(folder.path() / "none"));
}

}  // namespace
}  // namespace rdmacfg::ctl
