// SPDX-License-Identifier: Apache-2.0
// tuned, systemd-tmpfiles and ufw also set kernel settings at boot.
#include "kinds/host/sysctl_check.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

using Texts = std::map<std::string, std::string>;

/// The messages about net.core.rmem_max = 4096 on a host with these files.
std::string said_about(const Texts& texts) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = texts;
  model::Desired desired;
  desired.key = {"sysctl", "net/core/rmem_max"};
  desired.settings["file"] = std::string("4096");
  model::Diagnostics diagnostics;
  OtherSysctlSetters(files).warn(desired, diagnostics);
  std::string out;
  for (const auto& diagnostic : diagnostics) out += diagnostic.message + "\n";
  return out;
}

/// tmpfiles.d(5); parse_line() of tmpfiles.c.
TEST(SysctlCheck, LinesOfTmpfilesThatWriteASettingAreNamed) {
  struct Row {
    const char* line;
    bool told;
  };
  const auto said = [](const std::string& line) {
    return said_about({{"/etc/tmpfiles.d/site.conf", "# site\n" + line + "\n"}});
  };
  for (const auto& row : {Row{"w /proc/sys/net/core/rmem_max - - - - 8192", true},
                          Row{"w+ /proc/sys/net/core/rmem_max - - - - 8192", true},
                          Row{"w!- /proc/sys/net/core/rmem_max - - - - 8192", true},
                          Row{"f+ \"/proc/sys/net/core/rmem_max\" - - - - 8192", true},
                          Row{"F /proc/sys/net/core/rmem_max 0644 root root - 8192", true},
                          Row{"w /proc/sys/net/core/*mem_max - - - - 8192", true},
                          Row{"w /proc/sys/net/{ipv4,core}/{wmem,{r,x}mem}_max - - - - 8192", true},
                          Row{"w /proc/sys/net/core/{wmem,tmem}_max - - - - 8192", false},
                          Row{"w /proc/sys/net/core/{}rmem_max - - - - 8192", false},
                          Row{"w /proc/sys/net/core/{rmem_max - - - - 8192", false},
                          Row{"f /proc/sys/net/core/rmem_max - - - - 8192", false},
                          Row{"w /proc/sys/net/core/wmem_max - - - - 8192", false},
                          Row{"w /proc/sys/net/core/rmem_max - - - - 0x1000", false},
                          Row{"#w /proc/sys/net/core/rmem_max - - - - 8192", false},
                          Row{"z /proc/sys/net/core/rmem_max 0600 - - - 8192", false}}) {
    EXPECT_EQ(
        said(row.line),
        row.told ? "/etc/tmpfiles.d/site.conf:2 writes 8192 to /proc/sys/net/core/rmem_max at boot\n" : "")
        << row.line;
  }
  EXPECT_EQ(said_about({{"/etc/tmpfiles.d/site.conf", ""},
                        {"/usr/lib/tmpfiles.d/site.conf", "w /proc/sys/net/core/rmem_max - - - - 8192\n"}}),
            "")
      << "a file of /etc masks those of its name";
}

Texts with_tuned(const std::string& profile, const std::string& main) {
  return {{"/etc/systemd/system/multi-user.target.wants/tuned.service", ""},
          {"/etc/tuned/active_profile", "site\n"},
          {"/etc/tuned/tuned-main.conf", main},
          {"/etc/tuned/profiles/site/tuned.conf", profile}};
}

/// _instance_apply_static() of plugin_sysctl.py: the profile's values first, then those of sysctl.d.
TEST(SysctlCheck, TunedWinsWhereItDoesNotReapply) {
  const std::string profile = "[main]\nsummary=x\n[sysctl]\nnet.core.rmem_max=8192\n";
  const std::string told =
      "/etc/tuned/profiles/site/tuned.conf:4 makes tuned set net/core/rmem_max to 8192\n";
  EXPECT_EQ(said_about(with_tuned(profile, "reapply_sysctl = 0\n")), told);
  EXPECT_EQ(said_about(with_tuned(profile, "daemon = 1\nreapply_sysctl = 1\n")), "");
  EXPECT_EQ(said_about(with_tuned(profile, "")), "") << "the default";
  auto texts = with_tuned(profile, "reapply_sysctl = 0\n");
  texts.erase("/etc/systemd/system/multi-user.target.wants/tuned.service");
  EXPECT_EQ(said_about(texts), "") << "tuned does not start";
  EXPECT_EQ(said_about(with_tuned("[sysctl]\nnet.core.rmem_max=4096\n", "reapply_sysctl = 0\n")), "");
  EXPECT_EQ(said_about(with_tuned("[sysctl]\nnet.core.rmem_max=${size}\n", "reapply_sysctl = 0\n")), "");
  EXPECT_EQ(said_about(with_tuned("[sysctl]\nenabled=0\nnet.core.rmem_max=8192\n", "reapply_sysctl = 0\n")),
            "");
}

/// _process_assignment_modifiers()
TEST(SysctlCheck, TunedOnlyRaisesOrLowers) {
  const auto said = [](const std::string& value) {
    return said_about(with_tuned("[sysctl]\nnet.core.rmem_max=" + value + "\n", "reapply_sysctl=false\n"));
  };
  const std::string told = "/etc/tuned/profiles/site/tuned.conf:2 makes tuned set net/core/rmem_max to ";
  EXPECT_EQ(said(">8192"), told + "8192\n");
  EXPECT_EQ(said(">1024"), "");
  EXPECT_EQ(said("<1024"), told + "1024\n");
  EXPECT_EQ(said("<8192"), "");
  EXPECT_EQ(said("\"8192\""), told + "8192\n");
}

TEST(SysctlCheck, AnIncludedProfileComesFirst) {
  auto texts = with_tuned("[main]\ninclude=base, other\n[net]\ntype=sysctl\nnet.core.rmem_max=16384\n",
                          "reapply_sysctl=0\n");
  texts["/usr/lib/tuned/base/tuned.conf"] = "[main]\ninclude=site\n[sysctl]\nnet.core.rmem_max=8192\n";
  EXPECT_EQ(said_about(texts),
            "/etc/tuned/profiles/site/tuned.conf:5 makes tuned set net/core/rmem_max to 16384\n");
  texts["/etc/tuned/profiles/site/tuned.conf"] = "[main]\ninclude=base\n";
  EXPECT_EQ(said_about(texts),
            "/usr/lib/tuned/base/tuned.conf:4 makes tuned set net/core/rmem_max to 8192\n");
}

/// ip_sysctl of ufw-init-functions: sysctl -e -q -p $IPT_SYSCTL
TEST(SysctlCheck, AnEnabledUfwSetsWhatItsFileSays) {
  const auto with_ufw = [](const std::string& enabled, const std::string& defaults,
                           const std::string& settings) {
    return said_about({{"/etc/ufw/ufw.conf", "ENABLED=" + enabled + "\n"},
                       {"/etc/default/ufw", defaults},
                       {"/etc/ufw/sysctl.conf", settings}});
  };
  const std::string defaults = "IPV6=yes\n# comment\nIPT_SYSCTL=/etc/ufw/sysctl.conf\n";
  const std::string settings = "# ufw\nnet/core/rmem_max=1024\nnet/core/rmem_max=8192\n";
  EXPECT_EQ(with_ufw("yes", defaults, settings),
            "/etc/ufw/sysctl.conf:3 makes ufw set net/core/rmem_max to 8192\n");
  EXPECT_EQ(with_ufw("no", defaults, settings), "");
  EXPECT_EQ(with_ufw("yes", "IPT_SYSCTL=\n", settings), "");
  EXPECT_EQ(with_ufw("yes", "IPV6=yes\n", settings), "");
  EXPECT_EQ(with_ufw("yes", defaults, "#net/core/rmem_max=8192\nnet/core/rmem_max=4096\n"), "");
  EXPECT_EQ(with_ufw("yes", defaults, "net.core.rmem_max = 8192\n"),
            "/etc/ufw/sysctl.conf:1 makes ufw set net/core/rmem_max to 8192\n")
      << "as sysctl(8) spells it";
}

TEST(SysctlCheck, SysctlConfIsReadByTunedWhereSystemdLeavesItOut) {
  const auto conf = [](Texts texts) {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    texts["/usr/lib/systemd/systemd-sysctl"] = "";
    files.content = texts;
    return OtherSysctlSetters(files).sysctl_conf();
  };
  const std::string profile = "[sysctl]\nvm.swappiness=10\n";
  EXPECT_EQ(conf({}), SysctlConf::kUnread);
  EXPECT_EQ(conf(with_tuned(profile, "")), SysctlConf::kRead);
  EXPECT_EQ(conf(with_tuned(profile, "reapply_sysctl=0\n")), SysctlConf::kUnread);
}

TEST(SysctlCheck, TunedReadsSysctlConfAfterOurs) {
  const auto reads_last = [](const Texts& texts) {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    files.content = texts;
    return OtherSysctlSetters(files).tuned_reads_last("/etc/sysctl.conf");
  };
  const std::string profile = "[sysctl]\nvm.swappiness=10\n";
  EXPECT_TRUE(reads_last(with_tuned(profile, "")));
  EXPECT_FALSE(reads_last(with_tuned(profile, "reapply_sysctl=0\n")));
  EXPECT_FALSE(reads_last(with_tuned("[cpu]\ngovernor=performance\n", "")))
      << "without its plugin for sysctl";
  EXPECT_FALSE(reads_last({}));
}

}  // namespace
}  // namespace rdmacfg::kinds
