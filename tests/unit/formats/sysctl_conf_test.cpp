// SPDX-License-Identifier: Apache-2.0
#include "formats/sysctl_conf.hpp"

#include <gtest/gtest.h>

#include <map>
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
  const auto found = read_foreign_sysctls(files, SysctlConf::kUnread).lines.at("net/core/rmem_max");
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
  const auto found = read_foreign_sysctls(files, SysctlConf::kUnread).lines;
  ASSERT_EQ(found.size(), 2U);
  ASSERT_EQ(found.at("net/core/rmem_max").size(), 2U);
  EXPECT_EQ(found.at("net/core/rmem_max").back().value, "3");
  ASSERT_EQ(found.at("net/core/wmem_max").size(), 1U);
  EXPECT_EQ(found.at("net/core/wmem_max").front().line, 2);
}

/// The file and line that count for a path, "50-b.conf:1", without those of our file.
std::string place_in_force(const std::string& path, const std::map<std::string, std::string>& texts) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = texts;
  const auto line = foreign_sysctl_in_force(path, read_foreign_sysctls(files, SysctlConf::kUnread));
  if (!line) return {};
  return line->file.substr(line->file.rfind('/') + 1) + ":" + std::to_string(line->line);
}

/// apply_all() and apply_glob_option_with_prefix() of systemd's sysctl.c.
TEST(SysctlPatterns, ALineThatNamesTheSettingWinsWhereverItStands) {
  const std::string path = "net/ipv6/conf/ib0/disable_ipv6", early = "/etc/sysctl.d/10-a.conf",
                    late = "/usr/lib/sysctl.d/50-b.conf";
  const std::string pattern = "net.ipv6.conf.*.disable_ipv6 = 1\n",
                    named = "net.ipv6.conf.ib0.disable_ipv6 = 0\n";
  EXPECT_EQ(place_in_force(path, {{late, pattern}}), "50-b.conf:1");
  EXPECT_EQ(place_in_force(path, {{late, "-" + pattern}}), "50-b.conf:1") << "only errors do not matter";
  EXPECT_EQ(place_in_force(path, {{early, named}, {late, pattern}}), "10-a.conf:1");
  EXPECT_EQ(place_in_force(path, {{early, pattern}, {late, named + named}}), "50-b.conf:2");
  EXPECT_EQ(place_in_force(path, {{early, "-net.ipv6.conf.ib0.disable_ipv6\n"}, {late, pattern}}), "")
      << "taken out of patterns, wherever that stands";
  EXPECT_EQ(place_in_force(path, {{early, "-net.ipv6.conf.ib1.disable_ipv6\n"}, {late, pattern}}),
            "50-b.conf:1");
}

TEST(SysctlPatterns, TheLaterPatternCounts) {
  const std::string path = "net/ipv6/conf/ib0/disable_ipv6", early = "/etc/sysctl.d/10-a.conf",
                    late = "/usr/lib/sysctl.d/50-b.conf";
  const std::string all = "net.ipv6.conf.*.disable_ipv6 = 1\n",
                    ours = "net/ipv6/conf/ib[0-9]/disable_ipv6=0\n";
  EXPECT_EQ(place_in_force(path, {{early, all}, {late, ours}}), "50-b.conf:1") << "by names, not by folders";
  EXPECT_EQ(place_in_force(path, {{early, ours}, {late, all}}), "50-b.conf:1");
  EXPECT_EQ(place_in_force(path, {{early, ours}, {late, "-net/ipv6/conf/*/disable_ipv6\n" + all}}),
            "50-b.conf:2");
  EXPECT_EQ(place_in_force(path, {{early, all}, {late, "-net/ipv6/conf/*/disable_ipv6\n"}}), "")
      << "the exclusion takes the place of the same pattern";
  EXPECT_EQ(place_in_force(path, {{early, all + ours}, {late, all}}), "10-a.conf:2")
      << "a pattern that only repeats its value stays in its place";
  EXPECT_EQ(place_in_force(path, {{early, all}, {late, "-net/ipv6/conf/ib*/disable_ipv6\n"}}), "10-a.conf:1")
      << "and only of the same";
}

TEST(SysctlPatterns, TheFirstSeparatorDecides) {
  const std::string path = "net/ipv4/conf/ib0.8002/rp_filter", file = "/etc/sysctl.d/10-a.conf";
  for (const auto* key :
       {"net/ipv4/conf/ib0.*/rp_filter", "net.ipv4.conf.ib0/*.rp_filter", "/net/ipv4/conf/ib0.*/rp_filter",
        "net.ipv4.conf.*.rp_filter", "net.ipv?.conf.ib0/8002.rp_*"})
    EXPECT_EQ(place_in_force(path, {{file, std::string(key) + " = 2\n"}}), "10-a.conf:1") << key;
  for (const auto* key : {"net.ipv4.conf.ib0.*.rp_filter", "net.ipv4.*.rp_filter", "net.ipv4.conf.ib0/*"})
    EXPECT_EQ(place_in_force(path, {{file, std::string(key) + " = 2\n"}}), "") << key;
}

TEST(SysctlFile, OtherFilesThatSetTheSameAreFound) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/sysctl.d/10-a.conf"] = "; none\nnet.core.rmem_max = 1\n";
  files.content["/run/sysctl.d/zzz.conf"] = "-net.core.rmem_max=2";
  files.content["/usr/lib/sysctl.d/10-a.conf"] = "net.core.rmem_max = 3\n";
  files.content[std::string(kSysctlFile)] = "net/core/rmem_max = 4\n";
  const auto found = read_foreign_sysctls(files, SysctlConf::kRead).lines.at("net/core/rmem_max");
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
    auto found = read_foreign_sysctls(files, observe_sysctl_conf(files)).lines;
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
