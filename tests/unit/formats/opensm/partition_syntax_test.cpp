// SPDX-License-Identifier: Apache-2.0
// Lines of partitions.conf, as osm_prtn_config.c reads them or ends at them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/opensm/partitions_conf.hpp"

namespace rdmacfg::kinds {
namespace {

TEST(PartitionSyntax, WhatOpensmReadsIsRight) {
  for (const std::string text :
       {"", "# partitions; of others\n\n  \t\n", "Default=0x7fff, ipoib : ALL=full;\n",
        "Default=0x7fff, ipoib, defmember=full :\n  ALL_CAS, ALL_SWITCHES=full,\n  SELF=both;\n",
        "Default=0x7fff : ALL=full; a=0x8001 : # ; not here\n ALL; b=2:ALL;\n",
        "0x8005 : 0x1=full, 2;\n12:ALL;\n", "unnamed, ipoib : ALL;\n", "a=010 : 011;\n", "a=-1 : ALL;\n",
        "empty=0x3 : ;\n", "empty=0x3 :\nNONE;\n", "abbreviated=0x4 : A=full, S, N;\n",
        "twice=0x5 : ALL; twice=0x5, mtu=4 : SELF;\n",
        "group=0x8006, ipoib, scope=2, scope=5 :\nmgid=ff12:401b::707, rate=x\nALL;\n",
        "sloppy=0x7,, nonsense=1, mtu= : ALL=perhaps,,;\n"})
    EXPECT_FALSE(parse_partitions(text).unread) << text;
}

struct UnreadLine {
  std::string text;
  int line = 0;
  const char* what = "";
};

TEST(PartitionSyntax, TheFirstLineAtWhichOpensmEndsIsNamed) {
  const std::vector<UnreadLine> rows{
      {"Default=0x7fff,\n ipoib : ALL=full;\n", 1, "a rule begins here without a ':' in the same line"},
      {"empty=0x3;\n", 1, "a rule begins here without a ':' in the same line"},
      {"a=0x8001 : ALL;\nb=0x8002 : node1=full;\nc=x : ALL;\n", 2, "\"node1\" is not a port GUID"},
      {"a=0x8001 : ALL=full, \\\n  SELF;\n", 1, "\"\\\" is not a port GUID"},
      {"a=0x8001 : 0x0;\n", 1, "\"0x0\" is not a port GUID"},
      {"a=0x8001 : \"ALL\";\n", 1, "\"\"ALL\"\" is not a port GUID"},
      {"a=0x8001 :\n  ALL_NODES;\n", 2, "\"ALL_NODES\" is not a port GUID"},
      {"a=0x8001 : ALL=full, ALL_VCAS=full;\n", 1,
       "ALL_VCAS is a keyword of NVIDIA's OpenSM; the OpenSM of distributions does not support it"},
      {"a=0x8001 : all;\n", 1, "\"all\" is not a port GUID"},
      {"a=x : ALL;\n", 1, "\"x\" is not a P_Key"},
      {"a=09 : ALL;\n", 1, "\"09\" is not a P_Key"},
      {"a= : ALL;\n", 1, "\"\" is not a P_Key"},
      {"8005h : ALL;\n", 1, "\"8005h\" is not a P_Key"},
      {"a=0x8001 : ALL;;\n", 1, "a ';' ends no rule"},
      {"a=0x8001 : ALL\n; b=0x8002 : ALL;\n", 2, "a line begins with the ';' of a rule"},
      {"a=0x8001 :\nmgid=ff12::1, scope=2\n;\n", 3, "a line begins with the ';' of a rule"},
      {"a=0x8001 : ALL;\r\n", 1, "the line ends with a carriage return"},
      {"# " + std::string(4093, 'x') + "\na=0x8001 : ALL;\n", 1,
       "the line has 4095 bytes; OpenSM reads 4094"},
  };
  for (const auto& row : rows) {
    const auto unread = parse_partitions(row.text).unread;
    ASSERT_TRUE(unread) << row.text;
    EXPECT_EQ(unread->line, row.line) << row.text;
    EXPECT_EQ(unread->what, row.what) << row.text;
  }
}

TEST(PartitionSyntax, LinesOfOursAreNotJudged) {
  const auto text = std::string(kOpensmMarks.begin) + "\nedited=x\n" + std::string(kOpensmMarks.end) + "\n";
  EXPECT_FALSE(parse_partitions(text).unread);
  const auto behind = parse_partitions(text + "b=x : ALL;\n").unread;
  ASSERT_TRUE(behind);
  EXPECT_EQ(behind->line, 4);
}

TEST(PartitionSyntax, CarriageReturnsOfACopyCountInOurLines) {
  const auto text =
      std::string(kOpensmMarks.begin) + "\r\na=0x8001 : ALL;\r\n" + std::string(kOpensmMarks.end) + "\r\n";
  const auto unread = parse_partitions(text).unread;
  ASSERT_TRUE(unread);
  EXPECT_EQ(unread->line, 2);
  EXPECT_EQ(unread->what, "the line ends with a carriage return");
}

}  // namespace
}  // namespace rdmacfg::kinds
