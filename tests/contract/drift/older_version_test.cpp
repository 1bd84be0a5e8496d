// SPDX-License-Identifier: Apache-2.0
// Files of systemd-networkd under the names of an older version: the first run takes them over, and undone,
// they are as they were found (ADR 0057).
#include <gmock/gmock.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "contract/commit_host.hpp"
#include "daemon/journal_report.hpp"
#include "formats/udev/udev_backend.hpp"
#include "kinds/address/profiles/networkd_file.hpp"
#include "kinds/address/profiles/networkd_older.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kUpgradedMachine =
    R"({"networkd": {"fails": []}, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
          {"guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"],
           "interface": {"name": "ib0", "up": true}}]}]})";
constexpr const char* kUpgradedPort = "00:02:c9:03:00:31:78:f2";
constexpr const char* kUpgradedDocument =
    "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"networkd\"\n"
    "ipv4 = { addresses = [\"192.0.2.1/24\"], gateway = \"192.0.2.254\" }\n";

/// The host is as an older version has left it.
void give_older_name(Host& host) {
  auto& files = host.kernel().files.content;
  const auto now = kinds::networkd_file(kUpgradedPort);
  ASSERT_TRUE(files.contains(now));
  files[kinds::older_networkd_file(kUpgradedPort)] = files[now];
  files.erase(now);
  ASSERT_TRUE(host.kernel().networkd.reload());
  host.kernel().faults.clear();
}

/// An upgrade was taken back and made again: both names are there.
void add_older_file(Host& host) {
  host.kernel().files.content[kinds::older_networkd_file(kUpgradedPort)] =
      "# Written by rdma-configd from its configuration; do not "
      "edit.\n[Match]\nProperty=RDMA_CONFIGD_PORT=x\n";
  ASSERT_TRUE(host.kernel().networkd.reload());
  host.kernel().faults.clear();
}

TEST(OlderNetworkFile, IsTakenOverByTheFirstHold) {
  for (const auto& upgrade : {give_older_name, add_older_file}) {
    Host host(FakeKernel::parse(kUpgradedMachine));
    ASSERT_TRUE(applied(host.commit(kUpgradedDocument)));
    const auto good = host.dump();
    upgrade(host);
    const auto report = host.hold();
    EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
    ASSERT_EQ(report.plan.changes.size(), 1U);
    EXPECT_THAT(daemon::done_by(report.plan.changes.front(), daemon::Creation::kAgain),
                testing::StartsWith("older_name 10-rdma-configd-0002c903003178f2.network"));
    EXPECT_EQ(difference(host.dump(), good), "");
    EXPECT_TRUE(host.hold().plan.changes.empty());
  }
}

TEST(OlderNetworkFile, GoesWithItsEntry) {
  for (const auto& upgrade : {give_older_name, add_older_file}) {
    Host host(FakeKernel::parse(kUpgradedMachine));
    ASSERT_TRUE(applied(host.commit(kUpgradedDocument)));
    upgrade(host);
    const auto report = host.commit("version = 1\n");
    ASSERT_TRUE(applied(report)) << text_of(report);
    EXPECT_EQ(host.dump().find("rdma-configd-0002c903003178f2.network"), std::string::npos);
  }
}

TEST(OlderNetworkFile, OfSomebodyElseStays) {
  Host host(FakeKernel::parse(kUpgradedMachine));
  ASSERT_TRUE(applied(host.commit(kUpgradedDocument)));
  const auto path = kinds::older_networkd_file(kUpgradedPort);
  host.kernel().files.content[path] = "[Match]\nName=eth0\n";
  EXPECT_TRUE(host.hold().plan.changes.empty());
  ASSERT_TRUE(applied(host.commit("version = 1\n")));
  EXPECT_EQ(host.kernel().files.content[path], "[Match]\nName=eth0\n");
}

TEST(OlderNetworkFile, IsBackWhenTheApplyFails) {
  const auto other = std::string(kUpgradedDocument) + "[[ipoib.pkey]]\npkey = 0x8002\n";
  for (const auto& upgrade : {give_older_name, add_older_file}) {
    std::size_t undone = 0;
    for (std::size_t n = 1;; ++n) {
      SCOPED_TRACE(n);
      Host host(FakeKernel::parse(kUpgradedMachine));
      ASSERT_TRUE(applied(host.commit(kUpgradedDocument)));
      upgrade(host);
      const auto found = host.dump();
      host.kernel().faults.fail_at(n, EPERM);
      const auto report = host.commit(other);
      if (applied(report)) break;
      EXPECT_TRUE(report.exit == Exit::kUndone || report.exit == Exit::kError) << text_of(report);
      EXPECT_EQ(difference(host.dump(), found), "") << text_of(report);
      undone += report.exit == Exit::kUndone ? 1U : 0U;
    }
    EXPECT_GT(undone, 0U);
  }
}

TEST(OlderNetworkFile, IsBackWhenTheApplyIsRolledBack) {
  const auto other = std::string(kUpgradedDocument) + "[[ipoib.pkey]]\npkey = 0x8002\n";
  for (const auto& upgrade : {give_older_name, add_older_file}) {
    Host host(FakeKernel::parse(kUpgradedMachine));
    ASSERT_TRUE(applied(host.commit(kUpgradedDocument)));
    upgrade(host);
    const auto found = host.dump();
    ASSERT_TRUE(applied(host.commit(other, kWithin)));
    const auto back = host.roll_back();
    EXPECT_EQ(back.exit, Exit::kOk) << text_of(back);
    EXPECT_EQ(difference(host.dump(), found), "") << text_of(back);
  }
}

TEST(OlderNetworkFile, IsTakenOverAlsoAfterAKill) {
  for (const auto& upgrade : {give_older_name, add_older_file}) {
    std::size_t killed = 0;
    for (bool whole = false; !whole;) {
      SCOPED_TRACE(killed + 1);
      Host host(FakeKernel::parse(kUpgradedMachine));
      ASSERT_TRUE(applied(host.commit(kUpgradedDocument)));
      const auto good = host.dump();
      upgrade(host);
      host.kernel().faults.kill_at(killed + 1);
      try {
        host.hold();
        whole = true;
      } catch (const fakes::Killed&) {
        ++killed;
      }
      host.kernel().faults.clear();
      const auto report = host.hold();
      EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
      EXPECT_EQ(difference(host.dump(), good), "");
    }
    EXPECT_GT(killed, 2U);
  }
}

TEST(OlderKeepOffFile, GivesWayToThatOfNow) {
  Host host(FakeKernel::parse(kUpgradedMachine));
  ASSERT_TRUE(applied(
      host.commit("version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"direct\"\n")));
  const auto good = host.dump();
  auto& files = host.kernel().files.content;
  const std::string now(kinds::kKeepOffNetworkd), older(kinds::kOlderKeepOffNetworkd);
  ASSERT_TRUE(files.contains(now));
  files[older] = files[now];
  files.erase(now);
  const auto report = host.hold();
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_EQ(difference(host.dump(), good), "");
  files[older] = "[Match]\nName=eth0\n";
  EXPECT_TRUE(host.hold().plan.changes.empty()) << "somebody else's";
}

}  // namespace
}  // namespace rdmacfg::contract
