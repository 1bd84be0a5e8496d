// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/opensm_options.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace rdmacfg::kinds {
namespace {

bool is_taken(std::string_view option, std::string_view value) { return !wrong_opensm_value(option, value); }

/// opts_parse_boolean() compares with TRUE, and everything else is FALSE.
TEST(OpensmOptions, OnlyTrueInCapitalsIsTrue) {
  for (const auto* value : {"TRUE", "FALSE", "\"TRUE\"", "'FALSE'"})
    EXPECT_TRUE(is_taken("qos", value)) << value;
  for (const auto* value : {"true", "True", "yes", "1", "0", "TRUE TRUE", "\"TRUE", "(null)"})
    EXPECT_FALSE(is_taken("qos", value)) << value;
  EXPECT_EQ(wrong_opensm_value("honor_guid2lid_file", "yes")->what, "OpenSM takes yes for FALSE");
}

/// opts_strtoul() and osm_subn_verify_config().
TEST(OpensmOptions, NumbersFitWhatOpensmHasForThem) {
  for (const auto* value : {"0", "7", "0x7", "007"}) EXPECT_TRUE(is_taken("lmc", value)) << value;
  for (const auto* value : {"8", "-1", "seven", "0x", "1 2"}) EXPECT_FALSE(is_taken("lmc", value)) << value;
  EXPECT_TRUE(is_taken("subnet_timeout", "255"));
  EXPECT_FALSE(is_taken("subnet_timeout", "256"));
  EXPECT_TRUE(is_taken("m_key_lease_period", "65535"));
  EXPECT_FALSE(is_taken("m_key_lease_period", "65536"));
  EXPECT_TRUE(is_taken("sweep_interval", "4294967295"));
  EXPECT_FALSE(is_taken("sweep_interval", "4294967296"));
  EXPECT_FALSE(is_taken("sweep_interval", "10s"));
  EXPECT_TRUE(is_taken("subnet_prefix", "0xfe80000000000001"));
  EXPECT_FALSE(is_taken("subnet_prefix", "fe80::1"));
}

TEST(OpensmOptions, WordsAndOptionsOfOtherBuildsAreNotJudged) {
  for (const auto* option : {"routing_engine", "qos_vlarb_high", "qos_high_limit", "cc_cct", "vendor_option"})
    EXPECT_TRUE(is_taken(option, "-1,ftree x")) << option;
}

TEST(OpensmOptions, AMistypedNameFindsTheOptionThatWasMeant) {
  EXPECT_EQ(near_opensm_option("routing_engin"), "routing_engine");
  EXPECT_EQ(near_opensm_option("honour_guid2lid_file"), "honor_guid2lid_file");
  for (const auto* option : {"routing_engine", "qos", "dimn_ports_file", "sm_priority", "some_other_thing"})
    EXPECT_EQ(near_opensm_option(option), std::nullopt) << option;
}

/// static_routing_modules[] and setup_routing_engine() in osm_opensm.c: names are compared with their case.
TEST(OpensmOptions, RoutingEnginesAreThoseOfOpensm) {
  for (const auto* value :
       {"minhop", "updn", "dnup", "file", "ftree", "lash", "dor", "torus-2QoS", "nue", "sssp", "dfsssp",
        "updn,ftree", " updn, ftree\tdor ", "\"updn,no_fallback\"", "(null)", ""})
    EXPECT_TRUE(unknown_routing_engines(value).empty()) << value;
  const std::vector<std::pair<const char*, const char*>> mistyped{
      {"updwn", "updn"}, {"minhop,fttree", "ftree"}, {"torus-2qos", "torus-2QoS"}};
  for (const auto& [value, meant] : mistyped) {
    const auto found = unknown_routing_engines(value);
    ASSERT_EQ(found.size(), 1U) << value;
    EXPECT_EQ(found[0].near, meant);
  }
  for (const auto* value : {"ar_updn", "pqft", "none", "/tmp/x"}) {
    const auto found = unknown_routing_engines(value);
    ASSERT_EQ(found.size(), 1U) << value;
    EXPECT_EQ(found[0].name, value);
    EXPECT_EQ(found[0].near, std::nullopt) << value;
  }
  EXPECT_EQ(unknown_routing_engines("updwn x,ftree").size(), 2U);
}

/// clean_val().
TEST(OpensmOptions, AValueHasNoBlanksAndNoPairOfQuotesAroundIt) {
  EXPECT_EQ(opensm_value(" \tTRUE \t"), "TRUE");
  EXPECT_EQ(opensm_value("\"updn, ftree\""), "updn, ftree");
  EXPECT_EQ(opensm_value("'x'"), "x");
  EXPECT_EQ(opensm_value("'x\""), "'x\"");
  EXPECT_EQ(opensm_value("\"\"x\"\""), "\"x\"");
  EXPECT_EQ(opensm_value("\""), "\"");
  EXPECT_EQ(opensm_value("  "), "");
}

}  // namespace
}  // namespace rdmacfg::kinds
