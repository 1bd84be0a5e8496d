// SPDX-License-Identifier: Apache-2.0
// Bytes that took toml11 3.7.1 down, or would take for ever.
#include <gmock/gmock.h>

#include "sample_document.hpp"

namespace rdmacfg::config {
namespace {

using ::testing::ElementsAre;

std::string repeat(std::string_view what, int times) {
  std::string out;
  while (times-- > 0) out += what;
  return out;
}

TEST(Hostile, InvalidUtf8InLiteralTexts) {
  EXPECT_THAT(messages("a = '\xe2(\xa1'"),
              ElementsAre("a:1:6: byte 0xe2 is not part of a valid UTF-8 character"));
  EXPECT_THAT(messages("a = '''\xff'''"),
              ElementsAre("a:1:8: byte 0xff is not part of a valid UTF-8 character"));
}

TEST(Hostile, DeepNesting) {
  EXPECT_THAT(messages("a = " + repeat("[", 20'000)),
              ElementsAre("a:1:36: nested deeper than the 32 levels allowed"));
  EXPECT_THAT(messages("a = " + repeat("{a=", 20'000)),
              ElementsAre("a:1:53: nested deeper than the 32 levels allowed"));
  EXPECT_THAT(messages(repeat("a.", 20'000) + "a = 1"),
              ElementsAre("a:1:66: nested deeper than the 32 levels allowed"));
  EXPECT_THAT(messages("[" + repeat("a.", 20'000) + "a]"),
              ElementsAre("a:1:67: nested deeper than the 32 levels allowed"));
}

TEST(Hostile, BracketsInTextsAndCommentsAreNoNesting) {
  const auto many = repeat("[{", 1000);
  EXPECT_TRUE(messages("# " + many + "\n" +
                       ipoib("addresses = [\"" + many + "\", '" + many + "', \"\"\"\n" + many +
                             "\"\"\", '''" + many + "''']\n"))
                  .empty());
}

TEST(Hostile, AnEmptyListIsNoListOfSections) {
  EXPECT_THAT(messages("a = []\n[a.b]\nc = 1"),
              ElementsAre("a:1:1: a: unknown key", "a:2:2: a was closed by its ]"));
}

/// Beyond what a document may have: the limits must not hide slow code.
Limits roomy() {
  Limits limits;
  limits.list_items = limits.string_bytes = limits.entries = limits.entries_of_kind = 1'000'000;
  return limits;
}

TEST(Hostile, LongLinesTakeLinearTime) {
  // toml11 needs a minute and more for such a line.
  std::string list;
  for (int i = 0; i < 10'000; ++i) list += "'" + std::to_string(i) + "',";
  const auto document = parse_one(
      ipoib("addresses = [" + list + "]\n" + "pkey = [" + repeat("{pkey=5},", 20'000) + "]"), roomy());
  EXPECT_EQ(document.diagnostics.size(), 51U);
  EXPECT_EQ(document.diagnostics.back().message, "19949 more errors are not shown");
}

TEST(Hostile, LongTextsTakeLinearTime) {
  const auto document = parse_one(
      ipoib("addresses = [\"" + repeat("\\\\", 20'000) + "\", '" + repeat("é", 20'000) + "']"), roomy());
  EXPECT_TRUE(messages(document).empty());
}

TEST(Hostile, LongHostPatterns) {
  EXPECT_THAT(messages("[match]\nhost = '" + repeat("*", 300) + "'"),
              ElementsAre("a:2:8: [match] host: \"" + repeat("*", 300) + "\" is too long for a host name"));
}

}  // namespace
}  // namespace rdmacfg::config
