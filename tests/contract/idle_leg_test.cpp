// SPDX-License-Identifier: Apache-2.0
// A bond of two adapters that is no RoCE LAG: its idle port has no GIDs (roce_gid_mgmt.c), and takes RoCE
// defaults all the same (cma_set_default_gid_type() asks what the driver can do).
#include <gmock/gmock.h>

#include "contract/apply_text.hpp"

namespace rdmacfg::contract {
namespace {

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
  const auto report = apply_text(*kernel, "[[roce]]\ninterface = \"bond0\"\ntos = 106\n", false);
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  for (const auto* device : {"bnxt_re0", "bnxt_re1"})
    EXPECT_EQ(kernel->machine.device(device)->ports.at(0).roce_tos, 106) << device;
}

}  // namespace
}  // namespace rdmacfg::contract
