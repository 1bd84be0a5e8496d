// SPDX-License-Identifier: Apache-2.0
// RoCE defaults that somebody else has changed through a folder of configfs that is gone again.
#include <cerrno>

#include "contract/stage.hpp"
#include "kinds/abilities.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kLookedHost =
    R"({ "rdma_cm": true, "devices": [ { "name": "mlx5_0", "pci": "0000:11:00.0",
  "driver": "mlx5_core", "ports": [ { "guid": "0002:c903:0031:78f2", "link_layer": "Ethernet", "netdev": "eth1" } ] } ],
  "links": [ { "name": "eth1", "up": true } ] })";
constexpr const char* kRoce = "version = 1\n[[roce]]\ndevice = \"mlx5_0\"\nport = 1\nmode = \"v2\"\n";

struct RoceHost {
  RoceHost() {
    EXPECT_TRUE(applied(stage.apply()));
    stage.kernel().faults.clear();
  }

  void somebody_writes(const std::string& gid_type, int tos) {
    auto& machine = stage.kernel().machine;
    ASSERT_EQ(machine.make_folder("mlx5_0"), 0);
    ASSERT_EQ(machine.set_roce_mode("mlx5_0", 1, gid_type), 0);
    ASSERT_EQ(machine.set_roce_tos("mlx5_0", 1, tos), 0);
    machine.rdma_cm_folders.erase("mlx5_0");
  }

  base::Result<void> look() {
    auto host = stage.kernel().host();
    return kinds::ability<kinds::HasHiddenState>(kinds::find("roce"))->refresh_hidden(host, {});
  }

  Stage stage{Scenario{.name = "looked", .host = kLookedHost, .documents = {kRoce}}};
};

class Looked : public testing::Test, protected RoceHost {};

TEST_F(Looked, WhatWasWrittenIsFoundAndRepaired) {
  somebody_writes("IB/RoCE v1", 8);
  EXPECT_TRUE(stage.diff().plan.empty()) << "observing makes no folder";
  ASSERT_TRUE(look());
  EXPECT_TRUE(stage.kernel().machine.rdma_cm_folders.empty());
  const auto plan = stage.diff().plan;
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(model::text_of(model::value_of(plan.changes[0].before, "mode")), "v1") << "as it really was";
  EXPECT_EQ(plan.changes[0].fields, std::vector<std::string>{"mode"}) << "the ToS is nobody's business";
  EXPECT_TRUE(applied(stage.apply()));
  EXPECT_TRUE(stage.diff().plan.empty());
  ASSERT_TRUE(look());
  EXPECT_TRUE(stage.diff().plan.empty());
}

TEST_F(Looked, NothingIsLoadedForIt) {
  stage.kernel().machine.rdma_cm = 0;
  ASSERT_TRUE(look());
  EXPECT_TRUE(stage.kernel().faults.log().empty());
}

TEST_F(Looked, AFolderOfOthersStays) {
  somebody_writes("IB/RoCE v1", 0);
  ASSERT_EQ(stage.kernel().machine.make_folder("mlx5_0"), 0);
  ASSERT_TRUE(look());
  EXPECT_TRUE(stage.kernel().machine.rdma_cm_folders.contains("mlx5_0"));
  EXPECT_EQ(stage.diff().plan.changes.size(), 1U);
}

TEST_F(Looked, WhateverFailsTheNextLookFinds) {
  somebody_writes("IB/RoCE v1", 0);
  ASSERT_TRUE(look());
  const auto calls = stage.kernel().faults.log().size();
  ASSERT_GT(calls, 0U);
  for (std::size_t n = 1; n <= calls; ++n) {
    RoceHost other;
    other.somebody_writes("IB/RoCE v1", 0);
    other.stage.kernel().faults.fail_at(n, EIO);
    (void)other.look();
    SCOPED_TRACE(n);
    other.stage.kernel().faults.clear();
    ASSERT_TRUE(other.look());
    EXPECT_TRUE(other.stage.kernel().machine.rdma_cm_folders.empty());
    EXPECT_EQ(other.stage.diff().plan.changes.size(), 1U);
  }
}

}  // namespace
}  // namespace rdmacfg::contract
