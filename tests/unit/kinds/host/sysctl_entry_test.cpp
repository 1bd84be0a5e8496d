// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/sysctl_entry.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::kinds {
namespace {

TEST(SameSysctlValue, NumbersAsTheKernelReadsThem) {
  EXPECT_TRUE(same_sysctl_value("8192", "8192"));
  EXPECT_TRUE(same_sysctl_value("8192", "0x2000"));
  EXPECT_TRUE(same_sysctl_value("2", "02"));
  EXPECT_TRUE(same_sysctl_value("8", "010")) << "octal";
  EXPECT_TRUE(same_sysctl_value("5", "+5"));
  EXPECT_TRUE(same_sysctl_value("-1", "-0x1"));
  EXPECT_TRUE(same_sysctl_value("0", "-0"));
  EXPECT_TRUE(same_sysctl_value("4096 87380 1", "0x1000 87380 01"));
  EXPECT_FALSE(same_sysctl_value("8192", "8193"));
  EXPECT_FALSE(same_sysctl_value("1", "-1"));
  EXPECT_FALSE(same_sysctl_value("10", "010"));
  EXPECT_FALSE(same_sysctl_value("4096 87380", "4096 87380 1"));
}

TEST(SameSysctlValue, OtherTextsLetterByLetter) {
  EXPECT_TRUE(same_sysctl_value("", ""));
  EXPECT_TRUE(same_sysctl_value("cubic", "cubic"));
  EXPECT_FALSE(same_sysctl_value("", "0"));
  EXPECT_FALSE(same_sysctl_value("cubic", "Cubic"));
  EXPECT_FALSE(same_sysctl_value("08", "8")) << "no octal number";
  EXPECT_FALSE(same_sysctl_value("1000-1002", "1000,1001,1002"));
  EXPECT_FALSE(same_sysctl_value("99999999999999999999", "099999999999999999999"));
}

TEST(SysctlInterface, OfSettingsThatAnInterfaceHas) {
  EXPECT_EQ(sysctl_interface("net/ipv4/conf/ib0.8002/arp_ignore"), "ib0.8002");
  EXPECT_EQ(sysctl_interface("net/ipv6/neigh/ib0/gc_stale_time"), "ib0");
  EXPECT_EQ(sysctl_interface("net/ipv4/conf/all/arp_ignore"), "");
  EXPECT_EQ(sysctl_interface("net/ipv4/route/flush"), "");
  EXPECT_EQ(sysctl_path_of("net/ipv4/conf/alt/arp_ignore", "ib0"), "net/ipv4/conf/ib0/arp_ignore");
}

TEST(SysctlOfAll, CountsAsTheKernelJoinsTheTwo) {
  struct Row {
    const char* setting;
    const char* value;
    const char* all;
    bool overruled;
  };
  for (const auto& row :
       {Row{"ipv4/conf/ib0/rp_filter", "1", "2", true}, Row{"ipv4/conf/ib0/rp_filter", "2", "1", false},
        Row{"ipv4/conf/ib0/accept_local", "0", "1", true}, Row{"ipv4/conf/ib0/accept_local", "1", "0", false},
        Row{"ipv4/conf/ib0/arp_filter", "0", "1", true}, Row{"ipv4/conf/ib0/arp_filter", "0", "0", false},
        Row{"ipv4/conf/ib0/send_redirects", "0", "1", true},
        Row{"ipv4/conf/ib0/accept_source_route", "1", "0", true},
        Row{"ipv4/conf/ib0/accept_source_route", "0", "1", false},
        Row{"ipv4/conf/ib0/forwarding", "0", "1", false}, Row{"ipv4/conf/ib0/tag", "0", "1", false},
        Row{"ipv6/conf/ib0/accept_source_route", "1", "0", false},
        Row{"ipv4/neigh/ib0/gc_stale_time", "1", "2", false}}) {
    const auto why = overruled_by_all(std::string("net/") + row.setting, row.value, row.all);
    EXPECT_EQ(!why.empty(), row.overruled)
        << row.setting << ' ' << row.value << ' ' << row.all << ": " << why;
  }
  EXPECT_EQ(overruled_by_all("net/ipv4/conf/ib0/rp_filter", "0", "1"),
            "net/ipv4/conf/all/rp_filter is 1, and the kernel takes the larger of the two");
}

}  // namespace
}  // namespace rdmacfg::kinds
