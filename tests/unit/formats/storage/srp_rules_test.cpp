// SPDX-License-Identifier: Apache-2.0
#include "formats/storage/srp_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmacfg::kinds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SrpRules, AreWrittenAsSrpDaemonReadsThem) {
  SrpRule rule;
  EXPECT_EQ(render_srp_rule(rule), "a");
  rule.id_ext = model::SrpId{0x200500a0b81146a1};
  rule.ioc_guid = model::SrpId{0x66};
  rule.dgid = model::PortGid::parse("fe80::2:c902:40:2bd5").value();
  rule.service_id = model::SrpId{1};
  rule.pkey = 0x8002;
  rule.options = "queue_size=128,max_sect=512";
  const auto line = render_srp_rule(rule);
  EXPECT_EQ(line,
            "a id_ext=200500a0b81146a1,ioc_guid=0000000000000066,dgid=fe800000000000000002c90200402bd5,"
            "service_id=0000000000000001,pkey=8002,queue_size=128,max_sect=512");
  EXPECT_EQ(parse_srp_rule(line), rule);
  EXPECT_LT(line.size(), 254U) << "srp_daemon reads lines into 255 bytes";
  EXPECT_EQ(render_srp_rule({.allow = false}), "d");
}

TEST(SrpRules, OtherSpellingsAreReadAsSrpDaemonDoes) {
  EXPECT_EQ(parse_srp_rule("D"), SrpRule{.allow = false});
  EXPECT_EQ(parse_srp_rule("a      ioc_guid=A, max_sect=1"),
            parse_srp_rule("A ioc_guid=000000000000000a,max_sect=1"));
  // A comma or a blank ends an option, and blanks may follow.
  for (const auto* line : {"aioc_guid=a,max_sect=1", "a ioc_guid=a max_sect=1", "a\tioc_guid=a,\t max_sect=1",
                           "a ioc_guid=a,max_sect=1,", "a ioc_guid=a,max_sect=1 "})
    EXPECT_EQ(parse_srp_rule(line), parse_srp_rule("a ioc_guid=a,max_sect=1")) << line;
  for (const auto* line :
       {"", "x", "a ioc_guid", "a ioc_guid=", "a ioc_guid=0g", "a ioc_guid=11111111111111111",
        "a max_it_iu_size=1", "d queue_size=1", "a queue_size=", "a queue_size=0x1", "a dgid=fe80::1",
        "a pkey=10000", " a", "a ioc_guid=0xa", "a ioc_guid=a ,max_sect=1", "a ioc_guid=a,,max_sect=1",
        "a dgid=fe80000000000000", "a queue_size=00000000000000001", "d\r"})
    EXPECT_FALSE(parse_srp_rule(line)) << line;
}

TEST(SrpRules, AFileIsToldByItsFirstLine) {
  const std::vector<std::string> rules{"a ioc_guid=0000000000000066", "d"};
  const auto text = render_srp_rules(rules);
  EXPECT_TRUE(is_our_srp_file(text));
  EXPECT_TRUE(text.ends_with('\n')) << "srp_daemon reads past a last line without one";
  EXPECT_EQ(parse_srp_rules(text), rules);
  EXPECT_FALSE(is_our_srp_file("d\n"));
  EXPECT_EQ(render_srp_rules({}), "");
  EXPECT_EQ(first_srp_rule("# a\n\n  d\n"), 3);
  EXPECT_EQ(first_srp_rule("# a\n\n"), 0);
  EXPECT_THAT(parse_srp_rules("#a\n\nd"), ElementsAre("d"));
  EXPECT_THAT(parse_srp_rules(""), IsEmpty());
}

}  // namespace
}  // namespace rdmacfg::kinds
