// SPDX-License-Identifier: Apache-2.0
// withdraw where something goes wrong meanwhile: its message, and the state of the host afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "kinds/host/initramfs_stamp.hpp"
#include "metrics/metrics.hpp"
#include "unit/ctl/console.hpp"
#include "withdraw/withdraw.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kOurRules = "/etc/udev/rules.d/70-rdma-configd-ipoib.rules";
const std::string kTheirRules = "/etc/udev/rules.d/70-rdma-admin-ipoib.rules";

class FailingWithdrawal : public testing::Test {
 protected:
  FailingWithdrawal() {
    console.kernel.units.add(core::kDaemonUnit, {.enabled = true, .running = true});
    console.document(kRename);
    EXPECT_EQ(console.run({"apply", "--yes", "--local"}), 0) << console.err.str();
    console.document("version = 1\n");
  }
  std::map<std::string, std::string>& files() { return console.kernel.files.content; }
  bool daemon_runs() { return console.kernel.units.units[core::kDaemonUnit].running; }

  Console console;
};

TEST_F(FailingWithdrawal, NothingIsWithdrawnThatWasNotShown) {
  console.terminal();
  console.variables["NO_COLOR"] = "1";
  console.answer("yes\n");
  console.environment.lock = [&](const auto& /*root*/, const auto&) -> base::Result<std::shared_ptr<void>> {
    files().erase(kOurRules);  // somebody else, while the question stood there
    return std::shared_ptr<void>();
  };
  EXPECT_EQ(console.run({"withdraw"}), 1);
  EXPECT_THAT(console.err.str(),
              HasSubstr("error: the host changed while you were reading: review the new list\n"));
  EXPECT_FALSE(files().contains(kTheirRules));
  EXPECT_FALSE(files().contains(core::kWithdrawnMark));
  EXPECT_TRUE(daemon_runs());
}

TEST_F(FailingWithdrawal, ADaemonThatDoesNotStartAgainIsTold) {
  console.lock_error = base::Error{base::Code::kBusy, "somebody else is at work", 0};
  console.kernel.faults.refuse(std::string(core::kDaemonUnit) + ": start", EIO);
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 4);
  EXPECT_THAT(console.err.str(),
              AllOf(HasSubstr("somebody else is at work; "),
                    HasSubstr("rdma-configd.service was stopped and could not be started again: ")));
  EXPECT_FALSE(files().contains(core::kWithdrawnMark)) << "the next boot applies its document";
  EXPECT_TRUE(files().contains(kOurRules));
}

TEST_F(FailingWithdrawal, ADaemonThatDoesNotStopEndsIt) {
  console.kernel.faults.refuse(std::string(core::kDaemonUnit) + ": stop", EIO);
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 1);
  EXPECT_FALSE(files().contains(core::kWithdrawnMark));
  EXPECT_TRUE(files().contains(kOurRules));
  EXPECT_TRUE(daemon_runs());
}

TEST_F(FailingWithdrawal, HalfOfItIsToldToProgramsTooAndFinishedByAnotherRun) {
  console.kernel.faults.refuse(kOurRules + ": remove", EROFS);
  EXPECT_EQ(console.run({"withdraw", "--yes", "--json"}), 4);
  const auto json = nlohmann::json::parse(console.out.str());
  EXPECT_EQ(json["exit"]["status"], 4);
  EXPECT_THAT(json["error"].dump(), HasSubstr("withdrawing (run withdraw again to finish)"));
  EXPECT_TRUE(files().contains(kOurRules));
  EXPECT_TRUE(files().contains(core::kWithdrawnMark)) << "what is ours is not known any more";
  console.kernel.faults.clear();
  EXPECT_EQ(console.run({"withdraw", "--yes", "--json"}), 0) << console.out.str();
  EXPECT_FALSE(files().contains(kOurRules));
  EXPECT_TRUE(files().contains(kTheirRules));
}

TEST_F(FailingWithdrawal, TheDaemonsLastMetricsGoAndNoOtherFile) {
  const std::string prom = std::string("/var/lib/node_exporter/") + metrics::kFileName;
  files()[metrics::kNote] = prom + "\n";
  files()[prom] = "rdma_configd_up 1\n";
  ASSERT_EQ(console.run({"withdraw", "--yes"}), 0) << console.err.str();
  EXPECT_FALSE(files().contains(prom)) << "it would say for ever that the daemon does not run";
  EXPECT_FALSE(files().contains(metrics::kNote));
}

TEST_F(FailingWithdrawal, ANoteThatLeadsElsewhereRemovesNothing) {
  files()[metrics::kNote] = "/etc/shadow\n";
  files()["/etc/shadow"] = "root:*:\n";
  ASSERT_EQ(console.run({"withdraw", "--yes"}), 0) << console.err.str();
  EXPECT_EQ(files()["/etc/shadow"], "root:*:\n");
  EXPECT_FALSE(files().contains(metrics::kNote));
}

TEST_F(FailingWithdrawal, AnInitramfsWithOurFilesIsNamed) {
  ASSERT_EQ(console.run({"withdraw", "--dry-run"}), 2);
  EXPECT_THAT(console.out.str(), Not(HasSubstr("initramfs")));
  files()[std::string(kinds::kInitramfsStamp)] = "{}";
  ASSERT_EQ(console.run({"withdraw", "--yes"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("Note: the initramfs has copies under the old names; run "));
}

}  // namespace
}  // namespace rdmacfg::ctl
