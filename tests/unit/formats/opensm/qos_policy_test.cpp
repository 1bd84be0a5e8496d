// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/qos_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "formats/opensm/qos_policy_text.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string mistakes_in_policy(const std::vector<std::string>& lines) {
  std::string out;
  for (const auto& line : check_qos_policy(lines).wrong)
    out += std::to_string(line.number) + " " + line.what + "\n";
  return out;
}

/// As the lexer of OpenSM splits them (osm_qos_parser_l.l), for which a line has no meaning of its own.
TEST(QosPolicyText, ALineHasSeveralStatements) {
  EXPECT_THAT(policy_statements("  qos-level name: a b end-qos-level"),
              ElementsAre("qos-level", "name: a b", "end-qos-level"));
  EXPECT_THAT(policy_statements("sl: 1 mtu-limit : 4\tpkey:0x1,0x2"),
              ElementsAre("sl: 1", "mtu-limit : 4", "pkey:0x1,0x2"));
  EXPECT_THAT(policy_statements("qos-ulps default:0 ipoib , pkey 0x1 : 4 IPOIB:5 end-qos-ulps"),
              ElementsAre("qos-ulps", "default:0", "ipoib , pkey 0x1 : 4", "IPOIB:5", "end-qos-ulps"));
  EXPECT_THAT(policy_statements("ipoib, pkey : 3"), ElementsAre("ipoib, pkey : 3"));
  EXPECT_THAT(policy_statements("any,target-port-guid 0x1: 3"), ElementsAre("any,target-port-guid 0x1: 3"));
  EXPECT_THAT(policy_statements("use: of a port-group, sl: 1"), ElementsAre("use: of a port-group, sl: 1"));
  EXPECT_THAT(policy_statements("name: \"a port-group sl: 1\" use: x"),
              ElementsAre("name: \"a port-group sl: 1\"", "use: x"));
  EXPECT_THAT(policy_statements("vlarb-high: 0:64, 1:64"), ElementsAre("vlarb-high: 0:64, 1:64"));
  EXPECT_THAT(policy_statements("partition: my-port-group"), ElementsAre("partition: my-port-group"));
  EXPECT_THAT(policy_statements(" \t"), IsEmpty());
}

TEST(QosPolicy, TakesSeveralStatementsOfALine) {
  const std::vector<std::string> lines{
      "qos-ulps default : 0 sdp, port-num 1-2 : 1 end-qos-ulps  # all in one line",
      "qos-levels qos-level name: Fast", "sl: 3 packet-life: 18 end-qos-level end-qos-levels"};
  const auto policy = check_qos_policy(lines);
  EXPECT_EQ(mistakes_in_policy(lines), "");
  EXPECT_THAT(policy.lines,
              ElementsAre("qos-ulps", "  default : 0", "  sdp, port-num 1-2 : 1", "end-qos-ulps",
                          "qos-levels", "  qos-level", "    name: Fast", "    sl: 3", "    packet-life: 18",
                          "  end-qos-level", "end-qos-levels"));
}

TEST(QosPolicy, ReadsNoNumbersBehindAName) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"name: Fast sl: 3", "5 after name on one line, OpenSM reads the numbers of sl as text\n"},
      {"sl: 3 name: Fast", ""},
      {"name: Fast use: sl: 3\nsl: 3", ""}};
  for (const auto& [text, mistakes] : cases) {
    std::vector<std::string> lines{"qos-ulps", "default : 0", "end-qos-ulps", "qos-levels qos-level"};
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end != std::string::npos) lines.push_back(text.substr(end + 1));
    lines.emplace_back("end-qos-level end-qos-levels");
    EXPECT_EQ(mistakes_in_policy(lines), mistakes) << text;
  }
}

}  // namespace
}  // namespace rdmacfg::kinds
