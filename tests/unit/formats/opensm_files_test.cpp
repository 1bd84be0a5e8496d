// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/opensm_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmacfg::kinds {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CheckedLines checked_side_file(std::string_view option, const std::vector<std::string>& lines) {
  return check_opensm_lines(*opensm_side_file(option), lines);
}

std::string mistakes_of(const CheckedLines& checked) {
  std::string out;
  for (const auto& one : checked.wrong) out += std::to_string(one.number) + " " + one.what + "\n";
  return out;
}

TEST(OpensmSideFiles, LinesComeOutAsOpensmReadsThem) {
  EXPECT_THAT(checked_side_file("root_guid_file", {"0x1", "00:02:c9:02:00:40:00:01"}).lines,
              ElementsAre("0x0000000000000001", "0x0002c90200400001"));
  EXPECT_THAT(checked_side_file("hop_weights_file", {"# a comment", "0x1   2\t3 # here"}).lines,
              ElementsAre("0x0000000000000001 2 3"));
  EXPECT_THAT(checked_side_file("prefix_routes_file", {"0xfec0000000000001 0x1", "* *"}).lines,
              ElementsAre("0xfec0000000000001 0x0000000000000001", "* *"));
  EXPECT_THAT(checked_side_file("per_module_logging_file", {"osm_sa.c = 0x3"}).lines,
              ElementsAre("osm_sa.c=0x3"));
  EXPECT_THAT(checked_side_file("node_name_map_name", {"0x1   \"leaf 1\""}).lines,
              ElementsAre("0x0000000000000001 \"leaf 1\""));
}

TEST(OpensmSideFiles, WhatIsRightStaysWhenItIsCheckedAgain) {
  const auto torus =
      checked_side_file("torus_config", {"mesh 2 3T 1", "xp_link 1 0x2", "y_dateline -2", "next_seed",
                                         "xm_link 0x3 0x4", "portgroup_max_ports 17", "port_order 3 1"});
  EXPECT_THAT(torus.wrong, testing::SizeIs(1)) << mistakes_of(torus);  // 1 is not how a GUID is written
  const std::vector<std::string> policy{"qos-levels",    "qos-level",      "name: DEFAULT",  "sl: 0",
                                        "end-qos-level", "end-qos-levels", "port-groups",    "port-group",
                                        "name: Storage", "end-port-group", "end-port-groups"};
  const auto once = checked_side_file("qos_policy_file", policy);
  EXPECT_THAT(mistakes_of(once), IsEmpty());
  EXPECT_EQ(once.lines[2], "    name: DEFAULT");
  EXPECT_EQ(checked_side_file("qos_policy_file", once.lines).lines, once.lines);
  EXPECT_EQ(parse_opensm_file(render_opensm_file(once.lines)), once.lines);
}

TEST(OpensmSideFiles, EveryMistakeIsNamedWithItsLine) {
  EXPECT_THAT(
      mistakes_of(checked_side_file("torus_config", {"torus 3 3 3", "xp_link 0x1 0x2", "yp_link 0x3 0x4"})),
      HasSubstr("3 yp_link begins at 0x0000000000000003, other links of this seed at"));
  EXPECT_THAT(mistakes_of(checked_side_file("torus_config", {"torus 3 3 3", "x_dateline 3"})),
              HasSubstr("2 x_dateline 3: must be from -2 to 2"));
  EXPECT_THAT(mistakes_of(checked_side_file("port_search_ordering_file", {"0x1 1 1"})),
              HasSubstr("1 port 1 is there twice"));
  EXPECT_THAT(mistakes_of(checked_side_file("node_name_map_name", {"0x1 leaf"})),
              HasSubstr("needs a name in quotes"));
  const std::string long_line = "0x1 \"" + std::string(300, 'x') + "\"";
  EXPECT_THAT(mistakes_of(checked_side_file("node_name_map_name", {long_line})),
              HasSubstr("OpenSM reads 250"));
}

TEST(OpensmSideFiles, AFileOfOursSaysSo) {
  const std::vector<std::string> lines{"0x0000000000000001"};
  EXPECT_TRUE(is_our_opensm_file(render_opensm_file(lines)));
  EXPECT_FALSE(is_our_opensm_file("0x1\n"));
  EXPECT_EQ(render_opensm_file({}), "");
}

TEST(OpensmSideFiles, EachPortHasNamesOfItsOwn) {
  const model::Guid port{0x0002c903003178f2};
  for (const auto& file : opensm_side_files()) {
    EXPECT_EQ(opensm_side_name(file, std::nullopt), file.name);
    EXPECT_FALSE(own_side_file(file.name)) << file.name;
    const auto name = opensm_side_name(file, port);
    const auto own = own_side_file(name);
    ASSERT_TRUE(own) << name;
    EXPECT_EQ(own->file, &file);
    EXPECT_EQ(own->port, port);
  }
  EXPECT_EQ(opensm_side_name(*opensm_side_file("root_guid_file"), port),
            "rdma-root-guids-0x0002c903003178f2.conf");
  for (const auto* name : {"rdma-root-guids-0x2c903003178f2.conf", "rdma-other-0x0002c903003178f2.conf",
                           "rdma-root-guids-0x0002c903003178f2", "-0x.conf", "x-0x1"})
    EXPECT_FALSE(own_side_file(name)) << name;
}

TEST(QosPolicy, RulesOfProtocolsAreThoseOfOpensm) {
  const auto policy = [](std::string rule) {
    return mistakes_of(
        checked_side_file("qos_policy_file", {"qos-ulps", "default : 0", std::move(rule), "end-qos-ulps"}));
  };
  for (const auto* rule :
       {"sdp, port-num 10000-20000 : 0", "ipoib, pkey 0x0001 : 4", "any, target-port-guid 0xABC-0xFFFFF : 6",
        "iser : 3", "ANY,service-id 1 , 3-4: 15"})
    EXPECT_EQ(policy(rule), "") << rule;
  EXPECT_THAT(policy("nfs : 3"), HasSubstr("3 \"nfs\" is not a rule of qos-ulps"));
  EXPECT_THAT(policy("ipoib : 16"), HasSubstr("3 SL: 16 is out of range"));
  EXPECT_THAT(policy("srp : 5"), HasSubstr("\"srp\" is not a rule"));
  EXPECT_THAT(policy("ipoib, pkey 0x10000 : 5"), HasSubstr("3 pkey: 0x10000 is out of range"));
  EXPECT_THAT(policy("any, pkey 5-3 : 5"), HasSubstr("the range 5-3 ends before it begins"));
}

TEST(QosPolicy, NamesMustBeDefined) {
  const auto checked = checked_side_file(
      "qos_policy_file", {"qos-match-rules", "qos-match-rule", "source: Storage", "qos-level-name: Fast",
                          "end-qos-match-rule", "end-qos-match-rules"});
  EXPECT_EQ(
      mistakes_of(checked),
      "0 there is no default level\n4 no qos-level is called fast\n3 no port-group is called storage\n");
}

}  // namespace
}  // namespace rdmacfg::kinds
