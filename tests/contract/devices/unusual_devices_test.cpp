// SPDX-License-Identifier: Apache-2.0
// Devices of an unusual sort: the idle port of a bond, sub-functions, software devices over a VLAN.
#include <gmock/gmock.h>

#include "contract/apply_text.hpp"

namespace rdmacfg::contract {
namespace {

// A bond of two adapters without a RoCE LAG: its idle port has no GIDs (roce_gid_mgmt.c), and takes RoCE
// defaults all the same (cma_set_default_gid_type() asks what the driver can do).
constexpr const char* kIdleLeg = R"({ "rdma_cm": true, "devices": [
    { "name": "bnxt_re0", "driver": "bnxt_en", "pci": "0000:11:00.0", "node_guid": "0002:c903:0031:7901", "ports": [
      { "guid": "0002:c903:0031:7902", "link_layer": "Ethernet", "netdev": "bond0", "in_bond": "ens1f0" }] },
    { "name": "bnxt_re1", "driver": "bnxt_en", "pci": "0000:11:00.1", "node_guid": "0002:c903:0031:7911", "ports": [
      { "guid": "0002:c903:0031:7912", "link_layer": "Ethernet", "netdev": "ens1f1" }] }],
  "links": [{ "name": "bond0", "kind": "bond", "up": true },
            { "name": "ens1f0", "master": "bond0" }, { "name": "ens1f1", "master": "bond0" }] })";

TEST(IdleLeg, GetsItsRoceDefaultsLikeTheOther) {
  const auto kernel = FakeKernel::parse(kIdleLeg);
  kernel->machine.device("bnxt_re1")->ports.at(0).gid_types.clear();
  const auto report = apply_text(*kernel, "[[roce]]\ninterface = \"bond0\"\ntos = 106\n");
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  for (const auto* device : {"bnxt_re0", "bnxt_re1"})
    EXPECT_EQ(kernel->machine.device(device)->ports.at(0).roce_tos, 106) << device;
}

// The uplink of a switch is often in a bond, and has no GIDs for another reason: rdma_cm has no such port.
constexpr const char* kSwitchLeg = R"({ "rdma_cm": true, "devices": [
    { "name": "mlx5_0", "driver": "mlx5_core", "pci": "0000:12:00.0", "node_guid": "0002:c903:0031:7921", "ports": [
      { "guid": "0002:c903:0031:7922", "link_layer": "Ethernet", "netdev": "ens2f0", "gid_types": [] }] }],
  "links": [{ "name": "bond0", "kind": "bond", "up": true }, { "name": "ens2f0", "master": "bond0" }],
  "files": { "/sys/class/net/ens2f0/phys_switch_id": "0002c9030031792200\n" } })";

TEST(SwitchLeg, WaitsUntilItHasGids) {
  const auto kernel = FakeKernel::parse(kSwitchLeg);
  const auto report = apply_text(*kernel, "[[roce]]\ndevice = \"mlx5_0\"\nport = 1\ntos = 106\n");
  EXPECT_EQ(report.exit, Exit::kPartly) << text_of(report);
  EXPECT_EQ(kernel->faults.calls(), 0U);
  ASSERT_FALSE(report.resources.empty());
  EXPECT_THAT(report.resources.front().reason, testing::HasSubstr("is in switchdev mode"));
}

// A sub-function of mlx5 hangs on the auxiliary bus and has no PCI address: its RoCE defaults are known by
// its name, which the same apply may change.
constexpr const char* kSubFunction = R"({ "rdma_cm": true, "devices": [
    { "name": "mlx5_2", "driver": "mlx5_core.sf", "node_guid": "0002:c903:0031:7931", "ports": [
      { "guid": "0002:c903:0031:7932", "link_layer": "Ethernet", "netdev": "sf0" }] }],
  "links": [{ "name": "sf0", "up": true }] })";
constexpr const char* kNamedAndMarked =
    "[[rdma_device]]\nnode_guid = \"0002:c903:0031:7931\"\nname = \"fab\"\n"
    "[[roce]]\ndevice = \"fab\"\nport = 1\ntos = 106\n";

TEST(SubFunction, GetsItsNameAndItsRoceDefaultsInOneApply) {
  const auto kernel = FakeKernel::parse(kSubFunction);
  const auto report = apply_text(*kernel, kNamedAndMarked);
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  ASSERT_NE(kernel->machine.device("fab"), nullptr);
  EXPECT_EQ(kernel->machine.device("fab")->ports.at(0).roce_tos, 106);
  kernel->faults.clear();
  const auto again = apply_text(*kernel, kNamedAndMarked);
  EXPECT_EQ(again.exit, Exit::kOk) << text_of(again);
  EXPECT_EQ(kernel->faults.calls(), 0U);
}

// Soft-RoCE over a VLAN: rxe_newlink() of the kernel refuses it with a bare EPERM.
constexpr const char* kVlanHost = R"({ "soft_types": ["rxe", "siw"], "links": [
  { "name": "eth0", "up": true }, { "name": "vlan5", "kind": "vlan", "parent": "eth0", "up": true } ] })";

Report make_soft(FakeKernel& kernel, const std::string& type) {
  return apply_text(kernel,
                    "[[soft_rdma]]\ninterface = \"vlan5\"\ntype = \"" + type + "\"\nname = \"soft0\"\n");
}

TEST(SoftVlan, RxeIsRefusedBeforeAnyWrite) {
  const auto kernel = FakeKernel::parse(kVlanHost);
  const auto report = make_soft(*kernel, "rxe");
  EXPECT_EQ(report.exit, Exit::kError) << text_of(report);
  EXPECT_EQ(kernel->faults.calls(), 0U);
  ASSERT_FALSE(report.diagnostics.empty());
  EXPECT_THAT(report.diagnostics.front().message, testing::HasSubstr("vlan5 is a VLAN"));
  EXPECT_THAT(report.diagnostics.front().hint, testing::HasSubstr("interface = \"eth0\""));
}

TEST(SoftVlan, SiwIsMade) {
  const auto kernel = FakeKernel::parse(kVlanHost);
  const auto report = make_soft(*kernel, "siw");
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
}

}  // namespace
}  // namespace rdmacfg::contract
