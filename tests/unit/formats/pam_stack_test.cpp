// SPDX-License-Identifier: Apache-2.0
#include "formats/pam_stack.hpp"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> logins_without(const std::map<std::string, std::string>& texts) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = texts;
  return logins_without_limits(files);
}

/// pam.d(5): type, control, module and arguments; pam_limits(8) of conf=.
TEST(PamStack, ASessionLineWithTheModuleSetsLimits) {
  for (const auto* line :
       {"session required pam_limits.so\n", "SESSION\tRequired /lib/security/pam_limits.so debug # as ever\n",
        "-session [success=ok default=ignore] pam_limits.so\n", "session \\\n  required pam_limits.so\n"})
    EXPECT_THAT(logins_without({{"/etc/pam.d/sshd", line}}), IsEmpty()) << line;
  for (const auto* line : {"", "# session required pam_limits.so\n", "auth required pam_limits.so\n",
                           "session required pam_limits.so conf=/etc/site.conf\n",
                           "session required pam_unix.so\n", "session required\n"})
    EXPECT_THAT(logins_without({{"/etc/pam.d/sshd", line}}), ElementsAre("sshd")) << line;
}

TEST(PamStack, IncludedFilesAreRead) {
  const std::string limits = "auth required pam_unix.so\nsession required pam_limits.so\n";
  for (const auto* line : {"@include common-session\n", "session include common-session\n",
                           "session substack common-session\n"}) {
    EXPECT_THAT(logins_without({{"/etc/pam.d/sshd", line}, {"/etc/pam.d/common-session", limits}}), IsEmpty())
        << line;
    EXPECT_THAT(logins_without({{"/etc/pam.d/sshd", line}, {"/usr/lib/pam.d/common-session", limits}}),
                IsEmpty())
        << line;
    EXPECT_THAT(logins_without({{"/etc/pam.d/sshd", line}, {"/etc/pam.d/common-session", line}}),
                ElementsAre("sshd"))
        << "a circle: " << line;
  }
  EXPECT_THAT(logins_without({{"/etc/pam.d/sshd", "auth include common-session\n"},
                              {"/etc/pam.d/common-session", limits}}),
              ElementsAre("sshd"))
      << "of the type of the line only";
}

TEST(PamStack, ServicesThatAreNotThereHaveNoSessions) {
  EXPECT_THAT(logins_without({}), IsEmpty());
  EXPECT_THAT(logins_without({{"/etc/pam.d/cron", "@include gone\n"},
                              {"/usr/lib/pam.d/login",
                               "session required "
                               "pam_limits.so\n"}}),
              ElementsAre("cron"));
}

/// sshd_config(5): the first line of a keyword counts.
TEST(PamStack, FindsTheLineThatDisablesPamInSshd) {
  const auto without = [](const std::string& main, const std::string& included = "") {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    files.content = {{"/etc/ssh/sshd_config", main}, {"/etc/ssh/sshd_config.d/50-site.conf", included}};
    return sshd_without_pam(files);
  };
  EXPECT_EQ(without("# x\nUsePAM no\n"), "/etc/ssh/sshd_config:2");
  EXPECT_EQ(without("usepam=No\nUsePAM yes\n"), "/etc/ssh/sshd_config:1");
  for (const auto* text :
       {"", "#UsePAM no\n", "UsePAM yes\nUsePAM no\n", "UsePAM\n", "Match User x\nUsePAM no\n"})
    EXPECT_EQ(without(text), "") << text;
  const std::string include = "Include /etc/ssh/sshd_config.d/*.conf\n";
  EXPECT_EQ(without(include + "UsePAM yes\n", "UsePAM no\n"), "/etc/ssh/sshd_config.d/50-site.conf:1");
  EXPECT_EQ(without(include + "UsePAM no\n", "UsePAM yes\n"), "");
  EXPECT_EQ(without("Include sshd_config.d/*.conf\n", "UsePAM no\n"),
            "/etc/ssh/sshd_config.d/50-site.conf:1");
  EXPECT_EQ(without("UsePAM yes\n" + include, "UsePAM no\n"), "");
  EXPECT_EQ(without(include, include + "UsePAM no\n"), "/etc/ssh/sshd_config.d/50-site.conf:2") << "a circle";
}

}  // namespace
}  // namespace rdmacfg::kinds
