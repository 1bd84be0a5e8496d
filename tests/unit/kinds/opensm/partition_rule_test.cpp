// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/partition_rule.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rdmacfg::kinds {
namespace {

PartitionRule rule_with(const std::vector<std::string>& members, const std::string& defmember) {
  PartitionRule out;
  out.defmember = defmember;
  for (const auto& written : members) {
    auto member = parse_member(written);
    EXPECT_TRUE(member) << written;
    if (member) out.members.push_back(*member);
  }
  return out;
}

/// "SELF=full by ALL"; empty: each member has an effect.
std::string replaced_text(const PartitionRule& rule) {
  const auto replaced = rule.replaced();
  return replaced ? replaced->member.text() + " by " + replaced->by.text() : std::string();
}

/// partition_add_port() and osm_prtn_add_port() of OpenSM: a port that is there already is overwritten.
TEST(PartitionRule, ALaterMemberReplacesAnEarlierOneOfTheSamePorts) {
  struct Row {
    std::vector<std::string> members;
    std::string defmember;
    bool has_full;
    std::string replaced;
  };
  const std::string port = "0x0002c903003178f2";
  const std::vector<Row> rows{
      {{}, "", false, ""},
      {{"ALL=full"}, "", true, ""},
      {{"ALL"}, "", false, ""},
      {{"ALL"}, "full", true, ""},
      {{"ALL"}, "both", true, ""},
      {{"ALL", "SELF=full"}, "", true, ""},
      {{"SELF=full", "ALL"}, "", false, "SELF=full by ALL"},
      {{"SELF=full", "ALL"}, "full", true, ""},
      {{"SELF=full", "ALL=limited"}, "full", false, "SELF=full by ALL=limited"},
      {{port + "=full", "ALL_CAS=limited"}, "", false, port + "=full by ALL_CAS=limited"},
      {{"ALL_CAS=limited", port + "=full"}, "", true, ""},
      {{port, "ALL=full"}, "", true, port + " by ALL=full"},
      {{port + "=limited", "ALL"}, "limited", false, ""},
      {{"ALL=full", "ALL_CAS=limited"}, "", false, ""},
      {{"ALL_CAS=full", "ALL=limited"}, "", false, "ALL_CAS=full by ALL=limited"},
      {{"ALL_SWITCHES=full", "ALL_CAS=limited"}, "", false, ""},
      {{"ALL_SWITCHES=full", "ALL=limited"}, "", false, "ALL_SWITCHES=full by ALL=limited"},
      {{"ALL=limited", "ALL_SWITCHES=full", "ALL_ROUTERS=full"}, "", false, ""},
      {{"ALL=full", port + "=limited", "SELF=limited"}, "", true, ""},
      {{"SELF=full", "ALL=both"}, "", true, "SELF=full by ALL=both"},
  };
  for (const auto& row : rows) {
    const auto rule = rule_with(row.members, row.defmember);
    std::string text = row.defmember + ":";
    for (const auto& member : row.members) text += " " + member;
    EXPECT_EQ(rule.has_full(), row.has_full) << text;
    EXPECT_EQ(replaced_text(rule), row.replaced) << text;
  }
}

TEST(PartitionRule, ListsAPortWhateverItsMembership) {
  const auto port = model::Guid::parse("0002:c903:0031:78f2");
  ASSERT_TRUE(port);
  for (const auto* member : {"ALL", "ALL_CAS", "SELF", "0x0002c903003178f2=limited"})
    EXPECT_TRUE(rule_with({member}, "").lists(*port)) << member;
  for (const auto* member : {"ALL_SWITCHES=full", "ALL_ROUTERS", "0x0002c903003178f3=full"})
    EXPECT_FALSE(rule_with({member}, "").lists(*port)) << member;
}

/// osm_prtn_config.c reads on behind a line that begins with the ';' of its rule.
TEST(PartitionRule, WithoutMembersTheLastLineOfGroupsHasAWord) {
  Partition wanted;
  wanted.pkey = model::Pkey::parse("0x8003").value();
  wanted.members = std::vector<std::string>{};
  model::Section section;
  section.path = "partition";
  model::Diagnostics diagnostics;
  EXPECT_EQ(make_rule(section, wanted, diagnostics).text, "p8003=0x8003, ipoib : ;");
  model::Section group;
  group.path = "partition.group";
  group.entries["mgid"].value = std::string("ff12::1");
  section.children.push_back(group);
  EXPECT_EQ(make_rule(section, wanted, diagnostics).text,
            "p8003=0x8003, ipoib :\nmgid=ff12::1, scope=2\nNONE;");
  EXPECT_TRUE(diagnostics.empty());
}

}  // namespace
}  // namespace rdmacfg::kinds
