// SPDX-License-Identifier: Apache-2.0
// A sub-function of mlx5 hangs on the auxiliary bus and has no PCI address: its RoCE defaults are known by its
// name, which the same apply may change.
#include "contract/apply_text.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kSubFunction = R"({ "rdma_cm": true, "devices": [
    { "name": "mlx5_2", "driver": "mlx5_core.sf", "node_guid": "0002:c903:0031:7931", "ports": [
      { "guid": "0002:c903:0031:7932", "link_layer": "Ethernet", "netdev": "sf0" }] }],
  "links": [{ "name": "sf0", "up": true }] })";
constexpr const char* kNamedAndMarked =
    "[[rdma_device]]\nnode_guid = \"0002:c903:0031:7931\"\nname = \"fab\"\n"
    "[[roce]]\ndevice = \"fab\"\nport = 1\ntos = 106\n";

TEST(SubFunction, GetsItsNameAndItsRoceDefaultsInOneApply) {
  const auto kernel = FakeKernel::parse(kSubFunction);
  const auto report = apply_text(*kernel, kNamedAndMarked, false);
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  ASSERT_NE(kernel->machine.device("fab"), nullptr);
  EXPECT_EQ(kernel->machine.device("fab")->ports.at(0).roce_tos, 106);
  kernel->faults.clear();
  const auto again = apply_text(*kernel, kNamedAndMarked, false);
  EXPECT_EQ(again.exit, Exit::kOk) << text_of(again);
  EXPECT_EQ(kernel->faults.calls(), 0U);
}

}  // namespace
}  // namespace rdmacfg::contract
