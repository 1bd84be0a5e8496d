// SPDX-License-Identifier: Apache-2.0
#include "fabric/fabric.hpp"

#include <gmock/gmock.h>

#include "fabric/names.hpp"
#include "fakes/fabrics.hpp"

namespace rdmacfg::fabric {
namespace {

TEST(Abilities, AreNamedByTheirBest) {
  EXPECT_EQ(width_text(0x05), "4X");
  EXPECT_EQ(width_text(0x10), "12X");
  EXPECT_EQ(speed_text(0x7f), "HDR");
  EXPECT_EQ(speed_text(0), "-");
  EXPECT_EQ(width_text(0xffff), "-");
  EXPECT_EQ(text_of(Abilities{0x04, 0x80}), "4X NDR");
  EXPECT_EQ(text_of(Abilities{0x04, 0x180}), "4X XDR");
  EXPECT_EQ(text_of(Abilities{}), "");
  EXPECT_EQ(rate_text(25), "2.5 Gbit/s");
  EXPECT_EQ(rate_text(1000), "100 Gbit/s");
  EXPECT_EQ(state_text(-1), "unknown");
  EXPECT_EQ(physical_text(99), "unknown");
}

TEST(Names, FoldByNumber) {
  EXPECT_EQ(fold_names({}), "");
  EXPECT_EQ(fold_names({"login", "n2", "n1", "n3", "n3"}), "login n[1-3]");
  EXPECT_EQ(fold_names({"n9", "n10", "n11"}), "n[9-11]");
  EXPECT_EQ(fold_names({"n0", "n1", "n9", "n10"}), "n[0-1,9-10]");
  EXPECT_EQ(fold_names({"n099", "n100", "n101", "n1"}), "n1 n[099-101]");
  EXPECT_EQ(fold_names({"node1 mlx5_0", "node2 mlx5_0", "node4 mlx5_0"}), "node[1-2,4] mlx5_0");
  EXPECT_EQ(fold_names({"x12345678901234567890"}), "x12345678901234567890");
}

TEST(Index, TellsNodesOfOneNameApart) {
  auto fabric = fakes::fat_tree(4);
  const auto guid = fabric.nodes[0].guid;
  EXPECT_EQ(Index(fabric).name(End{guid, 1}), "node001/1");
  fakes::node_called(fabric, "node002")->description = "node001";
  const Index index(fabric);
  EXPECT_EQ(index.name(guid), "node001 (00:00:00:00:00:10:00:00)");
  EXPECT_EQ(index.called("node001").size(), 2U);
  EXPECT_EQ(index.called("00:00:00:00:00:10:00:00").size(), 1U);
  EXPECT_EQ(index.called("node001 (00:00:00:00:00:10:00:00)").size(), 1U);
  EXPECT_TRUE(index.called("node003 (00:00:00:00:00:10:00:00)").empty());
  EXPECT_EQ(index.called("leaf1").size(), 1U);
  EXPECT_TRUE(index.called("leaf").empty());
  EXPECT_EQ(index.name(0x42), "00:00:00:00:00:00:00:42");
  EXPECT_EQ(index.owner(0x100001), (End{guid, 1}));
  EXPECT_EQ(index.owner(0x42), std::nullopt);
}

TEST(Links, AreEachThereOnce) { EXPECT_EQ(links_of(fakes::fat_tree(64)).size(), 64U + 8U); }

TEST(Links, BelowTheirBestSayWhy) {
  auto fabric = fakes::fat_tree(8);
  EXPECT_TRUE(links_below_best(fabric).empty());
  // Trained down although both ends have 4X enabled.
  fakes::port_of(fabric, "node002", 1)->active.widths = 0x01;
  fakes::port_of(fabric, "leaf2", 1)->active.widths = 0x01;
  // Only one end has 4X enabled.
  fakes::port_of(fabric, "node003", 1)->active.widths = fakes::port_of(fabric, "node003", 1)->enabled.widths =
      0x01;
  fakes::port_of(fabric, "leaf3", 1)->active.widths = 0x01;
  // Both ends are kept at SDR.
  for (auto* port : {fakes::port_of(fabric, "node004", 1), fakes::port_of(fabric, "leaf4", 1)})
    port->active.speeds = port->enabled.speeds = 0x01;
  const auto below = links_below_best(fabric);
  ASSERT_EQ(below.size(), 3U);
  EXPECT_EQ(below[0].why, Shortfall::kTrained);
  EXPECT_EQ(text_of(below[0].active), "1X QDR");
  EXPECT_EQ(text_of(below[0].best), "4X QDR");
  EXPECT_EQ(below[1].why, Shortfall::kOneEnd);
  EXPECT_EQ(below[2].why, Shortfall::kLimited);
}

TEST(Links, WhoseEndsDisagreeRunAtTheWorse) {
  auto fabric = fakes::fat_tree(4);
  fakes::port_of(fabric, "leaf2", 1)->active.widths = 0x01;
  const auto below = links_below_best(fabric);
  ASSERT_EQ(below.size(), 1U);
  EXPECT_EQ(text_of(below[0].active), "1X QDR");
}

TEST(Links, ThatAreDownAreNotSlow) {
  auto fabric = fakes::fat_tree(4);
  for (auto* port : {fakes::port_of(fabric, "node002", 1), fakes::port_of(fabric, "leaf2", 1)}) {
    port->state = kStateDown;
    port->active = {};
  }
  EXPECT_TRUE(links_below_best(fabric).empty());
}

TEST(Partitions, AreThoseOfThePorts) {
  auto fabric = fakes::fat_tree(4);
  fakes::port_of(fabric, "node001", 1)->pkeys = {0xffff, 0x8002};
  fakes::port_of(fabric, "node002", 1)->pkeys = {0x7fff, 0x0002};
  fakes::port_of(fabric, "node003", 1)->pkeys = std::nullopt;
  const auto all = partitions_of(fabric);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].partition, 0x0002);
  EXPECT_EQ(all[0].full.size(), 1U);
  EXPECT_EQ(all[0].limited.size(), 1U);
  EXPECT_EQ(all[1].limited.size(), 1U);
}

TEST(Words, AreThereForEveryNumber) {
  EXPECT_EQ(state_text(-1), "unknown");
  EXPECT_EQ(state_text(4), "active");
  EXPECT_EQ(state_text(5), "unknown");
  EXPECT_EQ(physical_text(-1), "unknown");
  EXPECT_EQ(physical_text(5), "link up");
  EXPECT_EQ(physical_text(8), "unknown");
  EXPECT_EQ(rate_text(0), "-");
  EXPECT_EQ(rate_text(25), "2.5 Gbit/s");
  EXPECT_EQ(rate_text(560), "56 Gbit/s");
  EXPECT_EQ(text_of(Abilities{}), "");
  EXPECT_EQ(text_of(Abilities{fakes::kOnly4x, 0}), "4X -");
}

TEST(Index, SaysWhyAPortIsNotThere) {
  auto fabric = fakes::fat_tree(4);
  fakes::node_called(fabric, "node003")->description = "node003 mlx5_0";
  const Index index(fabric);
  const auto why_not = [&](std::string_view text) {
    std::string why;
    return index.called_port(text, why) ? std::string("it is") : why;
  };
  EXPECT_EQ(why_not("node001/1"), "it is");
  EXPECT_EQ(why_not("nobody/1"), "is not in the fabric");
  EXPECT_EQ(why_not("node003/1"), "is not in the fabric; did you mean \"node003 mlx5_0\"?");
  for (const auto* text : {"node001/0", "node001/255", "node001/x", "node001"}) {
    EXPECT_NE(why_not(text), "it is") << text;
    EXPECT_NE(why_not(text), "") << text;
  }
}

}  // namespace
}  // namespace rdmacfg::fabric
