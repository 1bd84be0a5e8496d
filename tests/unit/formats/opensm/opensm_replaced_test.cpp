// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/opensm_replaced.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace rdmacfg::kinds {
namespace {

/// osm_subn_verify_config(), and osm_physp_calc_link_op_vls(), which sends at most max_op_vls as
/// OperationalVLs: 4 bits, whose 0 means nothing (14.2.5.6).
TEST(OpensmReplaced, NumbersForWhichOpensmHasADefault) {
  struct Row {
    std::string_view option;
    std::vector<std::string_view> right, wrong;
  };
  for (const auto& row : {Row{"perfmgr_sweep_time_s", {"1", "180", "65535"}, {"0"}},
                          Row{"perfmgr_max_outstanding_queries", {"1", "500"}, {"0", "0x0"}},
                          Row{"max_op_vls", {"1", "5", "15"}, {"0", "16"}},
                          Row{"max_rate_enum", {"2", "18", "24", "63"}, {"0", "1", "25", "62", "64"}},
                          Row{"transaction_timeout", {"0"}, {}}}) {
    for (const auto value : row.right)
      EXPECT_FALSE(wrong_opensm_value(row.option, value)) << row.option << ' ' << value;
    for (const auto value : row.wrong)
      EXPECT_TRUE(wrong_opensm_value(row.option, value)) << row.option << ' ' << value;
  }
  EXPECT_EQ(wrong_opensm_value("max_op_vls", "16")->what, "16 is out of range; must be from 1 to 15");
  EXPECT_EQ(wrong_opensm_value("perfmgr_sweep_time_s", "0")->hint, "OpenSM would use 180");
}

/// opts_parse_cct_entry(), opts_parse_cc_cct(), opts_parse_256bit(), parse_ca_cong_common(): OpenSM keeps
/// what it has where a line has another form.
TEST(OpensmReplaced, CongestionControlHasItsForms) {
  struct Row {
    std::string_view option;
    std::vector<std::string> right, wrong;
  };
  const std::string mask(64, 'f');
  for (const auto& row :
       {Row{"cc_cct",
            {"0:0", "0:1,1:2, 0x2:7", "0:1,,2:1", "(null)"},
            {"-1,ftree", "1", "0:1,2", "a:b", "0:1, ,2:1"}},
        Row{"cc_sw_cong_setting_credit_starvation_return_delay", {"0:0", "3:7"}, {"3", "(null)", "3:7,1:2"}},
        Row{"cc_sw_cong_setting_victim_mask", {"0x1", "FF", mask}, {"", "0x", "ports", mask + "0"}},
        Row{"cc_ca_cong_setting_ccti_timer",
            {"0 0", "15 65535"},
            {"16 1", "0 65536", "1", "0 1 2", "(null)"}},
        Row{"cc_ca_cong_setting_ccti_min", {"0 255"}, {"0 256"}}}) {
    for (const auto& value : row.right)
      EXPECT_FALSE(wrong_opensm_value(row.option, value)) << row.option << ' ' << value;
    for (const auto& value : row.wrong)
      EXPECT_TRUE(wrong_opensm_value(row.option, value)) << row.option << ' ' << value;
  }
}

/// osm_subn_verify_config(), with the defaults of osm_base.h.
TEST(OpensmReplaced, OptionsReplaceEachOther) {
  struct Row {
    std::map<std::string, std::string> options;
    std::string replaced, what;
  };
  const Row rows[] = {
      {{}, "", ""},
      {{{"long_transaction_timeout", "200"}}, "", ""},
      {{{"long_transaction_timeout", "100"}},
       "long_transaction_timeout",
       "OpenSM uses 200 instead of 100, which is less than transaction_timeout"},
      {{{"long_transaction_timeout", "500"}, {"transaction_timeout", " 0x3e8"}},
       "long_transaction_timeout",
       "OpenSM uses 1000 instead of 500, which is less than transaction_timeout"},
      {{{"m_key_lease_period", "10"}}, "", ""},
      {{{"m_key_protection_level", "1"}, {"m_key_lease_period", "0"}, {"sweep_interval", "0"}}, "", ""},
      {{{"m_key_protection_level", "1"}, {"m_key_lease_period", "11"}}, "", ""},
      {{{"m_key_protection_level", "1"}, {"m_key_lease_period", "10"}},
       "m_key_lease_period",
       "OpenSM uses 11 instead of 10, as sweep_interval is 10"},
      {{{"m_key_protection_level", "2"}, {"m_key_lease_period", "60"}, {"sweep_interval", "0"}},
       "sweep_interval",
       "OpenSM uses 59 instead of 0, as protected M_Keys have a lease of 60 seconds"},
      {{{"max_rate_enum", "22"}}, "", ""},
      {{{"max_rate_enum", "18"}, {"use_original_extended_sa_rates_only", "TRUE"}}, "", ""},
      {{{"max_rate_enum", "22"}, {"use_original_extended_sa_rates_only", "yes"}}, "", ""},
      {{{"max_rate_enum", "22"}, {"use_original_extended_sa_rates_only", "TRUE"}},
       "max_rate_enum",
       "OpenSM uses 18 instead of 22, as use_original_extended_sa_rates_only is TRUE"},
      {{{"part_enforce", "off"}, {"no_partition_enforcement", "TRUE"}}, "", ""},
      {{{"part_enforce", "both"}, {"no_partition_enforcement", "TRUE"}},
       "part_enforce",
       "OpenSM sets it to off instead of both, as no_partition_enforcement is TRUE"}};
  for (const auto& row : rows) {
    const auto found = replaced_opensm_options(row.options);
    SCOPED_TRACE(row.options.empty() ? std::string() : row.options.begin()->first);
    ASSERT_EQ(found.size(), row.replaced.empty() ? 0U : 1U);
    if (found.empty()) continue;
    EXPECT_EQ(found[0].option, row.replaced);
    EXPECT_EQ(found[0].what, row.what);
  }
}

}  // namespace
}  // namespace rdmacfg::kinds
