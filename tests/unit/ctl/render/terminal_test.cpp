// SPDX-License-Identifier: Apache-2.0
#include "ctl/render/terminal.hpp"

#include <gtest/gtest.h>

#include "ctl/render/render_table.hpp"
#include "unit/ctl/console.hpp"

namespace rdmacfg::ctl {
namespace {

TEST(Clean, LeavesNothingThatATerminalWouldObey) {
  EXPECT_EQ(clean("plain ü 中", true), "plain ü 中");
  EXPECT_EQ(clean("\033[31mred\a\n\t", true), "?[31mred???");
  EXPECT_EQ(clean("a\xc2\x9b"
                  "b",
                  true),
            "a?b");  // CSI as one C1 character
  EXPECT_EQ(clean("a\xe2\x80\xae"
                  "b",
                  true),
            "a?b");  // right-to-left override
  EXPECT_EQ(clean("\xff\xc0\xaf\xed\xa0\x80", true), "??????");
  EXPECT_EQ(clean("\xe4\xb8", true), "??");
  EXPECT_EQ(clean("ü→", false), "??");
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width("mlx4_ib0"), 8);
  EXPECT_EQ(display_width("ü→"), 2);
  EXPECT_EQ(display_width("中文"), 4);
  EXPECT_EQ(display_width("e\xcc\x81"), 1);
}

TEST(Wrap, BreaksAtBlanks) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrap("one two three", 0), Lines{"one two three"});
  EXPECT_EQ(wrap("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrap("abcdefgh ij", 3), (Lines{"abc", "def", "gh", "ij"}));
  EXPECT_EQ(wrap("中文中", 3), (Lines{"中", "文", "中"}));
}

constexpr Stream kOfTerminal{.is_terminal = true};

TEST(LookOf, ColourOnlyOnTerminals) {
  Console console;
  EXPECT_FALSE(terminal_of(console.environment, {}).colour);
  EXPECT_TRUE(terminal_of(console.environment, kOfTerminal).colour);
  EXPECT_FALSE(terminal_of(console.environment, {.is_terminal = true, .no_colour = true}).colour);
  console.variables["TERM"] = "dumb";
  EXPECT_FALSE(terminal_of(console.environment, kOfTerminal).colour);
  console.variables["TERM"] = "xterm";
  console.variables["NO_COLOR"] = "1";
  EXPECT_FALSE(terminal_of(console.environment, kOfTerminal).colour);
}

TEST(LookOf, WidthAndCharacterSet) {
  Console console;
  EXPECT_EQ(terminal_of(console.environment, {}).width, 0);
  EXPECT_EQ(terminal_of(console.environment, kOfTerminal).width, 80);
  console.environment.columns = 132;
  EXPECT_EQ(terminal_of(console.environment, kOfTerminal).width, 132);
  console.variables["COLUMNS"] = "100";
  EXPECT_EQ(terminal_of(console.environment, kOfTerminal).width, 100);
  EXPECT_TRUE(terminal_of(console.environment, kOfTerminal).utf8);
  console.variables["LC_ALL"] = "C";
  EXPECT_FALSE(terminal_of(console.environment, kOfTerminal).utf8);
}

const Table kTable{{{"NAME"}, {"GUID", 1}, {"WHAT", 0, true}},
                   {{{"ib0"}, {"00:01"}, {"a word or two or three more words"}}, {{"中"}, {""}, {"b"}}}};

TEST(RenderTable, AlignsAndTrims) {
  EXPECT_EQ(render_table(kTable, {.utf8 = true}),
            "NAME  GUID   WHAT\n"
            "ib0   00:01  a word or two or three more words\n"
            "中           b\n");
}

TEST(RenderTable, WrapsThenLeavesOut) {
  bool left_out = false;
  EXPECT_EQ(render_table(kTable, {.utf8 = true, .width = 40}, &left_out),
            "NAME  GUID   WHAT\n"
            "ib0   00:01  a word or two or three more\n"
            "             words\n"
            "中           b\n");
  EXPECT_FALSE(left_out);
  EXPECT_EQ(render_table(kTable, {.utf8 = true, .width = 32}, &left_out),
            "NAME  WHAT\n"
            "ib0   a word or two or three\n"
            "      more words\n"
            "中    b\n");
  EXPECT_TRUE(left_out);
}

TEST(RenderTable, LeavesOutEmptyColumnsAndHostileText) {
  const Table table{{{"A"}, {"B"}}, {{{"x\033[2J", Style::kGood}, {""}}}};
  EXPECT_EQ(render_table(table, {.colour = true}), "\033[2mA\033[0m\n\033[32mx?[2J\033[0m\n");
}

}  // namespace
}  // namespace rdmacfg::ctl
