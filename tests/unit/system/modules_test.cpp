// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>

#include "system/linux/linux_host.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

TEST(LinuxModules, IsLoadedAfterAFileThatIsOlder) {
  TempTree tree;
  tree.put("/sys/module/ib_ipoib/parameters/send_queue_size", "8192\n");
  tree.put("/etc/options.conf", "options ib_ipoib send_queue_size=10000\n");
  const auto modules = make_linux_modules(tree.at("/sys"));
  const auto file = tree.at("/etc/options.conf");
  const auto loaded = std::filesystem::last_write_time(tree.at("/sys/module/ib_ipoib"));
  const auto after = [&] { return modules->loaded_after("ib_ipoib", file.string()); };
  std::filesystem::last_write_time(file, loaded - std::chrono::milliseconds(1));
  EXPECT_TRUE(after());
  std::filesystem::last_write_time(file, loaded + std::chrono::milliseconds(1));
  EXPECT_FALSE(after());
  EXPECT_FALSE(modules->loaded_after("mlx4_en", file.string()));
  std::filesystem::remove(file);
  EXPECT_FALSE(after()) << "nothing was given";
}

}  // namespace
}  // namespace rdmacfg::system
