// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/listener.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "catalog/all.hpp"
#include "catalog/owned_files.hpp"
#include "fakes/memory_files.hpp"
#include "unit/system/little_inotify.hpp"

namespace rdmacfg::daemon {
namespace {

TEST(Listener, AnInterfaceWithDcbThatIsAbsentIsListenedFor) {
  EXPECT_TRUE(kinds::find("dcb")->traits().on_any_interface);
}

TEST(Listener, AnApplyThatGoesPastTheDaemonIsHeardOf) {
  EXPECT_TRUE(says_applied("/var/lib/rdma-configd/generations.json"));
  EXPECT_TRUE(says_applied("/run/rdma-configd/applied"));
  EXPECT_FALSE(says_applied("/run/rdma-configd/running"));
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  EXPECT_THAT(kinds::managed_folders(files), testing::Contains("/run/rdma-configd"));
}

TEST(Listener, PortsAreListenedToWhereSomethingIsWantedOfOne) {
  const auto reported = [](const char* kind, model::Status status) {
    return std::vector<model::ResourceReport>{{.key = {kind, "x"}, .label = "x", .status = status}};
  };
  EXPECT_TRUE(any_of_ports(reported("ipoib", model::Status::kInSync)));
  EXPECT_TRUE(any_of_ports(reported("roce", model::Status::kPending)));
  EXPECT_FALSE(any_of_ports(reported("pkey", model::Status::kForeign)));
  EXPECT_FALSE(any_of_ports(reported("ipoib", model::Status::kIgnored)));
  EXPECT_FALSE(any_of_ports(reported("memlock", model::Status::kInSync)));
  EXPECT_FALSE(any_of_ports({}));
}

TEST(Listener, SaysWhyItDoesNotHearOfEverything) {
  const auto said = system::with_little_inotify("max_inotify_instances", 0, [] {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    Loop loop;
    Listener listener(loop, files, "/bin/false", {[](const system::Event&) {}, [] {}});
    listener.start();
    return "deaf: " + listener.why_incomplete();
  });
  if (said.empty()) GTEST_SKIP() << "no user namespace can be made here";
  EXPECT_NE(said, "deaf: ");
}

TEST(Listener, HearsOfFilesOnceTheLimitIsRaised) {
  const auto said = system::with_little_inotify("max_inotify_instances", 0, [] {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    Loop loop;
    Listener listener(loop, files, "/bin/false", {[](const system::Event&) {}, [] {}});
    listener.start();
    std::string out;
    const auto look = [&] { out += listener.watch_again({}) ? "new " : "as before "; };
    look();
    std::ofstream("/proc/sys/user/max_inotify_instances") << 16 << std::flush;
    look();
    look();
    return out;
  });
  if (said.empty()) GTEST_SKIP() << "no user namespace can be made here";
  EXPECT_EQ(said, "as before new as before ");
}

TEST(Listener, SettingsOfResourcesThatSomethingIsWantedOf) {
  const auto report = [](const char* kind, const char* id, const char* label, model::Status status) {
    return model::ResourceReport{.key = {kind, id}, .label = label, .status = status};
  };
  using model::Status;
  std::vector<model::ResourceReport> resources{
      report("ipoib", "00:02:c9:03:00:31:78:f2", "mlx4_ib0", Status::kInSync),
      report("ipoib", "00:02:c9:03:00:31:78:f3", "ib1", Status::kForeign),
      report("pkey", "00:02:c9:03:00:31:78:f2/0x8002", "mlx4_ib0.8002", Status::kDone),
      report("pkey", "00:02:c9:03:00:31:78:f2/0x8003", "mlx4_ib0.8003", Status::kDone),
      report("sysctl", "net/ipv4/conf/mlx4_ib0/arp_ignore", "mlx4_ib0 arp_ignore", Status::kInSync),
      report("roce", "0000:11:00.0/1", "mlx5_0/1", Status::kDiffers),
      report("service", "iwpmd.service", "iwpmd.service", Status::kInSync),
      report("service", "srpd.service", "srpd.service", Status::kIgnored),
      report("opensm", "00:02:c9:03:00:31:78:f2", "opensm", Status::kInSync)};
  resources.push_back(report("ipoib", "00:02:c9:03:00:31:78:f4", "mlx4_1/1", Status::kPending));
  resources.back().there = false;
  resources[3].attributes = {{"mode", std::string("connected"), {}, {}}, {"umcast", true, true, {}}};
  const auto settings = settings_of(resources);
  EXPECT_EQ(settings.files, (std::set<std::string>{
                                "/proc/sys/net/ipv4/conf/mlx4_ib0/arp_ignore", "/sys/class/net/mlx4_ib0/mode",
                                "/sys/class/net/mlx4_ib0.8003/mode", "/sys/class/net/mlx4_ib0.8003/umcast"}));
  EXPECT_EQ(settings.handles, std::set<std::string>{"/sys/kernel/config/rdma_cm"});
  EXPECT_EQ(settings.units,
            (std::set<std::string>{"iwpmd.service", "opensm.service", "opensm@0x0002c903003178f2.service"}));
}

}  // namespace
}  // namespace rdmacfg::daemon
