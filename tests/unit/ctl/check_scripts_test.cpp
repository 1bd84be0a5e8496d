// SPDX-License-Identifier: Apache-2.0
// The checks for other programs say what `status` says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "console.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::HasSubstr;

struct Ended {
  int status = -1;
  std::string out;
};

class Checks : public testing::Test {
 protected:
  void program(const std::string& name, const std::string& text) {
    const auto path = console.folder() / name;
    std::ofstream(path) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  /// `status` says this, and ends so.
  void says(const std::string& line, int status) {
    program("rdma-configctl", fmt::format("echo \"$@\" >>{}/asked\necho '{}'\nexit {}\n",
                                          console.folder().string(), line, status));
  }
  Ended run(const std::string& command) const {
    const auto line = fmt::format("PATH={}:$PATH; cd {}/conf/checks; {} 2>&1", console.folder().string(),
                                  SOURCE_ROOT, command);
    Ended ended;
    auto* pipe = ::popen(line.c_str(), "r");
    std::array<char, 4096> chunk{};
    while (const auto count = std::fread(chunk.data(), 1, chunk.size(), pipe))
      ended.out.append(chunk.data(), count);
    const int status = ::pclose(pipe);
    ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ended;
  }
  Console console;
};

TEST_F(Checks, NagiosHasStatusLineAndFigures) {
  says("everything matches the document: 12 in sync", 0);
  auto ended = run("./check_rdma_configd -t 5");
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, "RDMA OK - everything matches the document: 12 in sync | in_sync=12\n");
  says("something is waiting: 12 in sync, 1 pending, 2 limited", 5);
  ended = run("./check_rdma_configd");
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.out,
            "RDMA WARNING - something is waiting: 12 in sync, 1 pending, 2 limited | in_sync=12 pending=1 "
            "limited=2\n");
  says("something is wrong: 1 differing, 1 contended", 2);
  ended = run("./check_rdma_configd -p");
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.out, HasSubstr("| differing=1 contended=1"));
  says("rdma-configctl: error: config.toml:3: wrong", 1);
  EXPECT_EQ(run("./check_rdma_configd").status, 3);
  EXPECT_EQ(run("./check_rdma_configd -x").status, 3);
  EXPECT_EQ(run("RDMA_CONFIGCTL=/nonexistent ./check_rdma_configd").status, 3);
  std::ifstream asked(console.folder() / "asked");
  std::string first;
  std::getline(asked, first);
  EXPECT_EQ(first, "status -o name --timeout 5");
}

TEST_F(Checks, AnUnmetExpectationIsToldFromWhatWaits) {
  says("an expectation is not met: 12 in sync, 2 unmet, 1 pending", 5);
  auto ended = run("./check_rdma_configd");
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.out,
            "RDMA CRITICAL - an expectation is not met: 12 in sync, 2 unmet, 1 pending | in_sync=12 unmet=2 "
            "pending=1\n");
  EXPECT_EQ(run("./check_rdma_configd -p").status, 2);
  EXPECT_EQ(run("./check_rdma_configd -e").status, 1);
  program("scontrol", fmt::format("echo \"$@\" >>{0}/calls\n", console.folder().string()));
  EXPECT_THAT(run("SLURMD_NODENAME=n1 ./slurm-health-check").out, HasSubstr("2 unmet"));
  EXPECT_TRUE(std::filesystem::exists(console.folder() / "calls")) << "the node is drained";
  ended = run("bash -c 'die() { echo \"die $*\"; }; . ./rdma_configd.nhc; check_rdma_configd'");
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out, HasSubstr("an expectation is not met"));
}

TEST_F(Checks, SlurmDrainsWhatIsWrongOnce) {
  program("scontrol",
          fmt::format("echo \"$@\" >>{0}/calls\ncat {0}/node 2>/dev/null\n", console.folder().string()));
  says("everything matches the document: 1 in sync", 0);
  EXPECT_EQ(run("./slurm-health-check").status, 0);
  EXPECT_FALSE(std::filesystem::exists(console.folder() / "calls"));
  says("something is wrong: 1 differing", 2);
  EXPECT_EQ(run("SLURMD_NODENAME=n1 ./slurm-health-check").status, 0);
  const auto calls = [&] {
    std::ifstream in(console.folder() / "calls");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  };
  EXPECT_EQ(
      calls(),
      "show node n1\nupdate nodename=n1 state=drain reason=rdma-configd: something is wrong: 1 differing\n");
  std::ofstream(console.folder() / "node") << "   State=IDLE+DRAIN\n";
  EXPECT_EQ(run("SLURMD_NODENAME=n1 ./slurm-health-check").status, 0);
  EXPECT_THAT(calls(), testing::EndsWith("show node n1\n")) << "a reason that is there stays";
}

TEST_F(Checks, NhcDiesWithTheReason) {
  const std::string source = "bash -c 'die() { echo \"die $*\"; }; . ./rdma_configd.nhc; check_rdma_configd'";
  says("everything matches the document: 1 in sync", 0);
  auto ended = run(source);
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, "");
  says("something is wrong: 1 differing", 2);
  ended = run(source);
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.out, "die 1 check_rdma_configd:  something is wrong: 1 differing\n");
}

}  // namespace
}  // namespace rdmacfg::ctl
