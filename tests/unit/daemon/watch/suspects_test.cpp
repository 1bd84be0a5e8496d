// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/suspects.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "catalog/all.hpp"
#include "unit/system/temp_tree.hpp"

namespace rdmacfg::daemon {
namespace {

class SuspectsTest : public ::testing::Test {
 protected:
  /// `users`: real, effective, saved and of file systems.
  void runs(const std::string& name, const std::string& users = "0\t0\t0\t0") {
    tree.put(
        "/" + std::to_string(++pid) + "/status",
        "Name:\t" + name + "\nUmask:\t0022\nState:\tS (sleeping)\nUid:\t" + users + "\nGid:\t0\t0\t0\t0\n");
  }
  [[nodiscard]] std::string of(const std::string& kind) const { return Suspects(tree.path()).of(kind); }

  system::TempTree tree;
  int pid = 100;
};

TEST_F(SuspectsTest, OnlyWhatSetsTheKindIsNamed) {
  for (const auto* name : {"bash", "NetworkManager", "systemd-network", "lldpad", "tuned", "dhclient"})
    runs(name);
  tree.put("/self/status", "Name:\topenibd\nUid:\t0\t0\t0\t0\n");  // no process, but a link to one
  EXPECT_EQ(of("ipoib"), "NetworkManager, systemd-network, dhclient");
  EXPECT_EQ(of("address"), "NetworkManager, systemd-network, dhclient");
  EXPECT_EQ(of("nm_profile"), "NetworkManager");
  EXPECT_EQ(of("sysctl"), "NetworkManager, systemd-network, tuned");
  EXPECT_EQ(of("dcb"), "lldpad");
  for (const auto* kind : {"memlock", "memlock_unit", "partition", "opensm", "service", "roce", "soft_rdma"})
    EXPECT_EQ(of(kind), "") << kind;
}

TEST_F(SuspectsTest, ConfigurationManagersWriteFiles) {
  runs("puppet");
  EXPECT_EQ(of("memlock"), "puppet");
  EXPECT_EQ(of("memlock_unit"), "puppet");
  EXPECT_EQ(of("sysctl"), "puppet");
  EXPECT_EQ(of("soft_rdma"), "puppet") << "its modules are loaded by a file";
  for (const auto* kind : {"dns", "file", "initramfs", "package", "service"})
    EXPECT_EQ(of(kind), "puppet") << kind;
  EXPECT_EQ(of("ipoib"), "");
  EXPECT_EQ(of("dcb"), "");
}

TEST_F(SuspectsTest, ANameThatAUserGaveAProcessMisleadsNobody) {
  runs("puppet", "1000\t1000\t1000\t1000");
  runs("salt-minion", "1000\t0\t0\t0");               // su, started by a link of this name
  runs("chef-client", "61184\t61184\t61184\t61184");  // of a unit with DynamicUser=
  runs("cf-agent", "");
  tree.put("/99/status", "Name:\tansible-pull\n");
  EXPECT_EQ(of("memlock"), "");
  runs("systemd-network", "998\t998\t998\t998");  // has an account of its own
  EXPECT_EQ(of("ipoib"), "systemd-network");
}

TEST_F(SuspectsTest, OfEachKindSomebodyIsKnownOrNobodySetsIt) {
  for (const auto* name : {"NetworkManager", "lldpad", "openibd", "nvmetcli", "targetcli", "puppet"})
    runs(name);
  for (const auto* kind : kinds::all_kinds()) {
    if (kind->traits().only_checked) continue;  // nobody changes it
    const std::string name(kind->name());
    EXPECT_EQ(of(name).empty(), name == "roce") << name;
  }
  EXPECT_EQ(of("no such kind"), "");
}

TEST_F(SuspectsTest, NamesAreThoseOfProcComm) {
  constexpr std::size_t kMostOfComm = 15;  // TASK_COMM_LEN of linux/sched.h, without the end of the string
  for (const auto* kind : kinds::all_kinds()) {
    for (const auto program : kind->competitors()) {
      EXPECT_FALSE(program.empty()) << kind->name();
      EXPECT_LE(program.size(), kMostOfComm) << kind->name() << ": " << program;
    }
  }
}

TEST_F(SuspectsTest, WithoutProcessesNobody) { EXPECT_EQ(Suspects(tree.at("/nowhere")).of("ipoib"), ""); }

}  // namespace
}  // namespace rdmacfg::daemon
