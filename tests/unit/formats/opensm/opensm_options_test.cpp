// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/opensm_options.hpp"

#include <gtest/gtest.h>

#include <string>
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
  EXPECT_EQ(wrong_opensm_value("honor_guid2lid_file", "yes")->what, "OpenSM reads yes as FALSE");
}

/// osm_subn_parse_conf_file(): a comment begins with # wherever it stands.
TEST(OpensmOptions, ALineHasAnOptionAndItsValue) {
  struct Case {
    std::string_view line, option, value;
  };
  for (const auto& [line, option, value] :
       {Case{"qos TRUE", "qos", " TRUE"}, Case{"  qos\tTRUE  # for storage", "qos", "\tTRUE"},
        Case{"routing_engine \"updn, ftree\"", "routing_engine", " \"updn, ftree\""}}) {
    const auto parsed = parse_opensm_option_line(line);
    ASSERT_TRUE(parsed) << line;
    EXPECT_EQ(parsed->option, option) << line;
    EXPECT_EQ(parsed->value, value) << line;
  }
  for (const auto* line : {"", "   ", "# qos TRUE", "qos", "qos # TRUE"})
    EXPECT_FALSE(parse_opensm_option_line(line)) << line;
}

/// opts_strtoul() and osm_subn_verify_config().
TEST(OpensmOptions, NumbersFitWhatOpensmHasForThem) {
  for (const auto* value : {"0", "7", "0x7", "007"}) EXPECT_TRUE(is_taken("lmc", value)) << value;
  for (const auto* value : {"8", "-1", "seven", "0x", "1 2"}) EXPECT_FALSE(is_taken("lmc", value)) << value;
  EXPECT_TRUE(is_taken("cc_sw_cong_setting_packet_size", "255"));
  EXPECT_FALSE(is_taken("cc_sw_cong_setting_packet_size", "256"));
  EXPECT_TRUE(is_taken("m_key_lease_period", "65535"));
  EXPECT_FALSE(is_taken("m_key_lease_period", "65536"));
  EXPECT_TRUE(is_taken("sweep_interval", "4294967295"));
  EXPECT_FALSE(is_taken("sweep_interval", "4294967296"));
  EXPECT_FALSE(is_taken("sweep_interval", "10s"));
  EXPECT_TRUE(is_taken("subnet_prefix", "0xfe80000000000001"));
  EXPECT_FALSE(is_taken("subnet_prefix", "fe80::1"));
}

/// ib_port_info_set_timeout() and its like of ib_types.h cut the rest off.
TEST(OpensmOptions, NumbersFitTheFieldsThatTheyAreSentIn) {
  for (const auto& [option, most] :
       std::vector<std::pair<std::string, int>>{{"head_of_queue_lifetime", 31},
                                                {"leaf_head_of_queue_lifetime", 31},
                                                {"leaf_vl_stall_count", 7},
                                                {"local_phy_errors_threshold", 15},
                                                {"overrun_errors_threshold", 15},
                                                {"packet_life_time", 31},
                                                {"sm_sl", 15},
                                                {"subnet_timeout", 31},
                                                {"vl_stall_count", 7}}) {
    EXPECT_TRUE(is_taken(option, std::to_string(most))) << option;
    EXPECT_FALSE(is_taken(option, std::to_string(most + 1))) << option;
  }
  EXPECT_EQ(wrong_opensm_value("subnet_timeout", "0x28")->what, "0x28 is not a number from 0 to 31");
}

/// osm_subn_verify_config()
TEST(OpensmOptions, ForcedLinksHaveTheValuesOfOpensm) {
  struct Row {
    std::string_view option;
    std::vector<std::string_view> right, wrong;
  };
  for (const auto& row : {Row{"force_link_speed", {"0", "7", "15"}, {"8", "14", "16"}},
                          Row{"force_link_speed_ext", {"0", "15", "30", "31"}, {"16", "29", "32"}},
                          Row{"force_link_width", {"0", "31", "255"}, {"32", "254", "256"}}}) {
    for (const auto value : row.right) EXPECT_TRUE(is_taken(row.option, value)) << row.option << value;
    for (const auto value : row.wrong) EXPECT_FALSE(is_taken(row.option, value)) << row.option << value;
  }
}

TEST(OpensmOptions, WordsAndOptionsOfOtherBuildsAreNotJudged) {
  for (const auto* option : {"routing_engine", "vendor_option", "event_plugin_name", "log_prefix"})
    EXPECT_TRUE(is_taken(option, "-1,ftree x")) << option;
}

/// subn_verify_qos_set().
TEST(OpensmOptions, VirtualLanesHaveTheirForm) {
  for (const auto* option : {"qos_vlarb_high", "qos_ca_vlarb_low", "qos_sw0_vlarb_high"}) {
    for (const auto* value : {"0:4", "0:0,1:64, 14:255", "0x1:0x40", "0:1,", "(null)"})
      EXPECT_TRUE(is_taken(option, value)) << option << ' ' << value;
    for (const auto* value : {"", "0", "15:1", "0:256", "a:1", "0:-1", "0:1;1:2"})
      EXPECT_FALSE(is_taken(option, value)) << option << ' ' << value;
  }
  std::string pairs = "0:1";
  for (int i = 1; i < 64; ++i) pairs += ",1:1";
  EXPECT_TRUE(is_taken("qos_vlarb_low", pairs));
  EXPECT_FALSE(is_taken("qos_vlarb_low", pairs + ",2:1"));
  for (const auto* option : {"qos_sl2vl", "qos_swe_sl2vl"}) {
    EXPECT_TRUE(is_taken(option, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"));
    for (const auto* value :
         {"0", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,16",
          "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,0", "x"})
      EXPECT_FALSE(is_taken(option, value)) << option << ' ' << value;
  }
  for (const auto* value : {"-1", "0", "255"}) EXPECT_TRUE(is_taken("qos_rtr_high_limit", value)) << value;
  for (const auto* value : {"256", "-2", "x"}) EXPECT_FALSE(is_taken("qos_high_limit", value)) << value;
  EXPECT_TRUE(is_taken("qos_max_vls", "15"));
  EXPECT_FALSE(is_taken("qos_ca_max_vls", "16"));
}

/// osm_log_init_v2() and osm_dump.c: systemd starts OpenSM in /, where a relative path would lead.
TEST(OpensmOptions, PlacesToWriteToAreWholePaths) {
  for (const auto* value :
       {"/var/log/opensm.log", "\"/var/log/opensm.log\"", "-", "stdout", "stderr", "(null)"})
    EXPECT_TRUE(is_taken("log_file", value)) << value;
  for (const auto* value :
       {"opensm.log", "./opensm.log", "var/log/opensm.log", "~/opensm.log", "''", "/var/log/"})
    EXPECT_FALSE(is_taken("log_file", value)) << value;
  for (const auto* value : {"/var/log", "/var/log/", "(null)"})
    EXPECT_TRUE(is_taken("dump_files_dir", value)) << value;
  for (const auto* value : {"dumps", "-", "stdout"}) EXPECT_FALSE(is_taken("dump_files_dir", value)) << value;
  EXPECT_EQ(wrong_opensm_value("log_file", "opensm.log")->what,
            "\"opensm.log\" is not a path that begins with /");
  EXPECT_TRUE(is_taken("event_db_dump_file", "/var/log/opensm_port_counters.log"));
  EXPECT_FALSE(is_taken("event_db_dump_file", "opensm_port_counters.log"));
  EXPECT_FALSE(is_taken("event_db_dump_file", "/var/log/"));
}

/// fopen() of the value as it is, in the folder that systemd starts OpenSM in.
TEST(OpensmOptions, FilesToReadAreWholePaths) {
  for (const auto* option : {"root_guid_file", "torus_config", "prefix_routes_file", "node_name_map_name",
                             "partition_config_file", "sa_db_file", "lid_matrix_dump_file"}) {
    EXPECT_TRUE(is_taken(option, "/etc/opensm/site.conf")) << option;
    EXPECT_TRUE(is_taken(option, "(null)")) << option;
    EXPECT_FALSE(is_taken(option, "site.conf")) << option;
    EXPECT_FALSE(is_taken(option, "/etc/opensm/")) << option;
  }
  EXPECT_TRUE(is_taken("event_plugin_name", "osmeventplugin")) << "a library";
  // Where the file is that OpenSM has read until now.
  EXPECT_EQ(wrong_opensm_value("root_guid_file", "srv/roots")->hint,
            "a whole path such as /etc/opensm/FILE; OpenSM reads this as /srv/roots");
}

TEST(OpensmOptions, WordsAreThoseOfOpensm) {
  for (const auto* value : {"both", "in", "out", "off"})
    EXPECT_TRUE(is_taken("part_enforce", value)) << value;
  EXPECT_FALSE(is_taken("part_enforce", "Both"));
  for (const auto* value : {"off", "local", "loopback", "socket"})
    EXPECT_TRUE(is_taken("console", value)) << value;
  EXPECT_EQ(wrong_opensm_value("console", "on")->hint, "one of off, local, loopback, socket");
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

/// osm_subn_parse_conf_file() takes one line after the other.
TEST(OpensmOptions, TheLastLineOfAnOptionCounts) {
  const auto marked = parse_marked(
      "qos FALSE\nqos \"TRUE\"  # of a user\n"
      "# rdma-configd: managed block; changes between these markers are overwritten.\nqos FALSE\n"
      "# rdma-configd: end\n",
      kOpensmMarks);
  const auto last = last_opensm_option(marked.lines, "qos", OpensmLines::kAll);
  const auto of_others = last_opensm_option(marked.lines, "qos", OpensmLines::kOfOthers);
  ASSERT_TRUE(last && of_others);
  EXPECT_EQ(last->value, "FALSE");
  EXPECT_EQ(last->line, 4);
  EXPECT_EQ(of_others->value, "TRUE");
  EXPECT_EQ(of_others->line, 2);
  EXPECT_FALSE(last_opensm_option(marked.lines, "log_file", OpensmLines::kAll));
}

}  // namespace
}  // namespace rdmacfg::kinds
