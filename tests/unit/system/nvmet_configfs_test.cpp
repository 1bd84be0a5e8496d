// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/linux/linux_host.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::ElementsAre;
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

}  // namespace
}  // namespace rdmacfg::system
