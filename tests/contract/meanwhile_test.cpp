// SPDX-License-Identifier: Apache-2.0
// What is there only while a plan is carried out, or is another one by then, is no part of it: the report
// says so, and the next apply does it.
#include <gtest/gtest.h>

#include <algorithm>

#include "contract/commit_host.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kHost = R"({
  "devices": [{ "name": "mlx4_0", "driver": "mlx4_core", "pci": "0000:10:00.0", "node_guid": "0002:c903:0031:78f0",
    "ports": [{ "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff"], "interface": { "name": "ib0" } }] },
              { "name": "mlx5_0", "driver": "mlx5_core", "pci": "0000:11:00.0", "node_guid": "0002:c903:0031:78e0",
    "ports": [{ "guid": "0002:c903:0031:78e2", "link_layer": "Ethernet", "netdev": "ens1" }] }]
})";
constexpr const char* kDocument = R"(version = 1
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
mode = "connected"
mtu = 65520
[[roce]]
device = "mlx5_0"
port = 1
mode = "v1"
)";

TEST(Meanwhile, ADeviceThatIsAnotherOneByThenIsPending) {
  Host host(FakeKernel::parse(kHost));
  auto& kernel = host.kernel();
  const auto pci = kernel.machine.device("mlx5_0")->pci;
  kernel.machine.device("mlx5_0")->pci.clear();
  kernel.faults.before(1, [&] { kernel.machine.device("mlx5_0")->pci = pci; });
  const auto report = host.commit(kDocument);
  EXPECT_EQ(report.exit, model::Exit::kPartly) << text_of(report);
  EXPECT_TRUE(std::any_of(report.resources.begin(), report.resources.end(), [](const auto& one) {
    return one.key.kind == "roce" && one.status == model::Status::kPending;
  })) << text_of(report);
  kernel.faults.clear();
  EXPECT_EQ(host.commit(kDocument).exit, model::Exit::kOk);
}

}  // namespace
}  // namespace rdmacfg::contract
