// SPDX-License-Identifier: Apache-2.0
#include "kinds/ports/selector.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::kinds {
namespace {

bool finds(const std::string& pattern, const std::string& driver) {
  PortMatch match;
  match.driver = pattern;
  system::RdmaDevice device;
  device.driver = driver;
  return matches(match, device, {});
}

TEST(Selector, TakesTheRdmaDriverThatSitsOnAnother) {
  EXPECT_TRUE(finds("irdma", "ice"));
  EXPECT_TRUE(finds("irdma", "i40e"));
  EXPECT_TRUE(finds("bnxt_re", "bnxt_en"));
  EXPECT_TRUE(finds("hns_roce_hw_v2", "hns3"));
  EXPECT_TRUE(finds("qedr", "qede"));
  EXPECT_TRUE(finds("mlx5_ib", "mlx5_core"));
  EXPECT_TRUE(finds("mana_ib", "mana"));
  EXPECT_TRUE(finds("usnic_verbs", "enic"));
  EXPECT_TRUE(finds("ionic_rdma", "ionic"));
  EXPECT_TRUE(finds("ice", "ice"));
  EXPECT_FALSE(finds("irdma", "mlx5_core"));
  EXPECT_FALSE(finds("ice", "i40e"));
}

TEST(Selector, ASubFunctionIsNotItsFunction) {
  EXPECT_FALSE(finds("mlx5_core", "mlx5_core.sf"));
  EXPECT_TRUE(finds("mlx5_core.sf", "mlx5_core.sf"));
  EXPECT_TRUE(finds("mlx5_core*", "mlx5_core.sf"));
}

TEST(Selector, TellsLinkLayersApart) {
  PortMatch match;
  system::RdmaPort port;
  port.link_layer = "Ethernet";
  EXPECT_TRUE(matches(match, {}, port)) << "any";
  match.link_layer = model::LinkLayer{"Ethernet"};
  EXPECT_TRUE(matches(match, {}, port));
  port.link_layer = "InfiniBand";
  EXPECT_FALSE(matches(match, {}, port));
  match.link_layer = model::LinkLayer{"InfiniBand"};
  EXPECT_TRUE(matches(match, {}, port));
}

}  // namespace
}  // namespace rdmacfg::kinds
