// SPDX-License-Identifier: Apache-2.0
#include "formats/sysctl_conf.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fakes/memory_files.hpp"
#include "model/types/host_types.hpp"

namespace rdmacfg::kinds {
namespace {

TEST(SysctlPath, DotsAndSlashesAsSysctlDHasThem) {
  const auto path = [](std::string_view text) {
    const auto parsed = model::SysctlPath::parse(text);
    return parsed ? parsed->text : std::string("refused");
  };
  EXPECT_EQ(path("net.ipv4.conf.ib0.arp_ignore"), "net/ipv4/conf/ib0/arp_ignore");
  EXPECT_EQ(path("net/ipv4/conf/ib0.8002/arp_ignore"), "net/ipv4/conf/ib0.8002/arp_ignore");
  EXPECT_EQ(path("net.ipv4.conf.ib0/8002.arp_ignore"), "net/ipv4/conf/ib0.8002/arp_ignore");
  for (const auto* wrong : {"", "oops", "a..b", "/a/b", "a/../b", "a b.c", "a/"})
    EXPECT_EQ(path(wrong), "refused");
}

TEST(SysctlFile, WhatIsWrittenIsReadBack) {
  const Sysctls sysctls{{"net/ipv4/conf/ib0.8002/rp_filter", "2"}, {"net/ipv4/tcp_rmem", "4096 87380 1"}};
  EXPECT_EQ(parse_sysctls(render_sysctls(sysctls)), sysctls);
}

TEST(SysctlFile, BlanksWithinAValueDoNotMatter) {
  EXPECT_EQ(parse_sysctls("net.ipv4.tcp_rmem = 4096\t87380   6291456\n"),
            (Sysctls{{"net/ipv4/tcp_rmem", "4096 87380 6291456"}}));
  EXPECT_EQ(parse_sysctls("kernel.core_pattern =\n"), (Sysctls{{"kernel/core_pattern", ""}}));
}

/// systemd-sysctl sets nothing for a line "-path", nor what stood above for it.
TEST(SysctlFile, ASettingCanBeExcluded) {
  EXPECT_EQ(parse_sysctls("net/core/rmem_max = 1\n-net.core.rmem_max\nnet.core.wmem_max = 2\n"),
            (Sysctls{{"net/core/wmem_max", "2"}}));
  EXPECT_EQ(parse_sysctls("-net.core.rmem_max\n-net/core/rmem_max = 1\n"),
            (Sysctls{{"net/core/rmem_max", "1"}}));
  EXPECT_EQ(parse_sysctls("net.core.rmem_max\n"), Sysctls{}) << "neither";
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/sysctl.d/10-a.conf"] = "-net.core.rmem_max\n";
  files.content["/etc/sysctl.d/zzz.conf"] = "# none\n-net.core.rmem_max\n";
  const auto found = read_foreign_sysctls(files, SysctlConf::kUnread).at("net/core/rmem_max");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found.front().excludes);
  EXPECT_FALSE(found.front().wins) << "ours comes later";
  EXPECT_TRUE(found.back().excludes);
  EXPECT_TRUE(found.back().wins);
  EXPECT_EQ(found.back().line, 2);
}

TEST(SysctlConf, OneReadingTellsTheLinesOfEachSetting) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/sysctl.d/10-a.conf"] = "net.core.rmem_max = 1\nnet.core.wmem_max = 2\n";
  files.content["/etc/sysctl.d/zzz.conf"] = "net/core/rmem_max = 3\n";
  const auto found = read_foreign_sysctls(files, SysctlConf::kUnread);
  ASSERT_EQ(found.size(), 2U);
  ASSERT_EQ(found.at("net/core/rmem_max").size(), 2U);
  EXPECT_EQ(found.at("net/core/rmem_max").back().value, "3");
  ASSERT_EQ(found.at("net/core/wmem_max").size(), 1U);
  EXPECT_EQ(found.at("net/core/wmem_max").front().line, 2);
}

TEST(SysctlFile, OtherFilesThatSetTheSameAreFound) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/sysctl.d/10-a.conf"] = "; none\nnet.core.rmem_max = 1\n";
  files.content["/run/sysctl.d/zzz.conf"] = "-net.core.rmem_max=2";
  files.content["/usr/lib/sysctl.d/10-a.conf"] = "net.core.rmem_max = 3\n";
  files.content[std::string(kSysctlFile)] = "net/core/rmem_max = 4\n";
  const auto found = read_foreign_sysctls(files, SysctlConf::kRead).at("net/core/rmem_max");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.at(0).value, "1");
  EXPECT_FALSE(found.at(0).wins);
  EXPECT_EQ(found.at(1).value, "2");
  EXPECT_TRUE(found.at(1).wins);
}

/// systemd-sysctl(8) reads sysctl.d alone: Debian 13 has no link there any more, RHEL has 99-sysctl.conf.
TEST(SysctlFile, TheOldFileCountsWhereSomethingReadsIt) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  const std::string line = "net.core.rmem_max = 1\n";
  files.content["/etc/sysctl.conf"] = line;
  const auto named = [&] {
    std::vector<std::string> out;
    auto found = read_foreign_sysctls(files, observe_sysctl_conf(files));
    for (const auto& each : found["net/core/rmem_max"]) out.push_back(each.file);
    return out;
  };
  EXPECT_EQ(named(), std::vector<std::string>{"/etc/sysctl.conf"}) << "sysctl(8) reads it";
  files.content["/usr/lib/systemd/systemd-sysctl"] = "";
  EXPECT_EQ(named(), std::vector<std::string>{});
  files.content["/etc/sysctl.d/99-sysctl.conf"] = line;
  EXPECT_EQ(named(), std::vector<std::string>{"/etc/sysctl.d/99-sysctl.conf"}) << "and not a second time";
}

}  // namespace
}  // namespace rdmacfg::kinds
