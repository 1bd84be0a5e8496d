// SPDX-License-Identifier: Apache-2.0
// withdraw: our files become the administrator's, and the network stays.
#include "withdraw/withdraw.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "console.hpp"
#include "store/generations.hpp"
#include "store/ledger_seen.hpp"

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
  EXPECT_THAT(console.out.str(), HasSubstr("Nothing of rdma-configd is left on this host"));
}

TEST_F(Withdraw, FilesThatFewerMayReadStaySoUnderTheirOtherNames) {
  auto& closed = console.kernel.files.root_only;
  closed.insert(kRules);
  ASSERT_EQ(console.run({"withdraw", "--yes"}), 0) << console.err.str();
  ASSERT_TRUE(files().contains(kPlainRules));
  EXPECT_TRUE(closed.contains(kPlainRules));
  EXPECT_FALSE(closed.contains("/etc/rdma/rdma-admin-0002c903003178f2.sh")) << "the document is public";
}

TEST_F(Withdraw, LeavesTheRecordsOfAnotherHostAlone) {
  const core::GenerationPaths paths;
  const auto& boot_id = console.kernel.boot_id;
  auto& ledger = files().at(paths.ledger);
  const auto at = ledger.find(boot_id);
  ASSERT_NE(at, std::string::npos) << ledger;
  ledger.replace(at, boot_id.size(), "5f0c0de0-0000-4000-8000-0000000000ff");
  files()[core::kLedgerSeen] = boot_id + " 0\n";
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("was written by another host"));
  EXPECT_TRUE(files().contains(paths.ledger));
  EXPECT_TRUE(files().contains(kRules));
}

/// Else Prometheus would miss the daemon for ever.
TEST_F(Withdraw, RemovesTheMetricsOfTheDaemon) {
  files()["/prom/rdma-configd.prom"] = "rdma_configd_up 0\n";
  files()["/prom/other.prom"] = "";
  files()["/run/rdma-configd/metrics"] = "/prom/rdma-configd.prom\n";
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 0) << console.err.str();
  EXPECT_FALSE(files().contains("/prom/rdma-configd.prom"));
  EXPECT_TRUE(files().contains("/prom/other.prom"));
  EXPECT_FALSE(files().contains("/run/rdma-configd/metrics"));
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
  EXPECT_THAT(console.err.str(),
              HasSubstr(kPlainRules + ": exists already and was not made by an earlier withdrawal; move it "
                                      "away first"));
  EXPECT_EQ(files(), before);
  EXPECT_TRUE(daemon_runs());
}

TEST_F(Withdraw, WaitsForAConfirmation) {
  console.document(std::string("version = 1\n[[ipoib]]\nguid = \"") + kGuid1 + "\"\nname = \"ib_new\"\n");
  ASSERT_EQ(console.run({"apply", "--yes", "--local", "--confirm", "60"}), 0) << console.err.str();
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 1);
  EXPECT_THAT(console.err.str(),
              HasSubstr("an apply waits for its confirmation: run `rdma-configctl confirm` or "
                        "`rdma-configctl rollback` first"));
}

TEST_F(Withdraw, WaitsForTheEndOfAnInterruptedApply) {
  files()["/var/lib/rdma-configd/journal.json"] = "{";
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 1);
  EXPECT_THAT(console.err.str(),
              HasSubstr("an apply was interrupted: finish it with `rdma-configctl apply` first"));
  files().erase("/var/lib/rdma-configd/journal.json");
  files()[core::Paths().held] = "{";
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 1);
  EXPECT_THAT(console.err.str(),
              HasSubstr("an apply was interrupted: finish it with `rdma-configctl apply` first"));
}

TEST_F(Withdraw, ARecordOfAHoldThatIsOverGoes) {
  files()[core::Paths().held] =
      R"({"schema": 1, "boot_id": ")" + console.kernel.boot_id +
      R"(", "over": true, "changes": [], "before": {"records": []}, "on_disk": {"records": []}})";
  files()[core::kUnwrittenFile] = R"({"schema": 1, "reasons": ["state.json: full"]})";
  files()[core::kDegradedInRun] = R"({"schema": 1, "reasons": ["state.json: full"]})";
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 0) << console.err.str();
  EXPECT_FALSE(files().contains(core::Paths().held));
  EXPECT_FALSE(files().contains(core::kDegradedInRun));
  EXPECT_FALSE(files().contains(core::kUnwrittenFile));
}

TEST_F(Withdraw, AHostThatIsWithdrawnStaysSoWhenItIsTriedAgainInVain) {
  console.lock_error = base::Error{base::Code::kBusy, "somebody else is at work", 0};
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 1);
  EXPECT_FALSE(files().contains(core::kWithdrawnMark));
  EXPECT_TRUE(daemon_runs());
  console.lock_error.reset();
  ASSERT_EQ(console.run({"withdraw", "--yes"}), 0) << console.err.str();
  console.lock_error = base::Error{base::Code::kBusy, "somebody else is at work", 0};
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 1);
  EXPECT_TRUE(files().contains(core::kWithdrawnMark)) << "else it is configured again at the next boot";
  EXPECT_FALSE(daemon_runs());
}

/// Such a host would not be configured at the next boot, and nobody would know.
TEST_F(Withdraw, AMarkThatStaysAfterAVainAttemptIsTold) {
  console.lock_error = base::Error{base::Code::kBusy, "somebody else is at work", 0};
  console.kernel.faults.refuse(std::string(core::kWithdrawnMark) + ": remove", EROFS);
  EXPECT_EQ(console.run({"withdraw", "--yes"}), 4);
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("somebody else is at work"),
                                       HasSubstr("the host is still marked as withdrawn")));
  EXPECT_TRUE(files().contains(core::kWithdrawnMark));
  EXPECT_TRUE(daemon_runs());
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

TEST(WithdrawNetworkd, ItsFilesGoOnUnderOtherNames) {
  Console console;
  console.kernel.networkd.start();
  const auto port = std::string("version = 1\n[[ipoib]]\nguid = \"") + kGuid1 +
                    "\"\nname = \"net0\"\nmode = \"connected\"\nbackend = \"networkd\"\n" +
                    "ipv4 = { addresses = [\"192.0.2.1/24\"] }\n  [[ipoib.pkey]]\n  pkey = 0x8002\n" +
                    "  ipv4 = { addresses = [\"192.0.3.1/24\"] }\n";
  console.document(port);
  ASSERT_EQ(console.run({"apply", "--yes", "--local"}), 0) << console.err.str() << console.out.str();
  auto& files = console.kernel.files.content;
  std::map<std::string, std::string> ours;
  for (const auto& [path, text] : files) {
    if (path.starts_with("/etc/systemd/network/09-rdma-configd-")) ours.emplace(path, text);
  }
  ASSERT_EQ(ours.size(), 2U);
  const auto reloads = console.kernel.networkd.reloads;
  console.document("version = 1\n");
  ASSERT_EQ(console.run({"withdraw", "--yes"}), 0) << console.err.str();
  for (const auto& [path, text] : ours) {
    EXPECT_FALSE(files.contains(path));
    auto to = path;
    to.replace(to.find("rdma-configd"), 12, "rdma-admin");
    ASSERT_TRUE(files.contains(to)) << to;
    EXPECT_EQ(files[to].substr(files[to].find('\n')), text.substr(text.find('\n'))) << to;
  }
  EXPECT_THAT(files["/etc/udev/rules.d/71-rdma-admin-backend.rules"], HasSubstr("RDMA_CONFIGD_PORT"))
      << "what they match";
  EXPECT_THAT(files["/etc/rdma/rdma-admin-0002c903003178f2.sh"],
              AllOf(HasSubstr("echo connected >"), HasSubstr("create_child"), Not(HasSubstr("ip address"))))
      << "mode and P_Key interfaces networkd does not make";
  EXPECT_EQ(console.kernel.networkd.reloads, reloads) << "it would set the interfaces up again";
}

/// A tree below --root, as one that makes images has it.
class WithdrawImage : public testing::Test {
 protected:
  WithdrawImage() { console.kernel.units.add(core::kDaemonUnit, {.enabled = true, .running = true}); }
  int run(std::vector<std::string> words) {
    words.insert(words.end(), {"--root", console.folder().string()});
    return console.run(words);
  }
  std::map<std::string, std::string>& files() { return console.kernel.files.content; }
  Console console;
};

TEST_F(WithdrawImage, IsHandedOverWithoutALookAtThisHost) {
  console.environment.privileged = false;
  console.document(kRename + "ipv4 = { addresses = [\"192.0.2.1/24\"] }\nbackend = \"direct\"\n" +
                   "  [[ipoib.pkey]]\n  pkey = 0x8002\n[[ipoib]]\nguid = \"" + kGuid2 + "\"\n" +
                   "  [[ipoib.pkey]]\n  pkey = 0x8003\n  mtu = 2044\n" + "[[ipoib]]\ndevice = \"mlx5_9\"\n" +
                   "port = 1\nmode = \"datagram\"\n");
  const auto applied = run({"apply", "--yes", "--pending-ok"});
  ASSERT_EQ(applied, 0) << console.err.str() << console.out.str();
  ASSERT_TRUE(files().contains(kRules));
  EXPECT_EQ(run({"withdraw", "--dry-run"}), 2);
  EXPECT_TRUE(files().contains(kRules));
  EXPECT_EQ(run({"withdraw", "--yes"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("70-rdma-admin-ipoib.rules"), HasSubstr("NOT preserved"),
                                       HasSubstr("the host of this image boots with these files")));
  EXPECT_FALSE(files().contains(kRules));
  EXPECT_THAT(files()[kPlainRules], HasSubstr("NAME=\"mlx4_ib0\""));
  EXPECT_THAT(files()["/etc/rdma/rdma-admin-0002c903003178f2.sh"],
              AllOf(HasSubstr("echo connected >"), HasSubstr("ip address replace 192.0.2.1/24"),
                    HasSubstr("/sys/class/net/mlx4_ib0.8002")));
  EXPECT_THAT(files()["/etc/rdma/rdma-admin-0002c903003178f3.sh"],
              AllOf(HasSubstr("child=$(printf %.15s \"$port.8003\")"),
                    HasSubstr("ip link set dev \"$child\" mtu 2044")))
      << "after whatever the kernel calls the port's interface";
  EXPECT_TRUE(files().contains(core::kWithdrawnMark)) << "its host applies nothing when it boots";
  EXPECT_TRUE(console.kernel.units.units[core::kDaemonUnit].running) << "this host's";
  EXPECT_GT(console.locks, 0) << "of the folder";
  EXPECT_EQ(run({"withdraw", "--yes"}), 0) << console.err.str();
}

TEST_F(WithdrawImage, NothingIsChangedWhereTheDocumentIsWrong) {
  console.document(kRename);
  ASSERT_EQ(run({"apply", "--yes", "--pending-ok"}), 0) << console.err.str();
  const auto before = files();
  console.document(kRename + "mut = 1\n");
  EXPECT_EQ(run({"withdraw", "--yes"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("the document has errors"));
  EXPECT_EQ(files(), before);
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
