// SPDX-License-Identifier: Apache-2.0
// Lines of others that give some of the same logins less.
#include <gmock/gmock.h>

#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::HasSubstr;

/// The messages about a limit of 1 GiB for a domain, with these lines in a file of limits.d.
std::string said_of_limits(const std::string& domain, const std::string& file, const std::string& lines,
                           const std::string& groups = {}) {
  auto kernel = fakes::FakeKernel::parse(R"({"groups": ["rdma", "hpc", "pipewire"],
                                             "users": ["root", "alice"]})");
  kernel->files.content["/etc/passwd"] =
      "alice:x:1000:991::/home/alice:/bin/sh\npipewire:x:990:990::/:/sbin/nologin\n";
  if (!groups.empty()) kernel->files.content["/etc/group"] = groups;
  kernel->files.content["/etc/security/limits.d/" + file] = lines;
  auto host = kernel->host();
  const auto report = core::diff(
      config::parse_texts(
          {{"config.toml", "version = 1\n[[memlock]]\nlimit = \"1 GiB\"\ndomain = \"" + domain + "\"\n"}},
          "node1", grammar()),
      host);
  std::string out;
  for (const auto& diagnostic : report.diagnostics) out += diagnostic.message + "\n";
  return out;
}

/// process_limit() of pam_limits.c: LIMITS_DEF_USER before LIMITS_DEF_GROUP before LIMITS_DEF_DEFAULT, and of
/// the same sort the later line.
TEST(MemlockLogin, CloserLinesWithALowerLimitAreNamed) {
  struct Row {
    const char* domain;
    const char* file;
    const char* line;
    bool told;
  };
  for (const auto& row : {Row{"*", "10-a.conf", "@hpc hard memlock 64", true},
                          Row{"*", "10-a.conf", "alice - memlock 64", true},
                          Row{"*", "10-a.conf", "1000:2000 - memlock 64", true},
                          Row{"*", "10-a.conf", "root - memlock 64", false},  // whom "*" is not for
                          Row{"*", "10-a.conf", "@hpc hard memlock unlimited", false},
                          Row{"*", "10-a.conf", "@hpc hard memlock 2097152", false},
                          Row{"*", "10-a.conf", "@hpc hard nofile 64", false},
                          Row{"@rdma", "10-a.conf", "alice hard memlock 64", true},
                          Row{"@rdma", "zzz.conf", "@hpc hard memlock 64", true},
                          Row{"@rdma", "10-a.conf", "@hpc hard memlock 64", false},
                          Row{"@rdma", "zzz.conf", "* hard memlock 64", false},
                          Row{"alice", "zzz.conf", "@hpc hard memlock 64", false}}) {
    const auto said = said_of_limits(row.domain, row.file, row.line + std::string("\n"));
    const auto wanted = std::string("[[memlock]] ") + row.domain +
                        ": a lower limit holds for some of these users: /etc/security/limits.d/" + row.file +
                        ":1 (";
    if (row.told) {
      EXPECT_THAT(said, HasSubstr(wanted)) << row.line;
    } else {
      EXPECT_EQ(said, "") << row.line;
    }
  }
}

/// 25-pw-rlimits.conf, which comes with PipeWire, limits a group that is not there, or has no members.
TEST(MemlockLogin, ALimitForAGroupWithoutMembersIsNotNamed) {
  struct Row {
    const char* line;
    const char* groups;  ///< of /etc/group
    bool told;
  };
  for (const auto& row : {Row{"@pipewire - memlock 64", "pipewire:x:990:\n", false},
                          Row{"@pipewire - memlock 64", "pipewire:x:990:alice\n", true},
                          Row{"@pipewire - memlock 64", "pipewire:x:991:\n", true},  // alice's primary one
                          Row{"@pipewire - memlock 64", "pipewire:x:2000:\n", true},
                          Row{"@pipewire - memlock 64", "root:x:0:\n", true},  // of a directory
                          Row{"@absent - memlock 64", "root:x:0:\n", false},
                          Row{"@1000:2000 - memlock 64", "root:x:0:\n", true}}) {
    const auto said = said_of_limits("*", "25-pw-rlimits.conf", row.line + std::string("\n"), row.groups);
    EXPECT_EQ(said.find("a lower limit holds") != std::string::npos, row.told)
        << row.line << ' ' << row.groups;
  }
}

TEST(MemlockLogin, SessionsWithoutTheModuleAreNamed) {
  auto kernel = fakes::FakeKernel::parse(R"({"groups": ["rdma"]})");
  kernel->files.content["/etc/pam.d/sshd"] = "session required pam_unix.so\n";
  kernel->files.content["/etc/pam.d/login"] = "session required pam_limits.so\n";
  auto host = kernel->host();
  const std::string entries =
      "[[memlock]]\nlimit = 64\ndomain = \"@rdma\"\n[[memlock]]\nlimit = 64\ndomain = \"*\"\n";
  const auto report =
      core::diff(config::parse_texts({{"config.toml", "version = 1\n" + entries}}, "node1", grammar()), host);
  ASSERT_EQ(report.diagnostics.size(), 1U) << "once";
  EXPECT_EQ(report.diagnostics[0].message,
            "[[memlock]]: PAM's session stack of sshd has no pam_limits.so that reads limits.d, so no limit "
            "applies "
            "there");
}

TEST(MemlockLogin, SshdWithoutPamIsNamed) {
  auto kernel = fakes::FakeKernel::parse(R"({"groups": ["rdma"]})");
  kernel->files.content["/etc/ssh/sshd_config"] = "Port 22\nUsePAM no\n";
  auto host = kernel->host();
  const auto report = core::diff(
      config::parse_texts({{"config.toml", "version = 1\n[[memlock]]\nlimit = 64\ndomain = \"@rdma\"\n"}},
                          "node1", grammar()),
      host);
  ASSERT_EQ(report.diagnostics.size(), 1U);
  EXPECT_EQ(
      report.diagnostics[0].message,
      "[[memlock]]: /etc/ssh/sshd_config:2 switches PAM off in sshd, so no limit applies to its sessions");
}

}  // namespace
}  // namespace rdmacfg::kinds
