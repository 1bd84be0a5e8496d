// SPDX-License-Identifier: Apache-2.0
// inotify of this machine's kernel, on files of a test's and on /proc/sys.
#include <gmock/gmock.h>
#include <poll.h>
#include <sched.h>

#include <fstream>

#include "system/events.hpp"
#include "system/linux/linux_host.hpp"
#include "unit/system/little_inotify.hpp"
#include "unit/system/temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class SettingEventsTest : public ::testing::Test {
 protected:
  /// The events within a moment.
  std::vector<std::string> read() {
    constexpr int kMoment = 100;  // ms
    std::vector<std::string> out;
    pollfd wait{settings->fd(), POLLIN, 0};
    while (::poll(&wait, 1, kMoment) > 0) {
      for (const auto& event : settings->read()) {
        out.push_back(event.what);
        sorts.insert(event.sort);
      }
    }
    return out;
  }

  TempTree tree;
  std::set<Event::Sort> sorts;
  std::unique_ptr<SettingSource> settings = std::move(*watch_settings());
};

TEST_F(SettingEventsTest, OnlyFilesAskedFor) {
  tree.put("/ib0/mode", "datagram");
  tree.put("/ib0/umcast", "0");
  EXPECT_TRUE(settings->watch({.files = {tree.at("/ib0/mode"), tree.at("/ib1/mode")}}));
  EXPECT_FALSE(settings->watch({.files = {tree.at("/ib0/mode"), tree.at("/ib1/mode")}})) << "nothing is new";
  tree.put("/ib0/mode", "connected");
  EXPECT_THAT(read(), AllOf(Not(IsEmpty()), Each(tree.at("/ib0/mode"))));
  EXPECT_THAT(sorts, ElementsAre(Event::Sort::kSetting));
  tree.put("/ib0/umcast", "1");
  EXPECT_THAT(read(), IsEmpty());
  EXPECT_TRUE(settings->watch({.files = {tree.at("/ib0/umcast")}}))
      << "another file of a folder that is watched";
  tree.put("/ib0/umcast", "0");
  EXPECT_THAT(read(), Contains(tree.at("/ib0/umcast")));
  tree.put("/ib0/mode", "datagram");
  EXPECT_THAT(read(), IsEmpty()) << "it is not asked for any more";
}

TEST_F(SettingEventsTest, AFolderThatComesAnewIsNew) {
  tree.put("/ib0/mode", "datagram");
  const Settings wanted{.files = {tree.at("/ib0/mode")}};
  EXPECT_TRUE(settings->watch(wanted));
  std::filesystem::remove_all(tree.at("/ib0"));
  EXPECT_FALSE(settings->watch(wanted));
  tree.put("/ib0/mode", "datagram");
  (void)read();
  EXPECT_TRUE(settings->watch(wanted));
  tree.put("/ib0/mode", "connected");
  EXPECT_THAT(read(), Contains(tree.at("/ib0/mode")));
}

/// As programs use configfs: a folder, files in it, and gone.
TEST_F(SettingEventsTest, HandlesAreToldOfAndCounted) {
  tree.put("/rdma_cm/mlx5_0/ports/1/mode", "v2");
  EXPECT_TRUE(settings->watch({.handles = {tree.at("/rdma_cm")}}));
  tree.put("/rdma_cm/mlx5_0/ports/1/mode", "v1");
  EXPECT_THAT(read(), Contains(tree.at("/rdma_cm/mlx5_0/ports/1/mode"))) << "one that was there before";
  EXPECT_EQ(settings->handles_made(), 0U);
  std::filesystem::create_directory(tree.at("/rdma_cm/mlx5_1"));
  std::filesystem::remove(tree.at("/rdma_cm/mlx5_1"));
  sorts.clear();
  EXPECT_THAT(read(), ElementsAre(tree.at("/rdma_cm/mlx5_1")));
  EXPECT_THAT(sorts, ElementsAre(Event::Sort::kHandle));
  EXPECT_EQ(settings->handles_made(), 1U);
}

TEST_F(SettingEventsTest, WhatIsInAHandleThatHasJustBeenMadeCanBeWritten) {
  std::filesystem::create_directory(tree.at("/rdma_cm"));
  EXPECT_TRUE(settings->watch({.handles = {tree.at("/rdma_cm")}}));
  // configfs has all of it at once.
  std::filesystem::create_directories(tree.at("/made/ports/1"));
  std::filesystem::create_directory(tree.at("/rdma_cm/mlx5_0"));
  std::filesystem::rename(tree.at("/made/ports"), tree.at("/rdma_cm/mlx5_0/ports"));
  EXPECT_THAT(read(), ElementsAre(tree.at("/rdma_cm/mlx5_0")));
  tree.put("/rdma_cm/mlx5_0/ports/1/mode", "v1");
  EXPECT_THAT(read(), Contains(tree.at("/rdma_cm/mlx5_0/ports/1/mode")));
}

TEST_F(SettingEventsTest, FilesOfAServiceThatAreRenamedIntoPlace) {
  tree.put("/netif/3", "servers");
  tree.put("/temporary", "other servers");
  EXPECT_TRUE(settings->watch({.folders = {tree.at("/netif")}}));
  std::filesystem::rename(tree.at("/temporary"), tree.at("/netif/3"));
  EXPECT_THAT(read(), ElementsAre(tree.at("/netif/3")));
  std::filesystem::remove(tree.at("/netif/3"));
  EXPECT_THAT(read(), ElementsAre(tree.at("/netif/3")));
}

TEST_F(SettingEventsTest, FoldersBeyondTheLimitOfWatchesAreNamed) {
  tree.put("/ib0/mode", "datagram");
  tree.put("/ib1/mode", "datagram");
  const Settings single{.files = {tree.at("/ib0/mode"), tree.at("/gone/mode")}};
  const Settings both{.files = {tree.at("/ib0/mode"), tree.at("/ib1/mode")}};
  EXPECT_TRUE(settings->watch(both));
  EXPECT_EQ(settings->why_incomplete(), "");
  const auto said = with_little_inotify("max_inotify_watches", 1, [&] {
    auto few = std::move(*watch_settings());
    (void)few->watch(single);
    auto out = "[" + few->why_incomplete() + "]";  // what is not there is no trouble
    (void)few->watch(both);
    out += few->why_incomplete();
    (void)few->watch(single);
    return out + "[" + few->why_incomplete() + "]";
  });
  if (said.empty()) GTEST_SKIP() << "no user namespace can be made here";
  EXPECT_EQ(said, "[]" + tree.at("/ib1").string() +
                      " cannot be watched: the limit of inotify is reached; raise "
                      "fs.inotify.max_user_watches[]");
}

TEST_F(SettingEventsTest, WithoutAnInstanceTheRemedyIsSaid) {
  const auto said = with_little_inotify("max_inotify_instances", 0, [] {
    const auto none = watch_settings();
    return none ? "there is one" : none.error().message;
  });
  if (said.empty()) GTEST_SKIP() << "no user namespace can be made here";
  EXPECT_THAT(said, testing::EndsWith("; raise fs.inotify.max_user_instances"));
}

/// More events than the kernel keeps: a folder made in a handle meanwhile is watched all the same.
TEST_F(SettingEventsTest, AnOverflowIsToldOfAndEverythingIsWatchedAgain) {
  std::size_t most = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> most;
  constexpr std::size_t kBearable = 100'000;
  if (most == 0 || most > kBearable) GTEST_SKIP() << "the queue holds " << most << " events";
  tree.put("/files/a", "0");
  tree.put("/files/b", "0");
  std::filesystem::create_directory(tree.at("/rdma_cm"));
  EXPECT_TRUE(settings->watch(
      {.files = {tree.at("/files/a"), tree.at("/files/b")}, .handles = {tree.at("/rdma_cm")}}));
  std::ofstream a(tree.at("/files/a")), b(tree.at("/files/b"));
  // Equal events in a row are one for the kernel.
  for (std::size_t i = 0; i <= most / 2 + 1; ++i) {
    a << '1' << std::flush;
    b << '1' << std::flush;
  }
  std::filesystem::create_directory(tree.at("/rdma_cm/mlx5_0"));  // of this nothing tells
  EXPECT_THAT(read(), Contains("inotify"));
  EXPECT_TRUE(sorts.contains(Event::Sort::kLost));
  tree.put("/rdma_cm/mlx5_0/mode", "v1");
  EXPECT_THAT(read(), Contains(tree.at("/rdma_cm/mlx5_0/mode")));
}

TEST_F(SettingEventsTest, KernelSettings) {
  if (::unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "no network namespace can be made here";
  const std::string file = "/proc/sys/net/ipv4/conf/lo/arp_ignore";
  const auto write = [&](int value) { return static_cast<bool>(std::ofstream(file) << value << std::flush); };
  EXPECT_TRUE(settings->watch({.files = {file}}));
  if (!write(1)) GTEST_SKIP() << "no kernel setting can be written here";
  EXPECT_THAT(read(), Contains(file));
  std::ofstream("/proc/sys/net/ipv4/conf/lo/arp_announce") << 1 << std::flush;
  EXPECT_THAT(read(), IsEmpty());
}

}  // namespace
}  // namespace rdmacfg::system
