// SPDX-License-Identifier: Apache-2.0
#include "formats/limits_conf.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

TEST(MemlockFile, WhatIsWrittenIsReadBack) {
  const Limits limits{{"*", {65536}}, {"@rdma", {}}};
  EXPECT_EQ(parse_limits(render_limits(limits)), limits);
  EXPECT_EQ(render_limits({}), "");
}

TEST(MemlockFile, OtherLinesAreNotOurs) {
  EXPECT_TRUE(
      parse_limits("@rdma soft memlock 1\n# @rdma hard memlock 1\n@rdma hard nofile 1\n@x hard memlock y\n")
          .empty());
  EXPECT_EQ(parse_limits("  @rdma\t-  memlock unlimited # all\n").size(), 1U);
}

/// pam_limits reads our file, too.
TEST(MemlockFile, LinesOfOursAreReadAsPamLimitsReadsThem) {
  const std::string ours = render_limits({{"@rdma", {}}});
  EXPECT_TRUE(parse_limits(ours + "@rdma HARD MemLock 64\n").empty()) << "in any case";
  EXPECT_TRUE(parse_limits(ours + "@rdma soft memlock 64 for now\n").empty()) << "of four words";
  EXPECT_EQ(parse_limits("@rdma - MEMLOCK Unlimited\n"), (Limits{{"@rdma", {}}}));
  EXPECT_EQ(parse_limit_domains("@X Soft MemLock 1 2\n"), std::set<std::string>{"@X"});
}

TEST(MemlockFile, ALimitIsSoftAndHard) {
  const std::string hard = "@rdma hard memlock unlimited\n";
  EXPECT_TRUE(parse_limits(hard).empty());
  EXPECT_EQ(parse_limit_domains(hard), std::set<std::string>{"@rdma"});
  EXPECT_TRUE(parse_limits(hard + "@rdma soft memlock 64\n").empty());
  EXPECT_EQ(parse_limits(hard + "@rdma soft memlock 64\n@rdma soft memlock unlimited\n").size(), 1U)
      << "the later line counts";
  EXPECT_TRUE(parse_limits("@rdma - memlock 64\n@rdma soft memlock 32\n").empty());
}

TEST(MemlockFile, TheLastLimitOfADropInCounts) {
  EXPECT_EQ(parse_drop_in("[Service]\nLimitMEMLOCK=infinity\n"), model::LockLimit{});
  EXPECT_EQ(parse_drop_in("LimitMEMLOCK=1K\n LimitMEMLOCK=2M\n"), model::LockLimit{2048});
  EXPECT_EQ(parse_drop_in("LimitMEMLOCK=8388608\n"), model::LockLimit{8192}) << "bytes without a unit";
  EXPECT_EQ(parse_drop_in("[Service]\nLimitNOFILE=1\n"), std::nullopt);
  EXPECT_EQ(parse_drop_in(render_drop_in({4096})), model::LockLimit{4096});
  EXPECT_EQ(render_drop_in({}).find("[Service]\nLimitMEMLOCK=infinity\n"), render_drop_in({}).find('['));
  const std::string ours = render_drop_in({});
  EXPECT_EQ(parse_drop_in(ours + "LimitMEMLOCK = 64K\n"), model::LockLimit{64}) << "blanks around the sign";
  EXPECT_EQ(parse_drop_in(ours + "LimitMEMLOCK=\n"), std::nullopt) << "systemd's default again";
  EXPECT_EQ(parse_drop_in(ours + "LimitMEMLOCK=\\\n64K\n"), model::LockLimit{64}) << "of two lines";
  EXPECT_EQ(parse_drop_in(ours + "Environment=A=\\\nLimitMEMLOCK=64K\n"), model::LockLimit{})
      << "a part of another";
  EXPECT_EQ(parse_drop_in(ours + "LimitMEMLOCK=1M:2M\n"), std::nullopt) << "soft and hard differ";
  EXPECT_EQ(parse_drop_in(ours + "#LimitMEMLOCK=1M\nLimitMEMLOCKS=1M\n"), model::LockLimit{});
}

TEST(MemlockFile, FilesOfTheDistributionAreReadAmongThoseOfEtc) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/usr/share/security/limits.conf"] = "a - memlock 1\n";
  files.content["/usr/share/security/limits.d/10-x.conf"] = "b - memlock 2\n";
  files.content["/etc/security/limits.d/10-x.conf"] = "c - memlock 3\n";
  files.content["/usr/etc/security/limits.d/zzz.conf"] = "d - memlock 4\n";
  files.content["/etc/security/limits.d/20-y.conf"] = "e - memlock 5\n";
  std::string order, wins;
  for (const auto& line : memlock_lines(files)) order += line.domain;
  EXPECT_EQ(order, "aced") << "by name whatever the folder; /etc hides a name";
  const auto foreign = foreign_limits(files);
  ASSERT_TRUE(foreign);
  for (const auto& [domain, lines] : *foreign) wins += lines.front().wins ? domain : "";
  EXPECT_EQ(wins, "d");
  files.content["/etc/security/limits.conf"] = "f - memlock 6\n";
  EXPECT_EQ(memlock_lines(files).front().domain, "f")
      << "the file of the distribution is for hosts without one";
}

// pam_limits.c ends at such a line, and sets nothing.
TEST(MemlockFile, DomainsCanBeExempted) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/security/limits.conf"] = "* -\n@a - # none\nb soft\nc - memlock 1\n# d -\n";
  files.content["/etc/security/limits.d/x.conf"] = "\ne -\n@a -\n";
  const auto found = exempted_domains(files);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.at("@a").file, "/etc/security/limits.conf");
  EXPECT_EQ(found.at("@a").line, 2);
  EXPECT_EQ(found.at("e").line, 2);
}

// pam_limits.c scans four words of a line and passes over the rest; of fewer it takes none.
TEST(MemlockFile, WordsBehindALimitDoNotMatter) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/security/limits.conf"] =
      "a hard memlock 1 and more\nb hard memlock\nc HARD MemLock UNLIMITED # x\n# d hard memlock 1\n"
      "e hard nofile 1 memlock\n";
  std::string found;
  for (const auto& line : memlock_lines(files))
    found += fmt::format("{} {} {} {}\n", line.line, line.domain, line.type, line.limit);
  EXPECT_EQ(found, "1 a hard 1\n3 c hard unlimited\n");
}

TEST(MemlockFile, ALaterDropInOfAnotherFolderWins) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/systemd/system/a.service.d/10-x.conf"] = "LimitMEMLOCK=1\n";
  files.content["/run/systemd/system/a.service.d/90-y.conf"] = "[Service]\nLimitMEMLOCK=2\n";
  files.content["/usr/lib/systemd/system/a.service.d/10-x.conf"] = "LimitMEMLOCK=3\n";
  const auto found = foreign_drop_ins(files, "a.service");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2U) << "/etc masks /usr/lib";
  EXPECT_FALSE(found->at(0).wins);
  EXPECT_TRUE(found->at(1).wins);
  EXPECT_EQ(found->at(1).line, 2);
}

TEST(MemlockFile, DropInsOfMoreThanOneUnitCount) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/systemd/system/service.d/99-all.conf"] = "LimitMEMLOCK=1\n";
  files.content["/etc/systemd/system/a-.service.d/20-x.conf"] = "LimitMEMLOCK=2\n";
  files.content["/usr/lib/systemd/system/a-b@.service.d/20-x.conf"] = "LimitMEMLOCK=3\n";
  files.content["/etc/systemd/system/a-b@1.service.d/10-x.conf"] = "LimitMEMLOCK=4\n";
  files.content["/etc/systemd/system/socket.d/99-x.conf"] = "LimitMEMLOCK=5\n";
  files.content["/etc/systemd/system/a-b@.service.d/30-x.conf"] = "LimitMEMLOCK=6\n";
  files.content["/etc/systemd/system/a-.service.d/30-x.conf"] = "LimitMEMLOCK=7\n";
  files.content["/etc/systemd/system/service.d/30-x.conf"] = "LimitMEMLOCK=8\n";
  const auto found = foreign_drop_ins(files, "a-b@1.service");
  ASSERT_TRUE(found);
  std::string order;
  for (const auto& drop_in : *found) order += drop_in.text.back();
  EXPECT_EQ(order, "4261")
      << "by name; of one name that of the first folder, and of those in it the most specific";
}

TEST(MemlockFile, ADropInOverrulesOursWhenItIsLaterAndOther) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  const auto text = [&](const model::LockLimit& ours) {
    const auto found = overruling_drop_in(files, "a.service", ours);
    return found ? found->file.substr(found->file.rfind('/') + 1) : "";
  };
  const model::LockLimit unlimited;
  EXPECT_EQ(text(unlimited), "");
  files.content["/etc/systemd/system/a.service.d/10-x.conf"] = "LimitMEMLOCK=64M\n";
  EXPECT_EQ(text(unlimited), "") << "ours is later";
  files.content["/etc/systemd/system/a.service.d/override.conf"] = "LimitMEMLOCK=64M\n";
  EXPECT_EQ(text(unlimited), "override.conf");
  EXPECT_EQ(text({65536}), "") << "it says the same";
  files.content["/run/systemd/system/a.service.d/zz.conf"] = "LimitMEMLOCK=infinity\n";
  EXPECT_EQ(text(unlimited), "") << "the last one is as wanted";
  EXPECT_EQ(text({65536}), "zz.conf");
  files.content["/run/systemd/system/a.service.d/zz.conf"] = "LimitMEMLOCK=1M:2M\n";
  EXPECT_EQ(text(unlimited), "zz.conf");
  files.content["/run/systemd/system/a.service.d/zz.conf"] = "LimitMEMLOCK = 1M\n";
  EXPECT_EQ(text(unlimited), "zz.conf");
}

TEST(MemlockFile, GroupsOfADirectory) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  const auto source = [&](const std::string& text) {
    files.content["/etc/nsswitch.conf"] = text;
    const auto found = group_directory(files);
    return found ? fmt::format("{}:{} {}", found->file, found->line, found->name) : "";
  };
  EXPECT_FALSE(group_directory(files)) << "without the file there are only files";
  EXPECT_EQ(source("group: files systemd compat altfiles\ngshadow: ldap\n"), "");
  EXPECT_EQ(source("passwd: sss\n group:files sss\n"), "/etc/nsswitch.conf:2 sss");
  EXPECT_EQ(source("group: ldap [NOTFOUND=return] files\n"), "/etc/nsswitch.conf:1 ldap");
  EXPECT_EQ(source("group: files [ SUCCESS=merge  UNAVAIL=return ] systemd # nis\n"), "");
  EXPECT_EQ(source("#group: nis\ngroup: files [SUCCESS=merge] nis\n"), "/etc/nsswitch.conf:2 nis");
  files.content.clear();
  files.content["/usr/etc/nsswitch.conf"] = "group: files winbind\n";
  ASSERT_TRUE(group_directory(files));
  EXPECT_EQ(group_directory(files)->file, "/usr/etc/nsswitch.conf");
}

/// The daemon has a unit of its own make groups, and that has the path of the file.
TEST(MemlockFile, TheUnitThatMakesGroupsHasOurFile) {
  const auto read = [](const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(std::string(SOURCE_ROOT) + path).rdbuf();
    return out.str();
  };
  EXPECT_NE(read("/units/rdma-configd-sysusers.service")
                .find(fmt::format("\nExecStart=/usr/bin/systemd-sysusers {}\n", kSysusersFile)),
            std::string::npos);
  EXPECT_NE(read("/packaging/CMakeLists.txt").find("/units/rdma-configd-sysusers.service"),
            std::string::npos);
}

TEST(LockLimit, Spellings) {
  const auto kib = [](std::string_view text) {
    const auto limit = model::LockLimit::parse(text);
    return limit && limit->kib ? *limit->kib : -1;
  };
  EXPECT_EQ(kib("0"), 0);
  EXPECT_EQ(kib("64 GiB"), 64 * 1024 * 1024);
  EXPECT_EQ(kib("512M"), 512 * 1024);
  EXPECT_EQ(kib("7K"), 7);
  EXPECT_FALSE(model::LockLimit::parse("unlimited")->kib);
  for (const auto* wrong : {"", "G", "1 XB", "-1", "1.5G", "9999999999999T", "1 GG", "many"}) {
    EXPECT_FALSE(model::LockLimit::parse(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace rdmacfg::kinds
