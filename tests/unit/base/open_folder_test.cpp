// SPDX-License-Identifier: Apache-2.0
#include "base/open_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace rdmacfg::base {
namespace {

TEST(OpenFolder, OwnsTheDescriptorAlsoWhenItFails) {
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_FALSE(open_folder(file));
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_EQ(::fcntl(file, F_GETFD), -1) << "it is open";

  const int folder = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(folder, 0);
  {
    const auto opened = open_folder(folder);
    ASSERT_TRUE(opened);
    EXPECT_NE(::readdir(opened.get()), nullptr);
  }
  EXPECT_EQ(::fcntl(folder, F_GETFD), -1) << "it is open";
}

}  // namespace
}  // namespace rdmacfg::base
