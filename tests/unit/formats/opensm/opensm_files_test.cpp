// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/opensm_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

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
  for (const auto& line : checked.wrong) out += std::to_string(line.number) + " " + line.what + "\n";
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
              HasSubstr("1 port 1 is listed twice"));
  EXPECT_THAT(mistakes_of(checked_side_file("node_name_map_name", {"0x1 leaf"})),
              HasSubstr("must be followed by a quoted name"));
  const std::string long_line = "0x1 \"" + std::string(300, 'x') + "\"";
  EXPECT_THAT(mistakes_of(checked_side_file("node_name_map_name", {long_line})),
              HasSubstr("OpenSM reads 250"));
}

struct SideFileMistakes {
  const char* option;
  std::vector<std::string> lines;
  const char* mistakes;  ///< all of them, each with its line
};

const std::string kTorusSize = "torus 3 3 3";
const std::vector<SideFileMistakes> kSideFileMistakes{
    {"root_guid_file",
     {"x"},
     "1 \"x\" is not a valid GUID: only hexadecimal digits and ':' are allowed; "
     "write it like 00:02:c9:03:00:31:78:f2\n"},
    {"cn_guid_file", {"0x1", "0x2", "0x01"}, "3 0x0000000000000001 is listed twice\n"},
    {"ids_guid_file", {"0x1 x"}, "1 \"x\" is not a number from 0 to 18446744073709551615\n"},
    {"ids_guid_file", {"0x1"}, "1 the line has 1 word; must have 2: \"GUID ID\" of switches\n"},
    {"ids_guid_file", {"0x1 1 2"}, "1 the line has 3 words; must have 2: \"GUID ID\" of switches\n"},
    {"hop_weights_file",
     {"0x1 2"},
     "1 the line has 2 words; must have 3: \"GUID PORT WEIGHT\" of switches\n"},
    {"hop_weights_file", {"0x1 0 1"}, "1 \"0\" is not a port from 1 to 254\n"},
    {"hop_weights_file", {"0x1 255 1"}, "1 \"255\" is not a port from 1 to 254\n"},
    {"hop_weights_file", {"0x1 1 0"}, "1 \"0\" is not a weight from 1 to 255\n"},
    {"hop_weights_file", {"0x1 1 256"}, "1 \"256\" is not a weight from 1 to 255\n"},
    {"hop_weights_file", {"# none", "", "0x1 1 -1"}, "3 \"-1\" is not a weight from 1 to 255\n"},
    {"port_search_ordering_file", {"0x1"}, "1 0x0000000000000001 must be followed by ports\n"},
    {"port_search_ordering_file", {"0x1 8 010"}, "1 port 010 is listed twice\n"},
    {"hop_weights_file", {"0x1 010 08"}, "1 \"08\" is not a weight from 1 to 255\n"},
    {"torus_config", {"torus 010 3 3", "x_dateline 8"}, "2 x_dateline 8: must be from -7 to 7\n"},
    {"port_search_ordering_file", {"0x1 x"}, "1 \"x\" is not a port from 1 to 254\n"},
    {"port_prof_ignore_file",
     {"0x1 2 3"},
     "1 the line has 3 words; must have 2: \"GUID PORT\" of switch ports that balancing leaves out\n"},
    {"port_prof_ignore_file", {"0x1 0"}, "1 \"0\" is not a port from 1 to 254\n"},
    {"node_name_map_name", {"0x1 \"\""}, "1 0x0000000000000001 must be followed by a quoted name\n"},
    {"node_name_map_name", {"0x1 \"a"}, "1 0x0000000000000001 must be followed by a quoted name\n"},
    {"node_name_map_name", {"0x1 \"a\"b\""}, "1 0x0000000000000001 must be followed by a quoted name\n"},
    {"prefix_routes_file",
     {"*"},
     "1 the line has 1 word; must have 2: \"PREFIX GUID\" of subnets behind routers, * for any\n"},
    {"prefix_routes_file",
     {"* * *"},
     "1 the line has 3 words; must have 2: \"PREFIX GUID\" of subnets behind routers, * for any\n"},
    {"prefix_routes_file", {"x *"}, "1 \"x\" is not a prefix\n"},
    {"prefix_routes_file", {"0x0 *"}, "1 \"0x0\" is not a prefix\n"},
    {"prefix_routes_file",
     {"* x"},
     "1 \"x\" is not a valid GUID: only hexadecimal digits and ':' are allowed; "
     "write it like 00:02:c9:03:00:31:78:f2\n"},
    {"per_module_logging_file", {"osm_sa 3"}, "1 \"osm_sa 3\" is not a source file and a level\n"},
    {"per_module_logging_file", {"osm_sa.c"}, "1 \"osm_sa.c\" is not a source file and a level\n"},
    {"per_module_logging_file", {"osm_sa.c="}, "1 \"osm_sa.c=\" is not a source file and a level\n"},
    {"per_module_logging_file", {"osm_sa.c=256"}, "1 \"256\" is not a level from 0 to 255\n"},
    {"torus_config", {}, "0 there is no line \"torus X Y Z\" or \"mesh X Y Z\"\n"},
    {"torus_config",
     {"torus 3 3"},
     "1 torus is followed by 2 words; must have 3: the number of switches in each dimension\n"},
    {"torus_config", {"torus 0 3 3"}, "1 \"0\" is not a number of switches from 1 to 1024\n"},
    {"torus_config", {"mesh 3 1025 3"}, "1 \"1025\" is not a number of switches from 1 to 1024\n"},
    {"torus_config", {kTorusSize, "mesh 3 3 3"}, "2 mesh is a second size of the fabric\n"},
    {"torus_config",
     {"xp_link 0x1 0x2", kTorusSize},
     "1 xp_link precedes the line \"torus X Y Z\" or \"mesh X Y Z\"\n"},
    {"torus_config",
     {kTorusSize, "xp_link 0x1 0x2 0x3"},
     "2 xp_link is followed by 3 words; must have 2: node GUIDs of two switches\n"},
    {"torus_config",
     {kTorusSize, "x_dateline"},
     "2 x_dateline is followed by 0 words; must have 1: a position\n"},
    {"torus_config", {kTorusSize, "y_dateline one"}, "2 y_dateline one: must be from -2 to 2\n"},
    {"torus_config", {kTorusSize, "z_dateline -3"}, "2 z_dateline -3: must be from -2 to 2\n"},
    {"torus_config",
     {kTorusSize, "next_seed 1 2"},
     "2 next_seed is followed by 2 words; must have 0: nothing\n"},
    {"torus_config", {kTorusSize, "portgroup_max_ports 0"}, "2 \"0\" is not a number from 1 to 65535\n"},
    {"torus_config",
     {kTorusSize, "max_changes"},
     "2 max_changes is followed by 0 words; must have 1: a number\n"},
    {"torus_config", {kTorusSize, "port_order 255"}, "2 \"255\" is not a port from 0 to 254\n"},
    {"torus_config", {kTorusSize, "colour red"}, "2 \"colour\" is not a keyword of torus-2QoS.conf\n"},
    {"torus_config", {kTorusSize, "wp_link 0x1 0x2"}, "2 \"wp_link\" is not a keyword of torus-2QoS.conf\n"},
    {"torus_config", {kTorusSize, "xq_link 0x1 0x2"}, "2 \"xq_link\" is not a keyword of torus-2QoS.conf\n"},
};

TEST(OpensmSideFiles, EachMistakeIsSaidInFull) {
  for (const auto& row : kSideFileMistakes)
    EXPECT_EQ(mistakes_of(checked_side_file(row.option, row.lines)), row.mistakes)
        << row.option << ": " << testing::PrintToString(row.lines);
}

/// A policy with a default level in its first three lines, and these behind it.
std::string mistakes_of_policy(std::vector<std::string> lines) {
  const std::vector<std::string> first{"qos-ulps", "default : 0", "end-qos-ulps"};
  lines.insert(lines.begin(), first.begin(), first.end());
  return mistakes_of(checked_side_file("qos_policy_file", lines));
}

std::vector<std::string> policy_group(const char* line) {
  return {"port-groups", "port-group", "name: A", line, "end-port-group", "end-port-groups"};
}

std::vector<std::string> policy_level(const char* line) {
  return {"qos-levels", "qos-level", "name: L", "sl: 1", line, "end-qos-level", "end-qos-levels"};
}

std::vector<std::string> policy_arbitration(const char* group_line, const char* line) {
  return {"qos-setup", "vlarb-tables",    "vlarb-scope",      group_line,
          line,        "end-vlarb-scope", "end-vlarb-tables", "end-qos-setup"};
}

std::vector<std::string> policy_lanes(const char* line, const char* table) {
  return {"qos-setup", "sl2vl-tables",    "sl2vl-scope",      "across: A",    line,
          table,       "end-sl2vl-scope", "end-sl2vl-tables", "end-qos-setup"};
}

std::vector<std::string> policy_ulps(const char* line) { return {"qos-ulps", line, "end-qos-ulps"}; }

constexpr const char* kLaneTable = "sl2vl-table: 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7";

const std::vector<std::pair<std::vector<std::string>, std::string>> kPolicyMistakes{
    {{"nonsense"}, "4 \"nonsense\" begins no block and has no colon\n"},
    {{"name: x"}, "4 \"name\" is outside all blocks\n"},
    {{"port-group", "name: A", "end-port-group"}, "4 port-group does not belong here\n"},
    {{"port-group", "end-port-group"}, "4 port-group does not belong here\n4 port-group has no name\n"},
    {{"port-groups", "end-qos-levels", "end-port-groups"},
     "5 end-qos-levels ends a block that is not open here\n"},
    {{"end-qos-ulps"}, "4 end-qos-ulps ends a block that is not open here\n"},
    {{"end-"}, "4 end- ends a block that is not open here\n"},
    {{"port-groups", "end-", "end-port-groups"}, "5 end- ends a block that is not open here\n"},
    {{"port-groups"}, "4 port-groups has no end\n"},
    {policy_group("colour: red"), "7 port-group has no key \"colour\"\n"},
    {policy_group("name: B"), "7 name is repeated in this port-group\n"},
    {policy_group("use:"), "7 use has no value\n"},
    {policy_group("port-guid 5"), "7 \"port-guid 5\" begins no block and has no colon\n"},
    {policy_group("port-guid: x"), "7 port-guid: \"x\" is not a number\n"},
    {policy_group("port-guid: 1-x"), "7 port-guid: \"x\" is not a number\n"},
    {policy_group("port-guid: 5-3"), ""},
    {policy_group("port-guid: 1,,2"), "7 port-guid: an element is empty\n"},
    {policy_group("pkey: 0x10000"), "7 pkey: 0x10000 is out of range; must be from 0 to 65535\n"},
    {policy_group("node-type: CA, hub"),
     "7 node-type: \"hub\" is not a type of nodes: CA, ROUTER, SWITCH, SELF, ALL\n"},
    {policy_level("sl: 2"), "8 sl is repeated in this qos-level\n"},
    {policy_level("mtu-limit: 6"), "8 mtu-limit: 6 is out of range; must be from 1 to 5\n"},
    {policy_level("rate-limit: 1"), "8 rate-limit: 1 is out of range; must be from 2 to 24\n"},
    {policy_level("packet-life: 64"), "8 packet-life: 64 is out of range; must be from 0 to 63\n"},
    {policy_level("path-bits: 128"), "8 path-bits: 128 is out of range; must be from 0 to 127\n"},
    {policy_level("pkey: 65536"), "8 pkey: 65536 is out of range; must be from 0 to 65535\n"},
    {{"qos-levels", "qos-level", "end-qos-level", "end-qos-levels"},
     "5 qos-level has no name\n5 qos-level has no sl\n"},
    {{"qos-levels", "qos-level", "name: a b", "sl: 1", "end-qos-level", "end-qos-levels"}, ""},
    {{"qos-levels", "qos-level", "name: a,b", "sl: 1", "end-qos-level", "end-qos-levels"},
     "6 name: \"a,b\" has a comma\n"},
    {{"qos-levels", "qos-level", "name: L", "sl: 16", "end-qos-level", "end-qos-levels"},
     "7 sl: 16 is out of range; must be from 0 to 15\n"},
    {policy_arbitration("group: A", "vlarb-low: x"),
     "8 vlarb-low: \"x\" is not a VL and its weight, such as 0:64\n"},
    {policy_arbitration("group: A", "vlarb-low: 15:1"),
     "8 vlarb-low: 15 is out of range; must be from 0 to 14\n"},
    {policy_arbitration("group: A", "vlarb-high: 0:256"),
     "8 vlarb-high: 256 is out of range; must be from 0 to 255\n"},
    {policy_arbitration("group: A", "vl-high-limit: 256"),
     "8 vl-high-limit: 256 is out of range; must be from 0 to 255\n"},
    {policy_arbitration("# nobody", "vl-high-limit: 1"), "6 vlarb-scope names no ports\n"},
    {policy_lanes("from: 1-128", kLaneTable), "8 from: 128 is out of range; must be from 0 to 127\n"},
    {policy_lanes("to: *", kLaneTable), ""},
    {policy_lanes("to: x", kLaneTable), "8 to: \"x\" is not a number\n"},
    {policy_lanes("to: *", "# none"), "6 sl2vl-scope has no sl2vl-table\n"},
    {policy_lanes("to: *", "sl2vl-table: 0,1"),
     "9 sl2vl-table has 2 values; must have 16: the VL of each SL\n"},
    {policy_lanes("to: *", "sl2vl-table: 16"), "9 sl2vl-table: 16 is out of range; must be from 0 to 15\n"},
    {{"qos-match-rules", "qos-match-rule", "qos-class: 0x1000", "end-qos-match-rule", "end-qos-match-rules"},
     "6 qos-class: 0x1000 is out of range; must be from 0 to 4095\n5 qos-match-rule has no "
     "qos-level-name\n"},
    {policy_ulps("ipoib"), "5 a rule of qos-ulps ends with \": SL\"\n"},
    {policy_ulps("ipoib : x"), "5 SL: \"x\" is not a number\n"},
    {policy_ulps("ipoib, pkey : 3"), "5 pkey: \"\" is not a number\n"},
    {policy_ulps("sdp, port-num 65536 : 3"), "5 port-num: 65536 is out of range; must be from 0 to 65535\n"},
    {policy_ulps("rds, pkey 1 : 3"), "5 \"rds, pkey 1\" is not a rule of qos-ulps\n"},
    {policy_ulps("sdp, : 3"), "5 \"sdp,\" is not a rule of qos-ulps\n"},
    {{"qos-ulps", "end-qos-ulps"}, "4 qos-ulps is empty\n"},
    {{"port-groups", "end-port-groups"}, "4 port-groups is empty\n"},
    {{"qos-levels", "end-qos-levels"}, ""},
    {policy_group("port-name: node1/P1"), ""},
    {policy_group("port-name: \"vs1 HCA-1/P1\", leaf-1/p36,\"a, b # c\"/P0x2"), ""},
    {policy_group("port-name: vs1 HCA-1/P1"),
     "7 port-name: OpenSM leaves the blanks of vs1 HCA-1/P1 out, and finds no such node\n"},
    {policy_group("port-name: node1"),
     "7 port-name: node1 is not a node's description with its port, such as \"node1 HCA-1/P1\"\n"},
    {policy_group("port-name: node1/1"),
     "7 port-name: node1/1 is not a node's description with its port, such as \"node1 HCA-1/P1\"\n"},
    {policy_group("port-name: node1/P"),
     "7 port-name: node1/P is not a node's description with its port, such as \"node1 HCA-1/P1\"\n"},
    {policy_group("port-name: node1/P0"),
     "7 port-name: node1/P0 is not a node's description with its port, such as \"node1 HCA-1/P1\"\n"},
    {policy_group("port-name: node1/P255"),
     "7 port-name: node1/P255 is not a node's description with its port, such as \"node1 HCA-1/P1\"\n"},
    {policy_group("port-name: /P1"),
     "7 port-name: /P1 is not a node's description with its port, such as \"node1 HCA-1/P1\"\n"},
    {policy_group("use: the 19\" rack"), ""},
    {{"port-groups", "port-group", "name: A", "use: the 19\" rack", "partition: \"a b\"", "end-port-group",
      "end-port-groups"},
     "7 the quote is not closed on this line; OpenSM reads on to the next quote\n"},
    {policy_group("use: all of a port-group"), ""},
    {policy_group(("use: " + std::string(10240, 'x')).c_str()),
     "7 use has 10240 characters; OpenSM reads 10239\n"},
    {policy_group(("partition: A," + std::string(10240, 'x')).c_str()),
     "7 partition has 10240 characters; OpenSM reads 10239\n"},
    {policy_group(("partition: " + std::string(6000, 'x') + "," + std::string(6000, 'y')).c_str()), ""},
    {policy_group("partition: my-port-group"),
     "7 partition: OpenSM reads port-group in my-port-group as a block; write the name in quotes\n"},
    {policy_group("partition: \"my-port-group\""), ""},
    {policy_level("packet-life: 077"), ""},
    {policy_level("packet-life: 0100"), "8 packet-life: 0100 is out of range; must be from 0 to 63\n"},
    {policy_level("packet-life: 08"), "8 packet-life: \"08\" is not a number\n"},
    {policy_level("rate-limit: 24"), ""},
    {policy_level("rate-limit: 25"), "8 rate-limit: 25 is out of range; must be from 2 to 24\n"},
    {policy_lanes("to: 1, *", kLaneTable), "8 to: * stands alone\n"},
};

TEST(QosPolicy, EachMistakeIsSaidInFull) {
  for (const auto& [lines, mistakes] : kPolicyMistakes)
    EXPECT_EQ(mistakes_of_policy(lines), mistakes) << testing::PrintToString(lines);
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
  EXPECT_EQ(policy("any, pkey 5-3 : 5"), "");
  const auto turned = checked_side_file(
      "qos_policy_file", {"qos-ulps", "default : 0", "ipoib, pkey 0x8003-0x8001 : 4", "end-qos-ulps"});
  ASSERT_EQ(turned.pkeys.size(), 1U);
  EXPECT_EQ(turned.pkeys[0].from, 0x8001);
  EXPECT_EQ(turned.pkeys[0].to, 0x8003);
}

/// As OpenSM's own documentation has them (doc/QoS_management_in_OpenSM.txt).
TEST(QosPolicy, NamesMayHaveBlanks) {
  std::vector<std::string> lines{"port-groups",        "port-group",
                                 "name: CAs and SM",   "node-type: CA, SELF",
                                 "end-port-group",     "end-port-groups",
                                 "qos-levels",         "qos-level",
                                 "name: All at once",  "sl: 1",
                                 "end-qos-level",      "end-qos-levels",
                                 "qos-match-rules",    "qos-match-rule",
                                 "source: CAs and SM", "qos-level-name: all atonce",
                                 "end-qos-match-rule", "end-qos-match-rules"};
  EXPECT_EQ(mistakes_of_policy(lines), "");
  lines[14] = "source: \"CAs and SM\"";  // in quotes blanks count
  EXPECT_EQ(mistakes_of_policy(lines), "18 no port-group is named CAs and SM\n");
}

TEST(QosPolicy, ListsGoOnInTheNextLine) {
  std::string guids = "port-guid: 0x1";
  for (int i = 0; i < 1000; ++i) guids += ", 0x0002c90300a0b001";
  const std::vector<std::string> lines{
      "qos-ulps",      "default : 0", "end-qos-ulps",     "port-groups",    "port-group",
      "name: A",       guids + ",",   "  # more of them", "0x2,",           "  0x3-0x4 # here",
      "port-guid: x,", "0x5",         "end-port-group",   "end-port-groups"};
  const auto policy = checked_side_file("qos_policy_file", lines);
  EXPECT_EQ(mistakes_of(policy), "11 port-guid: \"x\" is not a number\n");
  ASSERT_GT(policy.lines.size(), 7U);
  EXPECT_EQ(policy.lines[6], "    " + guids + ",0x2,0x3-0x4");
  EXPECT_EQ(mistakes_of_policy(policy_group("port-guid: 0x1,")), "7 port-guid: an element is empty\n");
  EXPECT_EQ(mistakes_of_policy(policy_group("use: switches, hosts,")), "");
}

TEST(QosPolicy, WhatOpensmReadsInVainIsNoError) {
  auto lines = policy_group("port-name: vs1 HCA-1/P1");
  const std::vector<std::string> first{"qos-ulps", "default : 0", "end-qos-ulps"};
  lines.insert(lines.begin(), first.begin(), first.end());
  const auto policy = checked_side_file("qos_policy_file", lines);
  ASSERT_EQ(policy.wrong.size(), 1U);
  EXPECT_TRUE(policy.wrong[0].only_vain);
  lines[6] = "port-name: vs1 HCA-1/1";
  const auto other = checked_side_file("qos_policy_file", lines);
  ASSERT_EQ(other.wrong.size(), 1U);
  EXPECT_FALSE(other.wrong[0].only_vain);
}

TEST(QosPolicy, ADefaultRuleWithAMistakeIsThere) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"default : 16", "2 SL: 16 is out of range; must be from 0 to 15\n"},
      {"DEFAULT:", "2 SL: \"\" is not a number\n"},
      {"default 0", "2 a rule of qos-ulps ends with \": SL\"\n"}};
  for (const auto& [rule, mistakes] : cases)
    EXPECT_EQ(mistakes_of(checked_side_file("qos_policy_file", {"qos-ulps", rule, "end-qos-ulps"})),
              mistakes);
}

TEST(QosPolicy, NamesMustBeDefined) {
  const auto checked = checked_side_file(
      "qos_policy_file", {"qos-match-rules", "qos-match-rule", "source: Storage", "qos-level-name: Fast",
                          "end-qos-match-rule", "end-qos-match-rules"});
  EXPECT_EQ(mistakes_of(checked),
            "0 there is no default level\n4 no qos-level is named Fast\n3 no port-group is named Storage\n");
}

/// A rule of a policy with a default level, with this line.
std::vector<std::string> policy_rule(const char* line) {
  return {"qos-match-rules", "qos-match-rule", line, "end-qos-match-rule", "end-qos-match-rules"};
}

TEST(QosPolicy, TheDefaultRuleOfProtocolsIsNoLevelOfMatchRules) {
  EXPECT_EQ(mistakes_of_policy(policy_rule("qos-level-name: DEFAULT")), "6 no qos-level is named DEFAULT\n");
}

TEST(QosPolicy, NamesAreComparedWithoutTheirQuotes) {
  std::vector<std::string> lines{"port-groups",
                                 "port-group",
                                 "name: \"I/O Nodes\"",
                                 "end-port-group",
                                 "end-port-groups",
                                 "qos-levels",
                                 "qos-level",
                                 "name: Fast",
                                 "sl: 1",
                                 "end-qos-level",
                                 "end-qos-levels",
                                 "qos-match-rules",
                                 "qos-match-rule",
                                 "source: \"i/o nodes\"",
                                 "qos-level-name: \"fast\"",
                                 "end-qos-match-rule",
                                 "end-qos-match-rules"};
  EXPECT_EQ(mistakes_of_policy(lines), "");
  lines[13] = "source: io nodes";
  EXPECT_EQ(mistakes_of_policy(lines), "17 no port-group is named ionodes\n");
}

}  // namespace
}  // namespace rdmacfg::kinds
