// SPDX-License-Identifier: Apache-2.0
// A low MTU after an apply is the fabric's limit, or somebody else's doing: told apart by asking once more.
#include "contract/stage.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kGuid = "00:02:c9:03:00:31:78:f2";

/// `kind`: "ipoib" or "pkey"; the fabric's group has 4096 bytes, or 2048.
Scenario scenario(const std::string& kind, int group) {
  Scenario out;
  out.host = fmt::format(
      R"({{"devices": [{{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
           {{"guid": "{}", "mtu": 4096, "group_mtu": {}, "pkeys": ["0xffff", "0x8002"], "interface": {{
             "name": "ib0", "up": true, "mtu": 1500,
             "children": [{{"pkey": "0x8002", "mtu": 1500, "up": true}}]}}}}]}}]}})",
      kGuid, group);
  out.documents = {fmt::format("[[ipoib]]\nguid = \"{}\"\n", kGuid) +
                   (kind == "ipoib" ? "mtu = 4092\n" : "  [[ipoib.pkey]]\n  pkey = 0x8002\n  mtu = 4092\n")};
  return out;
}

class Limits : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] std::string link() const { return GetParam() == std::string("ipoib") ? "ib0" : "ib0.8002"; }
};

TEST_P(Limits, WhatTheGroupAllowsIsALimit) {
  Stage stage(scenario(GetParam(), 2048));
  const auto report = stage.apply();
  EXPECT_EQ(report.exit, Exit::kPartly) << text_of(report);
  EXPECT_EQ(stage.kernel().link(link()).mtu, 2044);
  EXPECT_TRUE(stage.diff().plan.empty());
}

TEST_P(Limits, WhatSomebodyElseSetBackMeanwhileIsNot) {
  Stage stage(scenario(GetParam(), 4096));
  core::Options options;
  options.progress = [&](std::size_t done, std::size_t all, const std::string&) {
    if (done == all) stage.kernel().set_mtu(link(), 2044);
  };
  const auto report = stage.apply(options);
  EXPECT_EQ(report.exit, Exit::kUndone) << text_of(report);
  ASSERT_TRUE(report.error);
  EXPECT_NE(report.error->message.find("mtu is 2044, although the kernel accepted 4092"), std::string::npos)
      << report.error->message;
  ASSERT_EQ(report.plan.changes.size(), 1U);
  EXPECT_EQ(report.plan.changes.front().overruled, std::vector<std::string>{"mtu"});
}

// mlx5i_change_mtu() closes and opens all channels, also for the same MTU.
TEST(LimitsOfEnhanced, AreNotProbedByAnotherWrite) {
  auto limited = scenario("ipoib", 2048);
  const std::string verbose = "\"name\": \"mlx4_0\",";
  limited.host.replace(limited.host.find(verbose), verbose.size(), verbose + " \"connected\": false,");
  Stage stage(limited);
  const auto report = stage.apply();
  EXPECT_EQ(report.exit, Exit::kPartly) << text_of(report);
  const auto& log = stage.kernel().faults.log();
  EXPECT_EQ(std::count_if(log.begin(), log.end(),
                          [](const auto& call) { return call.find("mtu") != std::string::npos; }),
            1);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Limits, testing::Values("ipoib", "pkey"));

}  // namespace
}  // namespace rdmacfg::contract
