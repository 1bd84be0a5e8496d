// SPDX-License-Identifier: Apache-2.0
// Several files: merging, defaults, and for which hosts they are.
#include <gmock/gmock.h>

#include "sample_document.hpp"

namespace rdmacfg::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Merge, LaterFilesWinKeyByKey) {
  const auto document =
      parse_files({{"a", ipoib("mtu = 2044\nmode = 'datagram'\naddresses = ['x', 'y']\n")},
                   {"b", "\n[[ipoib]]\nguid = '0002:c903:0031:78f2'\nmtu = 4092\naddresses = ['z']\n"}});
  EXPECT_THAT(messages(document), IsEmpty());
  ASSERT_EQ(document.sections.size(), 1U);
  EXPECT_EQ(value_at(document, 0, "mtu"), "4092");
  EXPECT_EQ(value_at(document, 0, "mode"), "datagram");
  EXPECT_EQ(value_at(document, 0, "addresses"), "z");
  EXPECT_EQ(document.sections[0].where.text(), "a:1:1");
  EXPECT_EQ(document.sections[0].entries.at("mtu").where.text(), "b:4:7");
  EXPECT_EQ(document.sections[0].entries.at("mode").where.text(), "a:4:8");
}

TEST(Merge, ChildrenByTheirIdentity) {
  const auto document =
      parse_files({{"a", ipoib("pkey = [{pkey = 1, mtu = 2044}, {pkey = 2}]\n")},
                   {"b", ipoib("pkey = [{pkey = 0x8003}, {pkey = 0x8001, mode = 'datagram'}]\n")}});
  EXPECT_THAT(messages(document), IsEmpty());
  ASSERT_EQ(document.sections.size(), 1U);
  const auto& children = document.sections[0].children;
  ASSERT_EQ(children.size(), 3U);
  EXPECT_EQ(model::text_of(children[0].entries.at("pkey").value), "0x8001");
  EXPECT_EQ(children[0].entries.at("mtu").where.file, "a");
  EXPECT_EQ(children[0].entries.at("mode").where.file, "b");
  EXPECT_EQ(model::text_of(children[2].entries.at("pkey").value), "0x8003");
}

TEST(Merge, SectionsOfWhichThereIsOne) {
  const auto document = parse_files({{"a", "[node]\nprune = true"}, {"b", "[node]\nprune = false"}});
  ASSERT_EQ(document.sections.size(), 1U);
  EXPECT_EQ(value_at(document, 0, "prune"), "no");
}

TEST(Merge, DefaultsFillWhatIsLeftOpen) {
  const auto document = parse_files({{"a",
                                      "[defaults.ipoib]\nmode = 'datagram'\nmtu = "
                                      "2044\n[defaults.ipoib.pkey]\nmtu = 1500\numcast = true\n"},
                                     {"b", ipoib("mtu = 4092\npkey = [{pkey = 1, umcast = false}]\n")},
                                     {"c", "[defaults]\nipoib = { mode = 'connected' }\n"}});
  EXPECT_THAT(messages(document), IsEmpty());
  ASSERT_EQ(document.sections.size(), 1U);
  const auto& ipoib = document.sections[0];
  EXPECT_EQ(value_at(document, 0, "mtu"), "4092");
  EXPECT_FALSE(ipoib.entries.at("mtu").from_defaults);
  EXPECT_EQ(value_at(document, 0, "mode"), "connected");
  EXPECT_TRUE(ipoib.entries.at("mode").from_defaults);
  EXPECT_EQ(ipoib.entries.at("mode").where.text(), "c:2:18");
  ASSERT_EQ(ipoib.children.size(), 1U);
  const auto& pkey = ipoib.children[0];
  EXPECT_EQ(model::text_of(pkey.entries.at("mtu").value), "1500");
  EXPECT_EQ(model::text_of(pkey.entries.at("umcast").value), "no");
}

TEST(Merge, DefaultsThatMakeNoSense) {
  EXPECT_THAT(messages("[defaults.ipoib]\nname = 'ib0'\nguid = 'x'\nmdoe = 1\nlid = "
                       "1\n[defaults.ipoib.match]\ndriver = 'a'\n"),
              ElementsAre("a:2:1: [defaults.ipoib] name: a default name would be given to every interface",
                          "a:3:1: [defaults.ipoib] guid: identifies an entry, so it cannot have a default",
                          "a:4:1: [defaults.ipoib] mdoe: unknown key; did you mean \"mode\"?",
                          "a:5:1: [defaults.ipoib] lid: is read-only",
                          "a:6:17: [defaults.ipoib.match]: there are no defaults for ipoib.match"));
  EXPECT_THAT(messages("[[defaults.ipoib]]\nmtu = 2044\n"),
              ElementsAre("a:1:12: [defaults.ipoib]: must be one section, not a list"));
  EXPECT_THAT(messages("defaults = 1"),
              ElementsAre("a:1:12: defaults: must be sections such as [defaults.ipoib], not an integer"));
}

TEST(Match, LeavesFilesOfOtherHostsOut) {
  const auto document =
      parse_files({{"a", "[match]\nhost = ['gpu[001-006]', 'login*']\n" + ipoib()},
                   {"b", "[match]\nhost = 'gpu[001-512]'\n" + ipoib("mtu = 2044\n")},
                   {"c", "[match]\nhost = ['x', '*.example.org']\n" + ipoib("mode = 'connected'\n")}});
  EXPECT_THAT(messages(document), IsEmpty());
  EXPECT_THAT(
      document.skipped,
      ElementsAre(SkippedFile{"a", "applies to hosts gpu[001-006], login*, not to gpu007.example.org"}));
  ASSERT_EQ(document.sections.size(), 1U);
  EXPECT_EQ(document.sections[0].where.file, "b");
  EXPECT_EQ(value_at(document, 0, "mtu"), "2044");
  EXPECT_EQ(value_at(document, 0, "mode"), "connected");
  EXPECT_EQ(document.files.size(), 3U);
}

/// Signs of a glob are valid in brackets.
TEST(Match, PatternsWithClassesAreValid) {
  for (const auto* pattern :
       {"gpu[!1-9]*", "gpu[^a-z]*", "gpu[[:digit:]][![:alpha:]]7", "gpu00[!0-6].example.org",
        "gpu[001-009/2]", "gpu[001-003, 007]", "g?u*.*.org", "gpu[001-009/2].example.org"}) {
    const auto document = parse_one("[match]\nhost = '" + std::string(pattern) + "'\n");
    EXPECT_THAT(messages(document), IsEmpty()) << pattern;
    EXPECT_THAT(document.skipped, IsEmpty()) << pattern;
  }
}

TEST(Match, CaseSaysNothingInAHostName) {
  for (const auto* pattern : {"GPU007", "Gpu[001-512]", "*.EXAMPLE.org", "[G-H]pu*"}) {
    EXPECT_THAT(parse_one("[match]\nhost = '" + std::string(pattern) + "'\n").skipped, IsEmpty()) << pattern;
  }
  const auto upper = parse_texts({{"a", "[match]\nhost = 'gpu*'\n"}}, "GPU007.Example.org", sample_grammar());
  EXPECT_THAT(upper.skipped, IsEmpty());
}

TEST(Merge, AFaultyPartMakesTheWholeFaulty) {
  const auto document = parse_files({{"a", ipoib()}, {"b", ipoib("mdoe = 1\n")}});
  ASSERT_EQ(document.sections.size(), 1U);
  EXPECT_TRUE(document.faulty.contains(document.sections[0].where));
}

TEST(Match, ChecksFilesOfOtherHostsToo) {
  const auto document = parse_one("[match]\nhost = 'other'\n[[ipoib]]\nmdoe = 1\n[defaults.ipoib]\nmtu = 1");
  EXPECT_EQ(messages(document).size(), 3U);
  EXPECT_THAT(document.sections, IsEmpty());
}

TEST(Match, SaysWhatIsWrong) {
  EXPECT_THAT(messages("[match]\n"), ElementsAre("a:1:1: [match]: host is missing"));
  EXPECT_THAT(messages("[match]\nhsot = 'a'\ncolour = 1\n"),
              ElementsAre("a:2:1: [match] hsot: unknown key; did you mean \"host\"?",
                          "a:3:1: [match] colour: unknown key"));
  EXPECT_THAT(messages("match = 1"), ElementsAre("a:1:9: [match]: must be one section, not an integer"));
  EXPECT_THAT(messages("[[match]]\nhost = 'a'"),
              ElementsAre("a:1:1: [match]: must be one section, not a list"));
  EXPECT_THAT(messages("match = {host = []}"),
              ElementsAre("a:1:17: [match] host: is an empty list, so the file would apply to no host"));
  EXPECT_THAT(messages("match = {host = ['', 1, 'a[0-9', 'a]']}"),
              ElementsAre("a:1:18: [match] host: \"\" is empty",
                          "a:1:22: [match] host: must be a string, not an integer",
                          "a:1:25: [match] host: \"a[0-9\" has a [ without ]",
                          "a:1:34: [match] host: \"a]\" has a ] without ["));
  EXPECT_THAT(messages("match = {host = ['gpu[010-001]', 'gpu[001-010]', 'r[0-9]n[12-3]']}"),
              ElementsAre("a:1:18: [match] host: \"gpu[010-001]\" has a range from 010 down to 001, which "
                          "contains no host; write [001-010]",
                          "a:1:50: [match] host: \"r[0-9]n[12-3]\" has a range from 12 down to 3, which "
                          "contains no host; write [3-12]"));
  EXPECT_THAT(messages("match = {host = ['gpu[1-010]', 'gpu[001-10]', 'gpu[010-1]']}"),
              ElementsAre("a:1:18: [match] host: \"gpu[1-010]\" has the range 1-010, whose numbers have "
                          "different widths; write [001-010]",
                          "a:1:47: [match] host: \"gpu[010-1]\" has a range from 010 down to 1, which "
                          "contains no host; write [001-010]"));
}

}  // namespace
}  // namespace rdmacfg::config
