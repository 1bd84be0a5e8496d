// SPDX-License-Identifier: Apache-2.0
// Images while the clock is behind them, as after a boot with a real-time clock that has lost its battery.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <ctime>
#include <string>

#include "system/initramfs.hpp"
#include "system/linux/linux_host.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

void make_image(const TempTree& tree, const std::string& file, std::time_t when) {
  tree.put(file, "image");
  const std::array<timespec, 2> times{{{when, 0}, {when, 0}}};
  ASSERT_EQ(::utimensat(AT_FDCWD, tree.at(file).c_str(), times.data(), 0), 0);
}

TEST(LinuxInitramfs, AnImageIsKnownByItsMarkWhileTheClockIsBehindIt) {
  const TempTree tree;
  const auto initramfs = make_linux_initramfs(tree.path());
  EXPECT_EQ(initramfs->marks_ahead_of_clock(), "") << "no image";
  const auto soon = std::time(nullptr) + 3600;
  make_image(tree, "boot/initrd.img-6.1.0-9-amd64", soon);
  make_image(tree, "boot/initrd.img-6.1.0-18-amd64", 1000);
  EXPECT_EQ(initramfs->marks_ahead_of_clock(), "") << "another kernel's does not count";
  make_image(tree, "boot/initrd.img-6.1.0-18-amd64", soon + 1);
  const auto marks = initramfs->marks_ahead_of_clock();
  EXPECT_NE(marks, "");
  EXPECT_TRUE(initramfs->is_marked(marks));
  make_image(tree, "boot/initrd.img-6.1.0-9-amd64", 2000);
  EXPECT_TRUE(initramfs->is_marked(marks)) << "another kernel's is new";
  make_image(tree, "boot/initrd.img-6.1.0-18-amd64", 2000);
  EXPECT_FALSE(initramfs->is_marked(marks));
}

}  // namespace
}  // namespace rdmacfg::system
