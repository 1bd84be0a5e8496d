// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/partitions_conf.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/text.hpp"
#include "formats/opensm/opensm_conf.hpp"

namespace rdmacfg::kinds {
namespace {

TEST(PartitionsConf, RulesOfOthersAreSeenWithTheirLineAndStay) {
  const std::string others =
      "# partitions\nDefault=0x7fff, ipoib : ALL=full, \\\n  SELF=full;\nstorage=0x8002, mtu=5 :\n  "
      "0x1=full;\n"
      "Default : ALL_SWITCHES=full;\nunnamed : ALL;\n";
  const auto parsed = parse_partitions(others);
  EXPECT_EQ(parsed.others, others);
  EXPECT_TRUE(parsed.rules.empty());
  ASSERT_EQ(parsed.foreign.size(), 3U);
  EXPECT_EQ(parsed.foreign[0].line, 2);
  EXPECT_EQ(parsed.foreign[0].partition, 0x7fff);
  EXPECT_EQ(parsed.foreign[1].line, 4);
  EXPECT_EQ(parsed.foreign[1].partition, 2);
  EXPECT_EQ(parsed.foreign[2].line, 6);
  EXPECT_TRUE(parsed.has(0x7fff));
  EXPECT_TRUE(parsed.has(2));
  EXPECT_FALSE(parsed.has(3));
  EXPECT_EQ(render_partitions(parsed), others);
}

TEST(PartitionsConf, AGroupOfAPartitionHasALineOfItsOwn) {
  Partitions partitions;
  const std::string rule =
      "storage=0x8002, ipoib :\nmgid=ff12:401b::707, scope=2\nmgid=ff15::1, scope=5\nALL=full;";
  partitions.rules = {{2, rule}, {3, "p8003=0x8003, ipoib :\nmgid=ff12::1, scope=2\n;"}};
  const auto text = render_partitions(partitions);
  EXPECT_NE(
      text.find("storage=0x8002, ipoib :\nmgid=ff12:401b::707, scope=2\nmgid=ff15::1, scope=5\nALL=full;\n"),
      std::string::npos);
  EXPECT_EQ(parse_partitions(text).rules, partitions.rules);
}

TEST(PartitionsConf, ARuleWithoutItsEndDoesNotHideTheNext) {
  const auto cut =
      parse_partitions(std::string(kOpensmMarks.begin) +
                       "\na=0x8001 :\nmgid=ff12::1, scope=2\nb=0x8002 : ALL=full;\nc=0x8003 : ALL,\n"
                       "d=0x8004 : ALL;\n" +
                       std::string(kOpensmMarks.end) + "\n");
  EXPECT_EQ(cut.rules.size(), 4U);
  EXPECT_EQ(cut.rules.at(2), "b=0x8002 : ALL=full;");
  EXPECT_EQ(cut.rules.at(4), "d=0x8004 : ALL;");
}

TEST(PartitionsConf, ARuleEndsAtItsSemicolon) {
  const auto parsed =
      parse_partitions("Default=0x7fff : ALL=full; a=0x8001 : # ; not here\n ALL; b=2:ALL;\n");
  ASSERT_EQ(parsed.foreign.size(), 3U);
  EXPECT_EQ(parsed.foreign[1].partition, 1);
  EXPECT_EQ(parsed.foreign[1].line, 1);
  EXPECT_EQ(parsed.foreign[2].partition, 2);
  EXPECT_EQ(parsed.foreign[2].line, 2);
  EXPECT_FALSE(parsed.damage);
}

TEST(PartitionsConf, ARuleOfOthersWithoutEndIsDamage) {
  Partitions ours;
  ours.rules[2] = "storage=0x8002 : ALL;";
  for (const auto& behind : {std::string(), render_partitions(ours)}) {
    const auto parsed = parse_partitions("# a\nDefault=0x7fff :\n ALL=full\n" + behind);
    ASSERT_TRUE(parsed.damage);
    EXPECT_EQ(parsed.damage->line, 2);
  }
}

TEST(PartitionsConf, ARuleMayHaveAPkeyAloneAndInOctal) {
  const auto parsed = parse_partitions("0x8005, ipoib : ALL;\n12:ALL;\na=010 : ALL;\nb=09 : ALL;\n");
  ASSERT_EQ(parsed.foreign.size(), 3U);
  EXPECT_EQ(parsed.foreign[0].partition, 5);
  EXPECT_EQ(parsed.foreign[1].partition, 12);
  EXPECT_EQ(parsed.foreign[2].partition, 8);
}

TEST(PartitionsConf, OnlyFifteenBitsOfAPkeyCount) {
  const auto parsed = parse_partitions("a=0x8005:ALL;\nb=5 : ALL;\nc=0x10005:ALL;\nd=x:ALL;\n");
  ASSERT_EQ(parsed.foreign.size(), 3U);
  EXPECT_EQ(parsed.foreign[0].partition, 5);
  EXPECT_EQ(parsed.foreign[1].partition, 5);
  EXPECT_EQ(parsed.foreign[2].partition, 5) << "as OpenSM has 16 bits for its strtoul()";
}

TEST(PartitionsConf, RulesOfOursComeAndGo) {
  const std::string others = "Default=0x7fff : ALL=full;\n";
  auto partitions = parse_partitions(others);
  partitions.rules[2] = "storage=0x8002, ipoib : ALL=full;";
  const auto text = render_partitions(partitions);
  auto again = parse_partitions(text);
  EXPECT_EQ(again.rules, partitions.rules);
  EXPECT_EQ(again.others, others);
  EXPECT_EQ(again.foreign.size(), 1U);
  again.rules.clear();
  EXPECT_EQ(render_partitions(again), others);
}

/// OpenSM's own reading: fgets() of at most 4094 bytes, the definition on one line, members until the ';'.
TEST(PartitionsConf, ALongRuleOfOursGoesOverSeveralLines) {
  for (const unsigned count : {1U, 150U, 200U, 500U}) {
    std::string rule = "storage=0x8002, ipoib, mtu=5 : 0x0002c90300000000=full";
    for (unsigned i = 1; i < count; ++i)
      rule += ", " + opensm_guid(model::Guid{0x0002c90300000000U + i}) + "=full";
    rule += ";";
    Partitions partitions;
    partitions.rules[2] = rule;
    partitions.rules[3] = "next=0x8003 : ALL=full;";
    const auto text = render_partitions(partitions);
    for (const auto line : base::split(text, '\n')) EXPECT_LT(line.size(), 4094U) << count;
    EXPECT_EQ(parse_partitions(text).rules, partitions.rules) << count;
    EXPECT_EQ(base::split(text, '\n').size(), rule.size() < 4000 ? 5U : 5U + rule.size() / 4000) << count;
  }
}

TEST(PartitionsConf, ALineOfOursThatSomebodyCutHidesNoOther) {
  Partitions partitions;
  partitions.rules[2] = "storage=0x8002 : ALL=full";
  partitions.rules[3] = "next=0x8003 : ALL=full;";
  EXPECT_EQ(parse_partitions(render_partitions(partitions)).rules, partitions.rules);
}

TEST(PartitionsConf, AWholePartitionFileOfOursIsEmptyWithoutRules) {
  Partitions partitions;
  partitions.rules[2] = "storage=0x8002 : ALL;";
  auto again = parse_partitions(render_partitions(partitions));
  again.rules.clear();
  EXPECT_EQ(render_partitions(again), "");
}

}  // namespace
}  // namespace rdmacfg::kinds
