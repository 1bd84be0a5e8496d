// SPDX-License-Identifier: Apache-2.0
// ConnectX-3 boards without DPDP: one type for both ports (mellanox/mlx4/main.c:307, 1177 of Linux 6.1).
#include <gmock/gmock.h>

#include "contract/apply_text.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kPci = "0000:20:00.0";
constexpr const char* kOldBoard =
    R"({ "mlx4_ports": { "0000:20:00.0": ["ib", "ib"] }, "mlx4_without_dpdp": ["0000:20:00.0"] })";

Report set_ports(FakeKernel& kernel, const std::string& types) {
  return apply_text(kernel, "[[mlx4_port]]\npci = \"20:00.0\"\nports = " + types + "\n");
}

TEST(OldBoard, BothPortsChangeTogether) {
  const auto kernel = FakeKernel::parse(kOldBoard);
  const auto report = set_ports(*kernel, R"(["eth", "eth"])");
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_THAT(kernel->mlx4_ports.adapters.at(kPci), testing::ElementsAre("eth", "eth"));
  EXPECT_EQ(set_ports(*kernel, R"(["ib", "ib"])").exit, Exit::kOk);
  EXPECT_THAT(kernel->mlx4_ports.adapters.at(kPci), testing::ElementsAre("ib", "ib"));
}

TEST(OldBoard, ATypeThatWasRefusedIsNotKeptInMind) {
  const auto kernel = FakeKernel::parse(kOldBoard);
  const auto report = set_ports(*kernel, R"(["ib", "eth"])");
  EXPECT_FALSE(applied(report)) << text_of(report);
  EXPECT_THAT(kernel->mlx4_ports.adapters.at(kPci), testing::ElementsAre("ib", "ib"));
  // Else the next write of a type, whoever's, would bring it.
  EXPECT_TRUE(kernel->mlx4_ports.in_mind[kPci].empty());
}

TEST(FixedPorts, TypesThatSriovFixesAreRefusedBeforeAnyWrite) {
  const auto kernel = FakeKernel::parse(R"({ "mlx4_ports": { "0000:20:00.0": ["ib", "ib"] } })");
  kernel->mlx4_ports.fixed.insert(kPci);
  const auto report = set_ports(*kernel, R"(["eth", "eth"])");
  EXPECT_EQ(report.exit, Exit::kError) << text_of(report);
  EXPECT_EQ(kernel->faults.calls(), 0U);
  ASSERT_FALSE(report.diagnostics.empty());
  EXPECT_THAT(report.diagnostics.front().message, testing::HasSubstr("has SR-IOV enabled"));
  EXPECT_EQ(set_ports(*kernel, R"(["ib", "ib"])").exit, Exit::kOk) << "as they are, only for the next boot";
}

}  // namespace
}  // namespace rdmacfg::contract
