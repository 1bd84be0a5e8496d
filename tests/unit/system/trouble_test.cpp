// SPDX-License-Identifier: Apache-2.0
// An unreadable file is an error, and not a missing one. Links that point at
// themselves (ELOOP) stand in for what root does not get: EACCES, EMFILE, ENOMEM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/linux/linux_host.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class UnreadableTest : public ::testing::Test {
 protected:
  void loop(const std::string& path) const {
    tree.link(path, std::filesystem::path(path).filename().native());
  }

  TempTree tree;
  std::unique_ptr<Units> units = make_linux_units();
  std::unique_ptr<RdmaCm> rdma_cm = make_linux_rdma_cm(*units, tree.at("/sys"));
  std::unique_ptr<Modules> modules = make_linux_modules(tree.at("/sys"));
  std::unique_ptr<Mlx4Ports> ports = make_linux_mlx4_ports(tree.at("/sys"));
};

TEST_F(UnreadableTest, WhatIsNotThereIsNoError) {
  EXPECT_EQ(rdma_cm->observe_instance().value(), "");
  EXPECT_THAT(rdma_cm->observe_folders().value(), IsEmpty());
  EXPECT_FALSE(rdma_cm->observe_defaults("mlx5_0", 1).value().has_value());
  EXPECT_THAT(modules->observe_loaded().value(), IsEmpty());
  EXPECT_THAT(ports->observe_mlx4().value(), IsEmpty());
}

TEST_F(UnreadableTest, RdmaCm) {
  loop("/sys/module/rdma_cm");
  loop("/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode");
  loop("/sys/kernel/config/rdma_cm/mlx5_1");
  const auto instance = rdma_cm->observe_instance();
  ASSERT_FALSE(instance);
  EXPECT_THAT(instance.error().message, HasSubstr("module/rdma_cm"));
  for (const auto* device : {"mlx5_0", "mlx5_1"}) {
    const auto defaults = rdma_cm->observe_defaults(device, 1);
    ASSERT_FALSE(defaults) << device;
    EXPECT_THAT(defaults.error().message, HasSubstr(device));
  }
}

TEST_F(UnreadableTest, FoldersOfRdmaCm) {
  loop("/sys/kernel/config/rdma_cm");
  EXPECT_FALSE(rdma_cm->observe_folders());
}

TEST_F(UnreadableTest, LoadedModules) {
  loop("/sys/module");
  EXPECT_FALSE(modules->observe_loaded());
}

TEST_F(UnreadableTest, PortTypes) {
  loop("/sys/bus/pci/devices/0000:10:00.0/mlx4_port1");
  const auto found = ports->observe_mlx4();
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("0000:10:00.0/mlx4_port1"));
}

TEST_F(UnreadableTest, PortTypesOfTheSecondPort) {
  tree.put("/sys/bus/pci/devices/0000:10:00.0/mlx4_port1", "ib\n");
  loop("/sys/bus/pci/devices/0000:10:00.0/mlx4_port2");
  EXPECT_FALSE(ports->observe_mlx4());
}

TEST_F(UnreadableTest, PortTypesThatTheDriverFixes) {
  const std::string type = "/sys/bus/pci/devices/0000:10:00.0/mlx4_port1";
  tree.put(type, "ib\n");
  EXPECT_FALSE(ports->observe_mlx4().value().at(0).fixed);
  using std::filesystem::perms;
  std::filesystem::permissions(tree.at(type), perms::owner_read | perms::group_read | perms::others_read);
  EXPECT_TRUE(ports->observe_mlx4().value().at(0).fixed);
}

}  // namespace
}  // namespace rdmacfg::system
