// SPDX-License-Identifier: Apache-2.0
// Resources that appear only while a plan is carried out, or are others by then, are planned once more in the
// same apply; later changes wait for the next one, and the report says so.
#include <gtest/gtest.h>

#include <algorithm>

#include "contract/commit_host.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kMeanwhileHost = R"({
  "devices": [{ "name": "mlx4_0", "driver": "mlx4_core", "pci": "0000:10:00.0", "node_guid": "0002:c903:0031:78f0",
    "ports": [{ "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff"], "interface": { "name": "ib0" } }] },
              { "name": "mlx5_0", "driver": "mlx5_core", "pci": "0000:11:00.0", "node_guid": "0002:c903:0031:78e0",
    "ports": [{ "guid": "0002:c903:0031:78e2", "link_layer": "Ethernet", "netdev": "ens1" }] }]
})";
constexpr const char* kMeanwhileDocument = R"(version = 1
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
mode = "connected"
mtu = 65520
[[roce]]
device = "mlx5_0"
port = 1
mode = "v1"
)";

bool roce_is(const model::Report& report, model::Status status) {
  return std::any_of(report.resources.begin(), report.resources.end(), [&](const auto& resource) {
    return resource.key.kind == "roce" && resource.status == status;
  });
}

TEST(Meanwhile, ADeviceThatIsAnotherOneByThenIsPlannedOnceMore) {
  Host host(FakeKernel::parse(kMeanwhileHost));
  auto& kernel = host.kernel();
  const auto pci = kernel.machine.device("mlx5_0")->pci;
  kernel.machine.device("mlx5_0")->pci.clear();
  kernel.faults.before(1, [&] { kernel.machine.device("mlx5_0")->pci = pci; });
  const auto report = host.commit(kMeanwhileDocument);
  EXPECT_EQ(report.exit, model::Exit::kOk) << text_of(report);
  EXPECT_TRUE(roce_is(report, model::Status::kDone)) << text_of(report);
  kernel.faults.clear();
  EXPECT_EQ(host.commit(kMeanwhileDocument).exit, model::Exit::kOk);
  EXPECT_EQ(kernel.faults.calls(), 0U);
}

TEST(Meanwhile, OnceMoreIsOnce) {
  const auto comes_late = [](FakeKernel& kernel) {
    auto& device = *kernel.machine.device("mlx5_0");
    kernel.faults.before(1, [&device, pci = device.pci] { device.pci = pci; });
    device.pci.clear();
  };
  Host first(FakeKernel::parse(kMeanwhileHost));
  comes_late(first.kernel());
  (void)first.commit(kMeanwhileDocument);
  const auto& log = first.kernel().faults.log();
  const auto begins = [](const std::string& call) { return call.ends_with("journal.json: write"); };
  const auto again =
      std::find_if(std::find_if(log.begin(), log.end(), begins) + 1, log.end(), begins) - log.begin();
  ASSERT_LT(static_cast<std::size_t>(again), log.size());

  Host host(FakeKernel::parse(kMeanwhileHost));
  auto& kernel = host.kernel();
  comes_late(kernel);
  kernel.faults.before(static_cast<std::size_t>(again) + 1,
                       [&] { kernel.machine.device("mlx5_0")->pci = "0000:12:00.0"; });
  const auto report = host.commit(kMeanwhileDocument);
  EXPECT_EQ(report.exit, model::Exit::kPartly) << text_of(report);
  EXPECT_TRUE(roce_is(report, model::Status::kPending)) << text_of(report);
  kernel.faults.clear();
  EXPECT_EQ(host.commit(kMeanwhileDocument).exit, model::Exit::kOk);
}

}  // namespace
}  // namespace rdmacfg::contract
