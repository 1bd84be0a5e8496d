// SPDX-License-Identifier: Apache-2.0
// withdraw: what is ours becomes the administrator's, and the network stays.
#include "core/withdraw.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "console.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kRules = "/etc/udev/rules.d/70-rdma-configd-ipoib.rules";
const std::string kPlainRules = "/etc/udev/rules.d/70-rdma-admin-ipoib.rules";

std::vector<std::string> names_of(const auto& links) {
  std::vector<std::string> names;
  for (const auto& link : links) names.push_back(link.name);
  return names;
}

class Withdraw : public testing::Test {
 protected:
  Withdraw() {
    console.kernel.units.add(core::kDaemonUnit, {.enabled = true, .running = true});
    console.document(kRename + "  [[ipoib.pkey]]\n  pkey = 0x8002\n" + "[[memlock]]\ndomain = \"@rdma\"\n" +
                     "limit = \"unlimited\"\n");
    EXPECT_EQ(console.run({"apply", "--yes", "--local"}), 0) << console.err.str();
    // Generations are read where they are, not in --config.
    console.document("version = 1\n");
  }

  std::map<std::string, std::string>& files() { return console.kernel.files.content; }
  bool daemon_runs() { return console.kernel.units.units[core::kDaemonUnit].running; }

  Console console;
};

TEST_F(Withdraw, KeepsWhatOurFilesDoAndForgetsThatTheyWereOurs) {
  const auto network = console.kernel.machine.links;
  ASSERT_TRUE(files().contains(kRules));
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 0) << console.err.str();
  EXPECT_THAT(
      console.out.str(),
      AllOf(HasSubstr(kRules + " → 70-rdma-admin-ipoib.rules"), HasSubstr("zz-rdma-admin.conf"),
            HasSubstr("P_Key interfaces of mlx4_ib0"), HasSubstr("Withdrawn: the network is as it was")));
  EXPECT_FALSE(daemon_runs());
  EXPECT_EQ(names_of(console.kernel.machine.links), names_of(network));
  EXPECT_THAT(files()[kPlainRules], AllOf(HasSubstr("NAME=\"mlx4_ib0\""), Not(HasSubstr("rdma-configd"))));
  EXPECT_THAT(files()["/etc/rdma/rdma-admin-0002c903003178f2.sh"], HasSubstr("echo connected >"));
  std::vector<std::string> ours;
  for (const auto& [path, text] : files()) {
    if (path.find("rdma-configd") != std::string::npos) ours.push_back(path);
  }
  EXPECT_THAT(ours, testing::ElementsAre(core::kWithdrawnMark));
  EXPECT_EQ(console.run({"history"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("Nothing has been applied yet"));
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 0) << "a second one has nothing to do";
  EXPECT_THAT(console.out.str(), HasSubstr("There is nothing of rdma-configd on this host"));
}

TEST_F(Withdraw, NothingIsAppliedByItselfUntilSomebodyApplies) {
  ASSERT_EQ(console.run({"withdraw", "--yes"}), 0);
  console.document(kRename);
  EXPECT_EQ(console.run({"apply", "--boot"}), 0);
  EXPECT_FALSE(files().contains(kRules));
  EXPECT_EQ(console.run({"apply", "--yes"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("rdma-admin files"));
  EXPECT_TRUE(files().contains(kRules));
  EXPECT_FALSE(files().contains(core::kWithdrawnMark));
  console.document("version = 1\n");
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 0) << "what an earlier one left is written over";
  EXPECT_FALSE(files().contains(kRules));
}

TEST_F(Withdraw, ShowsAndAsks) {
  const auto before = files();
  EXPECT_EQ(console.run({"withdraw", "--dry-run"}), 2);
  EXPECT_THAT(console.out.str(), HasSubstr("Dry run: nothing was changed."));
  EXPECT_EQ(console.run({"withdraw"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("add --yes"));
  console.terminal();
  console.answer("no\n");
  EXPECT_EQ(console.run({"withdraw"}), 1);
  EXPECT_EQ(files(), before);
  EXPECT_TRUE(daemon_runs());
  console.answer("yes\n");
  EXPECT_EQ(console.run({"withdraw"}), 0);
  EXPECT_FALSE(files().contains(kRules));
}

TEST_F(Withdraw, FilesOfOthersAreNotWrittenOver) {
  files()[kPlainRules] = "# mine\n";
  const auto before = files();
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 1);
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr(kPlainRules), HasSubstr("move it away first")));
  EXPECT_EQ(files(), before);
  EXPECT_TRUE(daemon_runs());
}

TEST_F(Withdraw, WaitsForAConfirmation) {
  console.document(std::string("version = 1\n[[ipoib]]\nguid = \"") + kGuid1 + "\"\nname = \"ib_new\"\n");
  ASSERT_EQ(console.run({"apply", "--yes", "--local", "--confirm", "60"}), 0) << console.err.str();
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("waits for its confirmation"));
}

TEST_F(Withdraw, AFailureLeavesANameAtEveryCall) {
  const auto start = console.kernel.machine;
  const auto files_before = files();
  for (std::size_t call = 1; call < 100; ++call) {
    console.kernel.machine = start;
    files() = files_before;
    console.kernel.units.units[core::kDaemonUnit].running = true;
    console.kernel.faults.clear();
    console.kernel.faults.fail_at(call, EIO);
    const auto status = console.run({"withdraw", "--yes"});
    const auto calls = console.kernel.faults.calls();
    console.kernel.faults.clear();
    EXPECT_TRUE(files().contains(kRules) || files().contains(kPlainRules)) << "call " << call;
    if (status == 1) {
      EXPECT_TRUE(files().contains(kRules));
      EXPECT_FALSE(files().contains(core::kWithdrawnMark)) << "call " << call;
    }
    if (status != 0) {
      EXPECT_EQ(console.run({"withdraw", "--yes"}), 0) << "call " << call << ": " << console.err.str();
    }
    EXPECT_FALSE(files().contains(kRules));
    EXPECT_TRUE(files().contains(core::kWithdrawnMark));
    if (calls < call) return;
  }
  FAIL() << "it never came to its end";
}

TEST_F(Withdraw, TellsProgramsToo) {
  EXPECT_EQ(console.run({"withdraw", "--dry-run", "--json"}), 2);
  const auto json = nlohmann::ordered_json::parse(console.out.str());
  EXPECT_EQ(json["schema"], "org.rdmaconfigd.withdrawal/1");
  EXPECT_EQ(json["kept"][0]["from"], "/etc/security/limits.d/zz-rdma-configd.conf");
  EXPECT_EQ(json["lost"].size(), 0U);
}

}  // namespace
}  // namespace rdmacfg::ctl
