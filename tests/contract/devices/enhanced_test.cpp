// SPDX-License-Identifier: Apache-2.0
// Enhanced IPoIB (mlx5): how its children differ from those of others.
#include <gmock/gmock.h>

#include "contract/apply_text.hpp"

namespace rdmacfg::contract {
namespace {

/// A port's interface that is down, with a child that is up.
std::string down_under_a_child(bool enhanced) {
  return std::string(R"({ "devices": [{ "name": "mlx5_0", "driver": "mlx5_core", "connected": )") +
         (enhanced ? "false" : "true") +
         R"(, "ports": [{ "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"],
            "interface": { "name": "ib0", "up": false,
                           "children": [{ "pkey": "0x8002", "name": "ib0.8002", "up": true }] } }] }] })";
}

std::vector<std::string> warnings_of_the_child(FakeKernel& kernel) {
  const auto document = config::parse_texts(
      {{"config.toml",
        "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n[[ipoib.pkey]]\npkey = 0x8002\n"}},
      "node1", kinds::grammar());
  auto host = kernel.host();
  for (const auto& resource : core::diff(document, host).resources) {
    if (resource.key.kind == "pkey") return resource.warnings;
  }
  return {"no such resource"};
}

// mellanox/mlx5/core/ipoib/ipoib_vlan.c:198-245: the parent's queue pair takes the child's packets in.
TEST(EnhancedIpoib, AChildThatIsUpOverAPortThatIsDownIsWarnedOf) {
  const auto kernel = FakeKernel::parse(down_under_a_child(true));
  EXPECT_THAT(warnings_of_the_child(*kernel),
              testing::ElementsAre(testing::HasSubstr("ib0 is down: ib0.8002 is up but receives nothing")));
  kernel->set_up("ib0");
  EXPECT_THAT(warnings_of_the_child(*kernel), testing::IsEmpty());
}

TEST(EnhancedIpoib, OthersHaveQueuePairsOfTheirOwn) {
  const auto kernel = FakeKernel::parse(down_under_a_child(false));
  EXPECT_THAT(warnings_of_the_child(*kernel), testing::IsEmpty());
}

// hfi1: bit 0x80000 of cap_mask (HFI1_CAP_AIP) is on by default.
TEST(EnhancedIpoib, OmniPathIsToldItsOwnWayToConnectedMode) {
  const auto kernel = FakeKernel::parse(
      R"({ "devices": [{ "name": "hfi1_0", "driver": "hfi1", "connected": false, "ports": [
           { "guid": "00:11:75:01:01:7a:1b:2c", "interface": { "name": "ib0", "up": true } }] }] })");
  const auto report =
      apply_text(*kernel, "[[ipoib]]\nguid = \"00:11:75:01:01:7a:1b:2c\"\nmode = \"connected\"\n");
  EXPECT_EQ(report.exit, Exit::kError) << text_of(report);
  ASSERT_FALSE(report.diagnostics.empty());
  EXPECT_THAT(report.diagnostics.front().message, testing::HasSubstr("its IPoIB is accelerated (AIP)"));
  EXPECT_THAT(report.diagnostics.front().hint, testing::HasSubstr("cap_mask without the bit 0x80000"));
}

}  // namespace
}  // namespace rdmacfg::contract
