// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>

#include "starting_units.hpp"
#include "system/linux/linux_host.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NvmetConfigfs : public ::testing::Test {
 protected:
  static constexpr const char* kSubsystem = "/sys/kernel/config/nvmet/subsystems/nqn.x:a/";

  TempTree tree;
  std::unique_ptr<Units> units = make_linux_units();
  std::unique_ptr<Modules> modules = make_linux_modules(tree.at("/sys"));
  std::unique_ptr<NvmeTarget> target = make_linux_nvme_target(*units, *modules, tree.at("/sys"));
};

TEST_F(NvmetConfigfs, WithoutTheModuleThereIsNothing) {
  EXPECT_FALSE(target->observe().value().has_value());
  tree.put("/sys/kernel/config/nvmet/hosts/x", "");
  EXPECT_THAT(target->observe().value()->subsystems, IsEmpty());
}

TEST_F(NvmetConfigfs, IsReadAsTheKernelShowsIt) {
  const std::string at = kSubsystem;
  tree.put(at + "attr_allow_any_host", "0\n");
  tree.put(at + "allowed_hosts/nqn.x:h", "");
  for (const auto* nsid : {"10", "2"}) {
    tree.put(at + "namespaces/" + nsid + "/device_path", std::string("/dev/") + nsid + "\n");
    tree.put(at + "namespaces/" + nsid + "/enable", "1\n");
    tree.put(at + "namespaces/" + nsid + "/device_uuid", "0a\n");
  }
  const std::string port = "/sys/kernel/config/nvmet/ports/49152/";
  for (const auto& [file, text] : {std::pair{"addr_trtype", "rdma"},
                                   {"addr_adrfam", "ipv4"},
                                   {"addr_traddr", "192.0.2.1"},
                                   {"addr_trsvcid", "4420"}})
    tree.put(port + file, std::string(text) + "\n");
  tree.put(port + "subsystems/nqn.x:a", "");
  const auto state = target->observe().value().value();
  ASSERT_EQ(state.subsystems.size(), 1U);
  const auto& subsystem = state.subsystems.front();
  EXPECT_EQ(subsystem.nqn, "nqn.x:a");
  EXPECT_FALSE(subsystem.any_host);
  EXPECT_THAT(subsystem.hosts, ElementsAre("nqn.x:h"));
  ASSERT_EQ(subsystem.namespaces.size(), 2U);
  EXPECT_EQ(subsystem.namespaces[0].nsid, 2);
  EXPECT_EQ(subsystem.namespaces[1].device, "/dev/10");
  EXPECT_TRUE(subsystem.namespaces[1].enabled);
  ASSERT_EQ(state.ports.size(), 1U);
  EXPECT_EQ(state.ports[0].id, 49152);
  EXPECT_EQ(state.ports[0].address, "192.0.2.1");
  EXPECT_THAT(state.ports[0].subsystems, ElementsAre("nqn.x:a"));
}

TEST_F(NvmetConfigfs, NamesThatLeadElsewhereAreRefused) {
  for (const auto* name : {"", ".", "..", "../x", "a/b"}) EXPECT_FALSE(target->make_subsystem(name)) << name;
}

/// Changes; unlike configfs, the folder has no attributes but those that a test puts there.
class NvmetChanges : public NvmetConfigfs {
 protected:
  static constexpr const char* kNvmet = "/sys/kernel/config/nvmet/";
  static constexpr const char* kNqn = "nqn.x:a";

  void make_folder(const std::string& below) const {
    std::filesystem::create_directories(tree.at(kNvmet + below));
  }
  [[nodiscard]] bool there(const std::string& below) const {
    return std::filesystem::exists(std::filesystem::symlink_status(tree.at(kNvmet + below)));
  }
};

TEST_F(NvmetChanges, AHostGoesWithTheLastSubsystemThatNamesIt) {
  make_folder("hosts");
  make_folder("subsystems");
  EXPECT_TRUE(target->make_subsystem(kNqn));
  EXPECT_TRUE(target->make_subsystem(kNqn)) << "it is there";
  const auto early = target->allow_host(kNqn, "nqn.x:h");
  ASSERT_FALSE(early) << "the kernel has made no list of hosts";
  EXPECT_THAT(early.error().message, HasSubstr("nqn.x:a: let nqn.x:h connect"));
  EXPECT_FALSE(there("hosts/nqn.x:h")) << "it was made for this";
  make_folder("hosts/nqn.x:old");
  EXPECT_FALSE(target->allow_host(kNqn, "nqn.x:old"));
  EXPECT_TRUE(there("hosts/nqn.x:old")) << "somebody else's";
  make_folder("subsystems/nqn.x:a/allowed_hosts");
  ASSERT_TRUE(target->allow_host(kNqn, "nqn.x:h"));
  EXPECT_EQ(std::filesystem::read_symlink(tree.at(std::string(kSubsystem) + "allowed_hosts/nqn.x:h")),
            tree.at(std::string(kNvmet) + "hosts/nqn.x:h"));
  EXPECT_TRUE(target->disallow_host(kNqn, "nqn.x:h"));
  EXPECT_FALSE(there("subsystems/nqn.x:a/allowed_hosts/nqn.x:h"));
  EXPECT_FALSE(there("hosts/nqn.x:h"));
  EXPECT_TRUE(target->disallow_host(kNqn, "nqn.x:h")) << "it is gone";
}

TEST_F(NvmetChanges, AHostWithKeysStays) {
  make_folder("subsystems/nqn.x:a/allowed_hosts");
  tree.put(std::string(kNvmet) + "hosts/nqn.x:k/dhchap_key", "DHHC-1:00:x:\n");
  ASSERT_TRUE(target->allow_host(kNqn, "nqn.x:k"));
  ASSERT_TRUE(target->disallow_host(kNqn, "nqn.x:k"));
  EXPECT_FALSE(there("subsystems/nqn.x:a/allowed_hosts/nqn.x:k"));
  EXPECT_EQ(tree.get(std::string(kNvmet) + "hosts/nqn.x:k/dhchap_key"), "DHHC-1:00:x:\n");
}

TEST_F(NvmetChanges, ASubsystemIsOpenedAndClosed) {
  const std::string attribute = std::string(kSubsystem) + "attr_allow_any_host";
  tree.put(attribute, "0\n");
  ASSERT_TRUE(target->set_any_host(kNqn, true));
  EXPECT_EQ(tree.get(attribute), "1\n");
  ASSERT_TRUE(target->set_any_host(kNqn, false));
  EXPECT_EQ(tree.get(attribute), "0\n");
  EXPECT_FALSE(target->remove_subsystem(kNqn)) << "it is not empty";
  std::filesystem::remove(tree.at(attribute));
  const auto refused = target->set_any_host(kNqn, false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("nqn.x:a: let named hosts only connect"));
  EXPECT_TRUE(target->remove_subsystem(kNqn));
  EXPECT_TRUE(target->remove_subsystem(kNqn)) << "it is gone";
}

TEST_F(NvmetChanges, ANamespaceIsADeviceAndItsIdentity) {
  const std::string at = std::string(kSubsystem) + "namespaces/1/";
  make_folder("subsystems/nqn.x:a/namespaces");
  const NvmeNamespace wanted{1, "/dev/none-such", "0a", true};
  const auto refused = target->make_namespace(kNqn, wanted);
  ASSERT_FALSE(refused) << "the kernel has made no attributes";
  EXPECT_THAT(refused.error().message, HasSubstr("nqn.x:a: offer /dev/none-such as namespace 1"));
  EXPECT_FALSE(there("subsystems/nqn.x:a/namespaces/1"));
  for (const auto* attribute : {"device_path", "device_uuid", "enable"}) tree.put(at + attribute, "");
  ASSERT_TRUE(target->make_namespace(kNqn, wanted));
  EXPECT_EQ(tree.get(at + "device_path"), "/dev/none-such\n");
  EXPECT_EQ(tree.get(at + "device_uuid"), "0a\n");
  EXPECT_EQ(tree.get(at + "enable"), "1\n");
  EXPECT_FALSE(target->remove_namespace(kNqn, 1)) << "it is not empty";
  std::filesystem::remove_all(tree.at(at));
  EXPECT_TRUE(target->remove_namespace(kNqn, 1)) << "it is gone";
  ASSERT_TRUE(target->make_namespace(kNqn, {2, "", "", false}));
  EXPECT_TRUE(std::filesystem::is_empty(tree.at(std::string(kSubsystem) + "namespaces/2")));
}

TEST_F(NvmetChanges, ADeviceThatTheWriterDoesNotSeeIsEnabledByAUnit) {
  StartingUnits manager;
  const auto other = make_linux_nvme_target(manager, *modules, tree.at("/sys"));
  const std::string at = std::string(kSubsystem) + "namespaces/1/";
  tree.put(at + "device_path", "");
  const NvmeNamespace wanted{1, "/dev/none-such", "", true};
  const auto refused = other->make_namespace(kNqn, wanted);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().sys_errno, ENOENT) << "what the kernel said";
  manager.effect = [&] { tree.put(at + "enable", "1\n"); };
  EXPECT_TRUE(other->make_namespace(kNqn, wanted));
  EXPECT_THAT(manager.started, ElementsAre("rdma-configd-nvme-namespace@nqn.x:a-namespaces-1.service",
                                           "rdma-configd-nvme-namespace@nqn.x:a-namespaces-1.service"));
  // systemd takes no longer name of a unit.
  const auto longest = "nqn." + std::string(219, 'x');
  tree.put(kNvmet + ("subsystems/" + longest) + "/namespaces/1/device_path", "");
  EXPECT_FALSE(other->make_namespace(longest, wanted));
  EXPECT_EQ(manager.started.size(), 2U);
}

TEST_F(NvmetChanges, APortThatCannotBeFinishedGoesAgain) {
  const NvmePort port{1, "rdma", "ipv4", "192.0.2.1", "4420", {}};
  EXPECT_FALSE(target->make_port(port)) << "nvmet is not there";
  make_folder("ports");
  const auto refused = target->make_port(port);
  ASSERT_FALSE(refused) << "the kernel has made no attributes";
  EXPECT_THAT(refused.error().message, HasSubstr("create the NVMe port 192.0.2.1 4420"));
  EXPECT_FALSE(there("ports/1"));
  make_folder("ports/1");
  const auto taken = target->make_port(port);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().sys_errno, EEXIST) << "somebody else's";
  EXPECT_TRUE(there("ports/1"));
}

TEST_F(NvmetChanges, APortOffersSubsystemsByLinks) {
  make_folder("subsystems/nqn.x:a");
  const auto nowhere = target->offer(1, kNqn);
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message, HasSubstr("nqn.x:a: offer it on port 1"));
  make_folder("ports/1/subsystems");
  ASSERT_TRUE(target->offer(1, kNqn));
  EXPECT_TRUE(target->offer(1, kNqn)) << "it is there";
  EXPECT_EQ(std::filesystem::read_symlink(tree.at(std::string(kNvmet) + "ports/1/subsystems/nqn.x:a")),
            tree.at(std::string(kNvmet) + "subsystems/nqn.x:a"));
  EXPECT_FALSE(target->remove_port(1)) << "it offers one";
  EXPECT_TRUE(target->withdraw(1, kNqn));
  EXPECT_TRUE(target->withdraw(1, kNqn)) << "it is gone";
  std::filesystem::remove(tree.at(std::string(kNvmet) + "ports/1/subsystems"));
  EXPECT_TRUE(target->remove_port(1));
  EXPECT_FALSE(there("ports/1"));
  EXPECT_TRUE(there("subsystems/nqn.x:a"));
}

}  // namespace
}  // namespace rdmacfg::system
