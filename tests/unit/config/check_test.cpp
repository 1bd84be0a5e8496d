// SPDX-License-Identifier: Apache-2.0
// Files against the grammar: values, keys, sections.
#include <gmock/gmock.h>

#include "config/other_names.hpp"
#include "sample_document.hpp"

namespace rdmacfg::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Check, AGoodDocument) {
  const auto document =
      parse_one("version = 1\n" + ipoib("name = \"ib0\"\nmtu = 65520\naddresses = [\"192.0.2.1/24\"]\n"
                                        "  [[ipoib.pkey]]\n  pkey = 0x0002\n  umcast = true\n[[pfc]]\ndriver "
                                        "= 'mlx4_en'\npriorities = [3, 4]\n"));
  EXPECT_THAT(messages(document), IsEmpty());
  ASSERT_EQ(document.sections.size(), 2U);
  const auto& ipoib = document.sections[0];
  EXPECT_EQ(ipoib.path, "ipoib");
  EXPECT_EQ(ipoib.where.text(), "a:2:1");
  EXPECT_EQ(std::get<std::int64_t>(ipoib.entries.at("mtu").value), 65520);
  EXPECT_EQ(ipoib.entries.at("mtu").where, (model::Location{"a", 5, 7, 5}));
  EXPECT_FALSE(ipoib.entries.at("mtu").from_defaults);
  ASSERT_EQ(ipoib.children.size(), 1U);
  const auto& pkey = ipoib.children[0];
  EXPECT_EQ(model::text_of(pkey.entries.at("pkey").value), "0x8002") << "values are canonical";
  EXPECT_EQ(pkey.where, (model::Location{"a", 7, 3, 14}));
  EXPECT_EQ(value_at(document, 1, "priorities"), "3, 4");
}

TEST(Check, NothingIsADocument) {
  EXPECT_THAT(messages(""), IsEmpty());
  EXPECT_THAT(messages("version = 1"), IsEmpty());
}

TEST(Check, AControlCharacterIsReportedOnce) {
  // With U+FFFD in its place the name, mode, GUID and priority would be wrong, too.
  const auto document = parse_one(
      "[[ipoib]]\nguid = \"00:02:c9\\u0007\"\nname = \"ib\\u00070\"\nmode = \"\\u001b\"\n" +
      ipoib("addresses = [\"192.0.2.1/24\", \"\\u0007\"]\n") +
      "[[pfc]]\ndriver = 'x'\npriorities = [3, \"4\\u007f\"]\n[defaults.ipoib]\nmtu = \"\\u0007\"\n");
  const auto all = messages(document);
  EXPECT_EQ(all.size(), 6U);
  for (const auto& message : all)
    EXPECT_THAT(message, HasSubstr("the text contains the control character U+00"));
  EXPECT_TRUE(document.faulty.contains(document.sections.at(0).where))
      << "nothing is concluded from the rest";
}

TEST(Check, Version) {
  EXPECT_THAT(messages("version = 2\n[[nonsense]]"),
              ElementsAre("a:1:11: version: is 2, but this program reads version 1"));
  EXPECT_THAT(messages("version = '1'"),
              ElementsAre("a:1:11: version: is a string, but this program reads version 1"));
}

TEST(Check, UnknownKeys) {
  const auto document =
      parse_one(ipoib("mdoe = \"connected\"\ncolour = 1\n[[ipoib.pkey]]\npkey = 1\ndscp = 1\n"));
  EXPECT_THAT(messages(document),
              ElementsAre("a:3:1: [[ipoib]] mdoe: unknown key; did you mean \"mode\"?",
                          "a:4:1: [[ipoib]] colour: unknown key", "a:7:1: [[ipoib.pkey]] dscp: unknown key"));
  EXPECT_EQ(document.diagnostics[0].where.length, 4);
  EXPECT_EQ(document.diagnostics[1].hint,
            "valid here: name, mode, mtu, state, umcast, on_unsupported, addresses, guid, device, port, "
            "match, pkey");
  EXPECT_EQ(document.diagnostics[2].hint, "dscp belongs to [[roce]]");
}

TEST(Check, UnknownSections) {
  const auto document =
      parse_one("[[ipob]]\nx = 1\n[[ipob]]\n[frob]\n[[ipoib.pky]]\n[defaults.ipob]\n[defaults.roce]\n");
  EXPECT_THAT(messages(document), ElementsAre("a:1:1: [[ipob]]: unknown section; did you mean \"ipoib\"?",
                                              "a:4:1: [frob]: unknown section",
                                              "a:5:1: [[ipoib]] must come before its subsections",
                                              "a:5:1: [[ipoib.pky]]: unknown section; did you mean \"pkey\"?",
                                              "a:6:11: [defaults.ipob]: there are no defaults for ipob",
                                              "a:7:11: [defaults.roce]: there are no defaults for roce"));
  EXPECT_EQ(document.diagnostics[1].hint,
            "valid here: match, defaults, host, ipoib, roce, pfc, node, version");
  EXPECT_EQ(document.diagnostics[4].hint, "did you mean \"ipoib\"?");
}

TEST(Check, AKeyThatIsWrittenAsASectionIsNamedWithItsPath) {
  EXPECT_THAT(messages(ipoib("[[ipoib.mtu]]\nvalue = 2044\n")),
              ElementsAre("a:3:1: [[ipoib.mtu]]: mtu is a key of [[ipoib]], not a section"));
  EXPECT_THAT(
      messages("[defaults.ipoib.pkey]\n[[defaults.ipoib.pkey.mtu]]\nvalue = 2044\n"),
      ElementsAre(
          "a:2:1: [[defaults.ipoib.pkey.mtu]]: mtu is a key of [defaults.ipoib.pkey], not a section"));
}

TEST(Check, KeysAtTheTopSayWhereTheyBelong) {
  const auto document = parse_one("mtu = 2044\nverison = 1\n");
  EXPECT_THAT(messages(document), ElementsAre("a:1:1: mtu: unknown key",
                                              "a:2:1: verison: unknown key; did you mean \"version\"?"));
  EXPECT_EQ(document.diagnostics[0].hint, "mtu belongs to [[ipoib]], [[ipoib.pkey]]");
}

TEST(Check, WrongValuesAreSaidAtTheValue) {
  EXPECT_THAT(
      messages(ipoib("mtu = 99999\n")),
      ElementsAre(
          "a:3:7: [[ipoib]] mtu: MTU 99999 is out of range; must be from 68 to 65520 bytes (datagram: "
          "2044 or 4092; connected: up to 65520)"));
  EXPECT_THAT(messages(ipoib("mtu = '2044'\n")),
              ElementsAre("a:3:7: [[ipoib]] mtu: must be an integer such as 2044, not a string"));
  EXPECT_THAT(
      messages(ipoib("mtu = 2044.0\n")),
      ElementsAre("a:3:7: [[ipoib]] mtu: must be an integer such as 2044, not a floating-point number"));
  EXPECT_THAT(messages(ipoib("mtu = 2024-01-01\n")),
              ElementsAre("a:3:7: [[ipoib]] mtu: must be an integer such as 2044, not a date"));
  EXPECT_THAT(messages(ipoib("mtu = {a = 1}\n")),
              ElementsAre("a:3:7: [[ipoib]] mtu: must be an integer such as 2044, not a table"));
  EXPECT_THAT(messages(ipoib("mtu.x = 1\n")),
              ElementsAre("a:3:1: [[ipoib]] mtu: must be an integer such as 2044, not a table"));
  EXPECT_THAT(messages(ipoib("mtu = [2044]\n")),
              ElementsAre("a:3:7: [[ipoib]] mtu: must be an integer such as 2044, not a list"));
  EXPECT_THAT(messages(ipoib("mtu = true\n")),
              ElementsAre("a:3:7: [[ipoib]] mtu: must be an integer such as 2044, not a boolean"));
  EXPECT_THAT(
      messages(ipoib("addresses = [\n 'a',\n 1.5, true,\n]\n")),
      ElementsAre("a:5:2: [[ipoib]] addresses: an element must be a string in quotes, not a "
                  "floating-point number",
                  "a:5:7: [[ipoib]] addresses: an element must be a string in quotes, not a boolean"));
}

TEST(Check, SaysTheKeyOnce) {
  EXPECT_THAT(messages(ipoib("mode = 'conected'\n")),
              ElementsAre("a:3:8: [[ipoib]] mode: \"conected\" is not one of datagram, connected; did you "
                          "mean \"connected\"?"));
}

TEST(Check, FactsCannotBeWritten) {
  EXPECT_THAT(messages(ipoib("lid = 1\n")), ElementsAre("a:3:1: [[ipoib]] lid: is read-only"));
}

TEST(Check, OneAndManySections) {
  EXPECT_THAT(messages("[roce]\ndevice = 'a'\ndscp = 'b'"),
              ElementsAre("a:1:1: [roce]: can occur several times; write [[roce]]",
                          "a:3:8: [[roce]] dscp: must be an integer, not a string"));
  EXPECT_THAT(messages("roce = {device = 'a'}"),
              ElementsAre("a:1:1: [roce]: can occur several times; write [[roce]]"));
  EXPECT_THAT(messages("roce.device = 'a'"),
              ElementsAre("a:1:1: [roce]: can occur several times; write [[roce]]"));
  EXPECT_THAT(messages("[[node]]\nprune = true"),
              ElementsAre("a:1:1: [node]: only one such section is allowed, so it cannot be a list"));
  EXPECT_THAT(messages("roce = [{device = 'a'}, 5]"),
              ElementsAre("a:1:25: [[roce]]: must be a table like { key = value }, not an integer"));
  const auto document = parse_one(ipoib("pkey = 0x8002\n"));
  EXPECT_THAT(messages(document), ElementsAre("a:3:8: [[ipoib.pkey]]: must be a section, not an integer"));
  EXPECT_EQ(document.diagnostics[0].hint, "pkey belongs to [[ipoib.pkey]]");
}

TEST(Check, InlineTablesAreSections) {
  const auto document = parse_one(
      "[[ipoib]]\nmatch = { driver = \"mlx5_core\", port = 1 }\npkey = [\n  { pkey = 0x8002, mtu = 2044 },\n "
      " { pkey = 3 },\n]");
  EXPECT_THAT(messages(document), IsEmpty());
  ASSERT_EQ(document.sections.size(), 1U);
  const auto& ipoib = document.sections[0];
  ASSERT_EQ(ipoib.children.size(), 3U);
  EXPECT_EQ(ipoib.children[0].entries.at("port").where, (model::Location{"a", 2, 40, 1}));
  EXPECT_EQ(ipoib.children[1].where, (model::Location{"a", 4, 3, 29}));
  EXPECT_EQ(ipoib.children[2].entries.at("pkey").where, (model::Location{"a", 5, 12, 1}));
}

TEST(Check, SaysWhichSectionsWereNotUnderstood) {
  const auto document = parse_one("x = 1\n" + ipoib() +
                                  "[[ipoib.pkey]]\npkey = 2\nx = 1\n[[ipoib.pkey]]\npkey = 3\n"
                                  "[[ipoib]]\nmatch = {x = 1}\n[[pkey]]\n");
  EXPECT_TRUE(document.whole);
  std::vector<int> lines;
  for (const auto& where : document.faulty) lines.push_back(where.line);
  EXPECT_THAT(lines, ElementsAre(4, 9, 10)) << "the entry with match says nothing of which it is";
  EXPECT_FALSE(parse_one("version = 2").whole);
  EXPECT_FALSE(parse_one("a = ").whole);
  EXPECT_FALSE(parse_one("\xff").whole);
}

TEST(Check, EveryBadElementAtItsPlace) {
  EXPECT_THAT(
      messages(ipoib("addresses = [1, 'a', true]\n")),
      ElementsAre("a:3:14: [[ipoib]] addresses: an element must be a string in quotes, not an integer",
                  "a:3:22: [[ipoib]] addresses: an element must be a string in quotes, not a boolean"));
}

TEST(Check, ASectionThatIsPartOfAnotherIsPointedTo) {
  const auto document = parse_one("[[pkey]]\npkey = 3\n");
  EXPECT_THAT(messages(document), ElementsAre("a:1:1: [[pkey]]: unknown section"));
  EXPECT_EQ(document.diagnostics[0].hint, "pkey is part of another entry: write [[ipoib.pkey]]");
}

TEST(Check, WarningsAreNotCountedAsErrors) {
  Limits limits;
  limits.errors = 1;
  auto document =
      parse_texts({{.name = "a", .text = "x = 1\ny = 2\n", .written_by_others = "it belongs to user 7"}},
                  kSampleHost, sample_grammar(), limits);
  EXPECT_EQ(document.not_shown, 1U);
  ASSERT_EQ(document.diagnostics.size(), 3U);
  auto all = document.diagnostics;
  all.push_back({model::Severity::kError, {"a", 1, 1, 1}, "a rule", "", {}});
  arrange(all, document, limits);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].where.line, 1);
  EXPECT_EQ(all[2].message, "2 more errors are not shown");
}

TEST(Check, AWordForAModuleAsAWholeIsNotItsParameter) {
  const std::vector<std::string> keys{"name", "load", "options"};
  EXPECT_EQ(as_module_option("send_queue_size", keys),
            "write a parameter of the module as options = [\"send_queue_size=…\"]");
  for (const auto* word : {"blacklist", "softdep", "enabled", "enable", "state"})
    EXPECT_EQ(as_module_option(word, keys), "") << word;
  EXPECT_EQ(as_module_option("send_queue_size", {"name", "options"}), "") << "another section";
}

TEST(Check, EverythingAtOnceInTheOrderOfTheText) {
  Limits limits;
  limits.errors = 3;
  const auto document =
      parse_files({{"z", "x = 1\ny = 2\n"}, {"b", "[[roce]]\n"}, {"a", "mtu = \n[[a\n\n= 1"}}, limits);
  EXPECT_THAT(messages(document),
              ElementsAre("z:1:1: x: unknown key", "z:2:1: y: unknown key",
                          "b:1:1: [[roce]]: no identifying key", "3 more errors are not shown"));
}

}  // namespace
}  // namespace rdmacfg::config
