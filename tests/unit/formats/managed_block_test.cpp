// SPDX-License-Identifier: Apache-2.0
#include "formats/managed_block.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::kinds {
namespace {

constexpr Marks kMarks{"# begin", "# end", ""};

TEST(MarkedText, WhatIsBetweenTheMarksIsOurs) {
  const auto text = parse_marked("a\n# begin\nb\n# end\n\nc", kMarks);
  EXPECT_EQ(text.others, "a\n\nc");
  EXPECT_FALSE(text.damage);
  ASSERT_EQ(text.lines.size(), 4U);
  EXPECT_EQ(text.lines[1].text, "b");
  EXPECT_EQ(text.lines[1].number, 3);
  EXPECT_TRUE(text.lines[1].ours);
  EXPECT_EQ(text.lines[3].text, "c");
  EXPECT_EQ(text.lines[3].number, 6);
  EXPECT_FALSE(text.lines[3].ours);
}

TEST(MarkedText, TheMarkOfEarlierReleasesIsUnderstood) {
  const auto parsed = parse_marked(
      "a\n" + std::string(kOpensmMarks.former_begin) + "\nours\n# rdma-configd: end\nb\n", kOpensmMarks);
  EXPECT_FALSE(parsed.damage);
  EXPECT_EQ(parsed.others, "a\nb\n");
  ASSERT_EQ(parsed.lines.size(), 3U);
  EXPECT_TRUE(parsed.lines[1].ours);
}

TEST(MarkedText, WithoutMarksAllIsOthers) {
  for (const std::string text : {"", "a\n", "a\n# end\nb"}) {
    EXPECT_EQ(parse_marked(text, kMarks).others, text);
    EXPECT_FALSE(parse_marked(text, kMarks).damage);
  }
}

TEST(MarkedText, ALastLineWithoutEndIsAsItWas) {
  const auto in = [](const std::string& others) { return begin_marked(others, kMarks) + "b\n# end\n"; };
  for (const std::string others : {"", "a\n", "a\nc", "a\r\nc\r"}) {
    EXPECT_EQ(parse_marked(in(others), kMarks).others, others);
    const auto again = begin_marked(parse_marked(in(others), kMarks).others, kMarks) + "b\n# end\n";
    EXPECT_EQ(again, in(others));
  }
  EXPECT_EQ(parse_marked(in("a") + "below\n", kMarks).others, "a\nbelow\n") << "somebody has gone on below";
  EXPECT_EQ(parse_marked(in("a"), kMarks).damage.has_value(), false);
}

TEST(MarkedText, OursAreFoundInACopyWithCrLf) {
  const auto parsed = parse_marked("theirs\r\n# begin\r\nours\r\n# end\r\nmore\r\n", kMarks);
  EXPECT_EQ(parsed.others, "theirs\r\nmore\r\n");
  EXPECT_FALSE(parsed.damage);
  ASSERT_EQ(parsed.lines.size(), 3U);
  EXPECT_EQ(parsed.lines[1].text, "ours");
  EXPECT_TRUE(parsed.lines[1].ours);
}

TEST(MarkedText, ABeginWithoutEndIsDamage) {
  const auto lost = parse_marked("a\n# begin\nb\n", kMarks);
  ASSERT_TRUE(lost.damage);
  EXPECT_EQ(lost.damage->line, 2);
  EXPECT_EQ(error_of(*lost.damage, "/etc/x").message.substr(0, 9), "/etc/x:2:");
  const auto twice = parse_marked("# begin\na\n# begin\nb\n# end\nc\n", kMarks);
  ASSERT_TRUE(twice.damage) << "whose a is, is not known";
  EXPECT_EQ(twice.damage->line, 1);
}

}  // namespace
}  // namespace rdmacfg::kinds
