// SPDX-License-Identifier: Apache-2.0
#include "base/regular_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <utility>

#include "unit/temp_folder.hpp"

namespace rdmacfg::base {
namespace {

TEST(RegularFile, IsReadUpToTheLimit) {
  const unit::TempFolder folder;
  const auto path = (folder.path() / "file").string();
  std::ofstream(path) << "12345678";
  const auto text = read_regular_file(path, 8);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "12345678");
  const auto larger = read_regular_file(path, 7);
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error(), (Error{Code::kInvalid, "has more than the 7 bytes allowed", EFBIG}));
  const auto endless = read_regular_file("/proc/self/maps", 7);
  ASSERT_FALSE(endless) << "its size is said to be 0";
  EXPECT_EQ(endless.error().sys_errno, EFBIG);
}

TEST(RegularFile, NothingElseIsWaitedFor) {
  const unit::TempFolder folder;
  const auto fifo = (folder.path() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const auto& [path, error] :
       {std::pair{fifo, EINVAL}, std::pair{std::string("/dev/zero"), EINVAL},
        std::pair{folder.path().string(), EISDIR}, std::pair{fifo + "-none", ENOENT}}) {
    const auto text = read_regular_file(path, 8);
    ASSERT_FALSE(text) << path;
    EXPECT_EQ(text.error().sys_errno, error) << path;
  }
}

}  // namespace
}  // namespace rdmacfg::base
