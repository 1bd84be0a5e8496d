// SPDX-License-Identifier: Apache-2.0
#include "fabric/draw.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "fakes/fabrics.hpp"

namespace rdmacfg::fabric {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t times(const std::string& text, std::string_view what) {
  std::size_t out = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++out;
  return out;
}

TEST(Tree, HangsHostsOnLeavesAndLeavesOnSpines) {
  EXPECT_EQ(draw_tree(fakes::fat_tree(8), {.utf8 = true}),
            "spine1\n"
            "├─ leaf1  4X QDR; also to spine2\n"
            "│  └─ node[001,005]  4X QDR  (2 hosts)\n"
            "├─ leaf2  4X QDR; also to spine2\n"
            "│  └─ node[002,006]  4X QDR  (2 hosts)\n"
            "├─ leaf3  4X QDR; also to spine2\n"
            "│  └─ node[003,007]  4X QDR  (2 hosts)\n"
            "└─ leaf4  4X QDR; also to spine2\n"
            "   └─ node[004,008]  4X QDR  (2 hosts)\n"
            "spine2; also to leaf[1-4]\n");
  EXPECT_THAT(draw_tree(fakes::fat_tree(8), {.wide = true}),
              HasSubstr("|  |- node001  4X QDR\n|  `- node005  4X QDR\n"));
}

TEST(Tree, ShowsTheFaultyHostByItself) {
  auto fabric = fakes::fat_tree(12);
  fakes::port_of(fabric, "node005", 1)->active.widths = 0x01;
  fakes::port_of(fabric, "leaf1", 2)->active.widths = 0x01;
  EXPECT_THAT(draw_tree(fabric, {.utf8 = true}), HasSubstr("├─ node005  1X QDR, below its best\n"));
}

TEST(Tree, OfTwoHostsBackToBackHasNoSwitch) {
  Fabric fabric;
  for (const auto* name : {"a", "b"})
    fabric.nodes.push_back(
        fakes::fabric_node(NodeType::kHost, static_cast<std::uint64_t>(name[0]) * 16, name, 1));
  fakes::plug(fabric, "a", 1, "b", 1);
  EXPECT_EQ(draw_tree(fabric, {.utf8 = true}), "a\n└─ b  4X QDR\n");
  EXPECT_THAT(draw_svg(fabric), HasSubstr("<line "));
}

TEST(Dot, HasEveryNodeAndLink) {
  auto fabric = fakes::fat_tree(64);
  fabric.nodes.front().description = "a \"b\" \\";
  fakes::port_of(fabric, "node002", 1)->active.widths = 0x01;
  fakes::port_of(fabric, "leaf2", 1)->active.widths = 0x01;
  const auto text = draw_dot(fabric);
  EXPECT_EQ(times(text, " -- "), 72U);
  EXPECT_EQ(times(text, "color=red,"), 1U);
  EXPECT_THAT(text, HasSubstr(R"([label="a \"b\" \\"])"));
}

/// Graphviz writes the character of an entity in a label, and a line end for "\n".
TEST(Dot, ShowsADescriptionAsItIs) {
  auto fabric = fakes::fat_tree(4);
  fakes::node_called(fabric, "node001")->description = "a&copy;\\n&";
  EXPECT_THAT(draw_dot(fabric), HasSubstr(R"([label="a&amp;copy;\\n&amp;"])"));
}

TEST(Svg, HasEveryHostOnceAndMarksTheSlowOne) {
  auto fabric = fakes::fat_tree(64);
  fakes::port_of(fabric, "node002", 1)->active.widths = 0x01;
  fakes::port_of(fabric, "leaf2", 1)->active.widths = 0x01;
  fakes::node_called(fabric, "node001")->description = "<script>&\"";
  const auto text = draw_svg(fabric);
  EXPECT_EQ(times(text, "node0"), 63U);
  EXPECT_EQ(times(text, "<line "), 8U);
  EXPECT_THAT(text, HasSubstr("fill=\"#c00\" font-weight=\"bold\">1: node002  1X QDR</text>"));
  EXPECT_THAT(text, HasSubstr("&lt;script&gt;&amp;&quot;"));
  EXPECT_THAT(text, Not(HasSubstr("<script>")));
  EXPECT_EQ(times(text, "<text"), times(text, "</text>"));
}

/// XML has no U+FFFE and no U+FFFF, but the characters beside them.
TEST(Svg, HasNoCharactersThatXmlDoesNotHave) {
  auto fabric = fakes::fat_tree(4);
  fakes::node_called(fabric, "node001")->description =
      "a\xef\xbf\xbe"
      "b\xef\xbf\xbf"
      "c\xef\xbf\xbd";
  EXPECT_THAT(draw_svg(fabric), HasSubstr("abc\xef\xbf\xbd  4X QDR"));
}

TEST(Drawings, OfWhateverAFabricIsComeToAnEnd) {
  auto fabric = fakes::fat_tree(4);
  // Links to nodes that are not there, to themselves, and to ports that are not there.
  fakes::port_of(fabric, "leaf1", 1)->peer = End{0x42, 1};
  fakes::port_of(fabric, "leaf2", 1)->peer = End{0x200002, 1};
  fakes::port_of(fabric, "leaf3", 1)->peer = End{0x100020, 77};
  for (const auto& text : {draw_tree(fabric, {.utf8 = true}), draw_dot(fabric), draw_svg(fabric),
                           draw_svg(Fabric()), draw_dot(Fabric())})
    EXPECT_FALSE(text.empty());
  EXPECT_EQ(draw_tree(Fabric(), {.utf8 = true}), "");
}

}  // namespace
}  // namespace rdmacfg::fabric
