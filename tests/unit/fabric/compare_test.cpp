// SPDX-License-Identifier: Apache-2.0
#include "fabric/compare.hpp"

#include <gmock/gmock.h>

#include <utility>

#include "config/document.hpp"
#include "fabric/cables.hpp"
#include "fakes/fabrics.hpp"

namespace rdmacfg::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> texts_of(const std::vector<Difference>& all) {
  std::vector<std::string> out;
  for (const auto& difference : all)
    out.push_back(fmt::format("{} {}: {} > {}", difference.what, difference.object, difference.before,
                              difference.after));
  return out;
}

std::vector<std::string> checks_of(const Fabric& fabric) {
  std::vector<std::string> out;
  for (const auto& finding : findings_of(fabric))
    out.push_back(fmt::format("{} {}", finding.check, finding.object));
  return out;
}

TEST(Findings, OfAGoodFabricAreNone) { EXPECT_THAT(checks_of(fakes::fat_tree(64)), IsEmpty()); }

TEST(Findings, OfTwoPlantedFaultsAreTheseTwo) {
  auto fabric = fakes::fat_tree(64);
  fakes::port_of(fabric, "node017", 1)->active.widths = 0x01;
  fakes::port_of(fabric, "leaf1", 5)->active.widths = 0x01;
  fakes::port_of(fabric, "node023", 1)->pkeys = {0xffff, 0x8009};
  EXPECT_THAT(checks_of(fabric), ElementsAre("link node017/1 - leaf1/5", "partition node023/1"));
}

TEST(Findings, NameDuplicatesAndManagers) {
  auto fabric = fakes::fat_tree(4);
  fakes::port_of(fabric, "node002", 1)->guid = 0x100001;
  fakes::port_of(fabric, "node003", 1)->lid = 1;
  fabric.managers.push_back({0x100021, 3, 1, ManagerState::kMaster, 1});
  EXPECT_THAT(checks_of(fabric),
              ElementsAre("manager the subnet", "duplicate_guid node002/1", "duplicate_lid node003/1"));
  fabric.managers.clear();
  EXPECT_NE(findings_of(fabric).front().check, "manager") << "that of node001 did not answer";
  fakes::port_of(fabric, "node001", 1)->may_manage = false;
  EXPECT_THAT(findings_of(fabric).front().what, HasSubstr("has no master subnet manager"));
}

// PortInfo, LMC: the port has 2^LMC LIDs from its own on.
TEST(Findings, DuplicateLidsAreThoseOfTheLmcToo) {
  auto fabric = fakes::fat_tree(4);
  auto* first = fakes::port_of(fabric, "node002", 1);
  auto* second = fakes::port_of(fabric, "node003", 1);
  first->lid = 0x103;
  second->lid = 0x100;
  EXPECT_THAT(checks_of(fabric), IsEmpty());
  second->lmc = 2;
  EXPECT_THAT(checks_of(fabric), ElementsAre("duplicate_lid node003/1"));
  EXPECT_THAT(findings_of(fabric).front().what, HasSubstr("the same LID 259 as node002/1"));
  std::swap(first->lmc, second->lmc);
  std::swap(first->lid, second->lid);
  EXPECT_THAT(checks_of(fabric), ElementsAre("duplicate_lid node003/1")) << "in the other order";
  second->lid = 0x104;
  EXPECT_THAT(checks_of(fabric), IsEmpty());
}

TEST(Findings, NameASubnetManagerThatShouldBeMaster) {
  auto fabric = fakes::fat_tree(4);
  fabric.managers.front().priority = 3;
  const auto other = fakes::port_of(fabric, "node002", 1)->guid;
  fabric.managers.push_back({other, 2, 14, ManagerState::kStandby, 1});
  EXPECT_THAT(checks_of(fabric), ElementsAre("manager node002/1"));
  EXPECT_THAT(findings_of(fabric).front().what, HasSubstr("stands by with priority 14"));
  fabric.managers.back().priority = 3;  // the master has the lower GUID
  EXPECT_THAT(checks_of(fabric), ElementsAre());
  std::swap(fabric.managers.front().port_guid, fabric.managers.back().port_guid);
  EXPECT_THAT(checks_of(fabric), ElementsAre("manager node001/1"));
}

TEST(Findings, NameLinksThatTheOtherEndDoesNotKnow) {
  auto fabric = fakes::fat_tree(4);
  fakes::port_of(fabric, "leaf2", 1)->peer = End{0x100000, 1};
  EXPECT_THAT(checks_of(fabric), ElementsAre("duplicate_guid node002/1", "duplicate_guid leaf2/1"));
}

/// A node with the GUID of another takes over its place: the port that led to the other is left without an
/// end.
TEST(Findings, NamePortsThatAreUpWithoutANeighbour) {
  auto fabric = fakes::fat_tree(6);
  fakes::port_of(fabric, "leaf2", 1)->peer.reset();
  fakes::plug(fabric, "node002", 1, "leaf3", 2);
  EXPECT_THAT(checks_of(fabric), ElementsAre("neighbour leaf2/1"));
}

TEST(Findings, OfAFabricReadInPartSayNothingOfPartitions) {
  auto fabric = fakes::fat_tree(4);
  fakes::port_of(fabric, "node003", 1)->pkeys = {0xffff, 0x8009};
  EXPECT_THAT(checks_of(fabric), ElementsAre("partition node003/1"));
  fakes::port_of(fabric, "node004", 1)->pkeys.reset();
  EXPECT_THAT(checks_of(fabric), IsEmpty());
}

TEST(Findings, NamePortsThatWaitAndLimitedPartitions) {
  auto fabric = fakes::fat_tree(4);
  for (auto* port : {fakes::port_of(fabric, "node002", 1), fakes::port_of(fabric, "leaf2", 1)})
    port->state = 2;
  fakes::port_of(fabric, "node003", 1)->pkeys = {0xffff, 0x0009};
  fakes::port_of(fabric, "node004", 1)->pkeys = {0xffff, 0x0009};
  EXPECT_THAT(checks_of(fabric), ElementsAre("state node002/1 - leaf2/1", "partition P_Key 0x8009"));
}

TEST(Compare, FindsNothingInTheSame) {
  const auto fabric = fakes::fat_tree(8);
  EXPECT_THAT(compare(fabric, fabric), IsEmpty());
}

TEST(Compare, FindsWhatChanged) {
  const auto before = fakes::fat_tree(8);
  auto after = before;
  fakes::port_of(after, "node002", 1)->active.widths = 0x01;
  fakes::port_of(after, "leaf2", 1)->active.widths = 0x01;
  fakes::port_of(after, "node003", 1)->pkeys = {0xffff, 0x8009};
  fakes::node_called(after, "node004")->description = "other";
  after.managers.front().priority = 3;
  after.groups->front().mtu = 4096;
  // LIDs may change.
  fakes::port_of(after, "node005", 1)->lid = 99;
  EXPECT_THAT(
      texts_of(compare(before, after)),
      ElementsAre("speed node002/1 - leaf2/1: 4X QDR > 1X QDR", "pkeys node003/1: 0xffff > 0x8009 0xffff",
                  "name 00:00:00:00:00:10:00:30: node004 > other",
                  "manager node001/1: master, priority 14 > master, priority 3",
                  "group ff12:401b:ffff::ffff:ffff: P_Key 0xffff, MTU 2048, 10 Gbit/s > P_Key 0xffff, MTU "
                  "4096, 10 Gbit/s"));
}

TEST(Compare, FindsMovedCablesAndLostNodes) {
  const auto before = fakes::fat_tree(4);
  auto after = before;
  fakes::port_of(after, "leaf2", 1)->peer = std::nullopt;
  std::erase_if(after.nodes, [](const Node& node) { return node.description == "node002"; });
  EXPECT_THAT(texts_of(compare(before, after)),
              ElementsAre("node node002: host > ", "link leaf2/1: node002/1 > "));
  after = before;
  fakes::plug(after, "node001", 1, "leaf2", 1);
  fakes::plug(after, "node002", 1, "leaf1", 1);
  EXPECT_THAT(texts_of(compare(before, after)),
              ElementsAre("link node001/1: leaf1/1 > leaf2/1", "link node002/1: leaf2/1 > leaf1/1"));
}

TEST(Compare, TellsALinkThatIsGoneOnce) {
  const auto before = fakes::fat_tree(4);
  auto after = before;
  for (auto* port : {fakes::port_of(after, "node002", 1), fakes::port_of(after, "leaf2", 1)}) {
    port->peer.reset();
    port->state = kStateDown;
  }
  EXPECT_THAT(texts_of(compare(before, after)), ElementsAre("link node002/1: leaf2/1 > "));
  EXPECT_THAT(texts_of(compare(after, before)), ElementsAre("link node002/1:  > leaf2/1"));
}

TEST(Compare, LeavesOutWhatWasNotRead) {
  const auto before = fakes::fat_tree(4);
  auto after = before;
  after.groups.reset();
  for (auto& node : after.nodes) {
    for (auto& port : node.ports) port.pkeys.reset();
  }
  after.managers.clear();
  EXPECT_THAT(compare(before, after), IsEmpty());
  EXPECT_THAT(compare(after, before), IsEmpty());
  fakes::port_of(after, "node001", 1)->may_manage = false;
  EXPECT_THAT(texts_of(compare(before, after)), ElementsAre("manager node001/1: master, priority 14 > "));
}

config::Document cable_file(const std::string& text) {
  return config::parse_texts({{.name = "cables.toml", .text = text}}, "", {cable_section()});
}

TEST(Cables, AreComparedWithTheFabric) {
  const auto document = cable_file(
      "version = 1\n[[cable]]\nfrom = \"leaf1/1\"\nto = \"node001/1\"\nwidth = \"4X\"\nspeed = \"QDR\"\n"
      "[[cable]]\nfrom = \"leaf2/1\"\nto = \"node003/1\"\n"
      "[[cable]]\nfrom = \"leaf3/1\"\nto = \"node003/1\"\nspeed = \"HDR\"\n"
      "[[cable]]\nfrom = \"leaf9/1\"\nto = \"node003/1\"\n"
      "[[cable]]\nfrom = \"00:00:00:00:00:20:00:04/1\"\nto = \"node009/1\"\n");
  ASSERT_THAT(document.diagnostics, IsEmpty());
  const auto cables = cables_of(document.sections);
  ASSERT_EQ(cables.size(), 5U);
  EXPECT_THAT(
      texts_of(check_cables(fakes::fat_tree(4), cables)),
      ElementsAre("cable leaf2/1: node003/1 > node002/1", "speed leaf3/1 - node003/1: HDR > QDR",
                  "cable leaf9/1: node003/1 > is not in the fabric",
                  "cable 00:00:00:00:00:20:00:04/1: node009/1 > node004/1 (node009/1 is not in the fabric)"));
}

TEST(Cables, OfTwoNodesOfOneNameNeedTheGuid) {
  auto fabric = fakes::fat_tree(4);
  fakes::node_called(fabric, "leaf2")->description = "leaf1";
  const auto found = check_cables(fabric, {{"leaf1/1", "node001/1", {}, {}}, {"x", "y", {}, {}}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].after, "is the name of several nodes; use the GUID");
  EXPECT_EQ(found[1].after, "is not a node and a port, such as leaf1/7");
}

TEST(Cables, OfAHostWithoutItsDeviceAreToldTheDescription) {
  auto fabric = fakes::fat_tree(4);
  fakes::node_called(fabric, "node003")->description = "node003 mlx5_0";
  const auto found = check_cables(
      fabric,
      {{"leaf3/1", "node003/1", {}, {}}, {"node003/1", "leaf3/1", {}, {}}, {"node/1", "leaf3/1", {}, {}}});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_THAT(found[0].after,
              HasSubstr("(node003/1 is not in the fabric; did you mean \"node003 mlx5_0\"?)"));
  EXPECT_EQ(found[1].after, "is not in the fabric; did you mean \"node003 mlx5_0\"?");
  EXPECT_EQ(found[2].after, "is not in the fabric");
}

TEST(Cables, WithMistakesAreErrors) {
  for (const auto* text :
       {"from = \"leaf1\"\nto = \"node001/1\"", "from = \"leaf1/0\"\nto = \"node001/1\"",
        "from = 3\nto = \"node001/1\"", "from = \"leaf1/1\"\nto = \"n/1\"\nwidth = \"5X\"",
        "from = \"leaf1/1\"\nto = \"n/1\"\nspeed = \"fast\"", "from = \"leaf1/1\"\nlength = 3"})
    EXPECT_TRUE(model::has_errors(cable_file(std::string("version = 1\n[[cable]]\n") + text).diagnostics))
        << text;
}

}  // namespace
}  // namespace rdmacfg::fabric
