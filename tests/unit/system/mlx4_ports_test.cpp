// SPDX-License-Identifier: Apache-2.0
// Port types of ConnectX-3 adapters in sysfs, on a folder like it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>

#include "system/linux/linux_host.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Mlx4PortTypes : public ::testing::Test {
 protected:
  static constexpr const char* kDevices = "/sys/bus/pci/devices/";
  static constexpr const char* kAdapter = "/sys/bus/pci/devices/0000:10:00.0/";

  TempTree tree;
  std::unique_ptr<Mlx4Ports> ports = make_linux_mlx4_ports(tree.at("/sys"));
};

TEST_F(Mlx4PortTypes, AreThoseOfAdaptersThatHaveThem) {
  EXPECT_THAT(ports->observe_mlx4().value(), IsEmpty()) << "no PCI bus";
  tree.put(std::string(kDevices) + "0000:00:1f.0/vendor", "0x8086\n");
  tree.put(std::string(kAdapter) + "mlx4_port1", "auto (ib)\n");
  tree.put(std::string(kAdapter) + "mlx4_port2", "eth\n");
  tree.put(std::string(kDevices) + "0000:20:00.0/mlx4_port1", "ib\n");
  std::filesystem::permissions(tree.at(std::string(kDevices) + "0000:20:00.0/mlx4_port1"),
                               std::filesystem::perms(0444));
  const auto found = ports->observe_mlx4().value();
  ASSERT_EQ(found.size(), 2U);
  const auto& both = found[found[0].pci == "0000:10:00.0" ? 0 : 1];
  const auto& fixed = found[found[0].pci == "0000:10:00.0" ? 1 : 0];
  EXPECT_EQ(both.pci, "0000:10:00.0");
  EXPECT_THAT(both.types, ElementsAre("auto (ib)", "eth"));
  EXPECT_FALSE(both.fixed);
  EXPECT_EQ(fixed.pci, "0000:20:00.0");
  EXPECT_THAT(fixed.types, ElementsAre("ib")) << "it has one port";
  EXPECT_TRUE(fixed.fixed) << "SR-IOV is on";
}

TEST_F(Mlx4PortTypes, AreWrittenAsALine) {
  tree.put(std::string(kAdapter) + "mlx4_port1", "");
  EXPECT_TRUE(ports->set_type("0000:10:00.0", 1, "eth"));
  EXPECT_EQ(tree.get(std::string(kAdapter) + "mlx4_port1"), "eth\n");
  const auto absent = ports->set_type("0000:10:00.0", 2, "eth");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().sys_errno, ENOENT);
  EXPECT_THAT(absent.error().message, HasSubstr("0000:10:00.0: make port 2 eth: "));
}

TEST_F(Mlx4PortTypes, AreNotWrittenElsewhere) {
  tree.put("/victim", "before\n");
  tree.put("/sys/bus/pci/other/mlx4_port1", "before\n");
  tree.put(std::string(kDevices) + "x/mlx4_port2", "");
  tree.link(std::string(kAdapter) + "mlx4_port1", tree.at("/victim"));
  for (const auto* pci : {"", "../other", "0000:10:00.0/..", "/"}) {
    const auto refused = ports->set_type(pci, 1, "eth");
    ASSERT_FALSE(refused) << pci;
    EXPECT_EQ(refused.error().code, base::Code::kInvalid) << pci;
    EXPECT_THAT(refused.error().message, HasSubstr(": not a PCI address")) << pci;
  }
  const auto linked = ports->set_type("0000:10:00.0", 1, "eth");
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().sys_errno, ELOOP);
  EXPECT_EQ(tree.get("/victim"), "before\n");
  EXPECT_EQ(tree.get("/sys/bus/pci/other/mlx4_port1"), "before\n");
}

}  // namespace
}  // namespace rdmacfg::system
