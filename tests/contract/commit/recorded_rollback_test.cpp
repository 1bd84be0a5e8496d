// SPDX-License-Identifier: Apache-2.0
// A rollback is over once state.json, or the runtime directory where that cannot be written, records all
// objects that it made as ours. Its exit status says whether the host is as before.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "contract/commit_host.hpp"
#include "store/damage.hpp"
#include "store/state.hpp"

namespace rdmacfg::contract {
namespace {

const core::Paths kRollbackRecords;
const std::string kChildOfRollback = std::string(kFirst) + "[[ipoib.pkey]]\npkey = 0x8002\n";

bool has_pkey_interface(Host& host) {
  const auto& links = host.kernel().machine.links;
  return std::any_of(links.begin(), links.end(), [](const auto& link) { return link.parent != 0; });
}

/// As another program does.
void delete_pkey_interface(Host& host) {
  host.kernel().machine.links.remove_if([](const auto& link) { return link.parent != 0; });
}

std::vector<std::string> reasons_after_rollback(Host& host) {
  auto ports = host.kernel().host();
  return core::degraded(ports.files);
}

/// Generation 1 has a P_Key interface; the apply that dropped it waits for its confirmation.
std::unique_ptr<Host> waiting_without_interface() {
  auto host = std::make_unique<Host>(two_ports());
  EXPECT_TRUE(applied(host->commit(kChildOfRollback)));
  EXPECT_TRUE(applied(host->commit(kFirst, kWithin)));
  EXPECT_FALSE(has_pkey_interface(*host));
  host->kernel().faults.clear();
  return host;
}

/// Once everything can be written again, the daemon's hold makes the P_Key interface and records it as ours:
/// an apply without its section removes it.
void goes_with_its_section(Host& host) {
  host.kernel().faults.clear();
  const auto held = host.hold();
  EXPECT_TRUE(applied(held)) << text_of(held);
  EXPECT_TRUE(has_pkey_interface(host));
  EXPECT_FALSE(host.kernel().files.content.contains(kRollbackRecords.held)) << "it is in /var";
  EXPECT_EQ(host.ledger().active, 1U);
  const auto report = host.commit(kFirst);
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_FALSE(has_pkey_interface(host)) << "it was not known as ours";
  EXPECT_TRUE(reasons_after_rollback(host).empty());
}

struct RollbackCase {
  std::string name;
  std::function<Report(Host&)> run;
};

std::vector<RollbackCase> rollback_cases() {
  return {{"rollback", [](Host& host) { return host.roll_back(); }}, {"expiry", [](Host& host) {
                                                                        host.pass(2 * kWithin);
                                                                        return host.expire();
                                                                      }}};
}

TEST(RecordedRollback, KeepsAStateThatCannotBeWrittenInRun) {
  for (const int err : {EIO, ENOSPC, EDQUOT, EROFS}) {
    for (const auto& rollback_case : rollback_cases()) {
      SCOPED_TRACE(fmt::format("{}: errno {}", rollback_case.name, err));
      auto host = waiting_without_interface();
      host->kernel().faults.refuse(kRollbackRecords.state + ": write", err);
      const auto report = rollback_case.run(*host);
      EXPECT_TRUE(applied(report)) << text_of(report);
      EXPECT_FALSE(host->ledger().unconfirmed);
      EXPECT_TRUE(model::has_note(report.notes, model::Note::Sort::kDamage)) << text_of(report);
      EXPECT_FALSE(reasons_after_rollback(*host).empty()) << "also after an administrator's success";
      goes_with_its_section(*host);
    }
  }
}

TEST(RecordedRollback, IsNotOverWhileTheStateCanBeWrittenNowhere) {
  for (const auto& rollback_case : rollback_cases()) {
    SCOPED_TRACE(rollback_case.name);
    auto host = waiting_without_interface();
    for (const auto& path : {kRollbackRecords.state, kRollbackRecords.held})
      host->kernel().faults.refuse(path + ": write", ENOSPC);
    const auto report = rollback_case.run(*host);
    EXPECT_EQ(report.exit, Exit::kUndoIncomplete) << text_of(report);
    EXPECT_TRUE(host->ledger().unconfirmed) << "the next run tries it again";
    EXPECT_TRUE(has_pkey_interface(*host)) << "it is taken back all the same";
    host->kernel().faults.clear();
    EXPECT_TRUE(applied(rollback_case.run(*host)));
    goes_with_its_section(*host);
  }
}

/// /var fills up at any call of the rollback, and can be written again later.
TEST(RecordedRollback, ForgetsNothingWhenVarFillsUpMeanwhile) {
  for (const auto& rollback_case : rollback_cases()) {
    bool reached = true;
    for (std::size_t n = 1; reached; ++n) {
      SCOPED_TRACE(fmt::format("{}: full from call {} on", rollback_case.name, n));
      auto host = waiting_without_interface();
      auto& faults = host->kernel().faults;
      faults.before(n, [&faults] { faults.refuse("/var/lib/rdma-configd/", ENOSPC); });
      (void)rollback_case.run(*host);
      reached = faults.calls() >= n;
      faults.clear();
      host->pass(2 * kWithin);
      EXPECT_TRUE(applied(host->expire()));
      goes_with_its_section(*host);
    }
  }
}

/// A hold has re-created the interface: the record from before the apply refers to its predecessor.
TEST(RecordedRollback, AReadThatFailsOnceForgetsNothing) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kChildOfRollback)));
  const auto with_other_port =
      kChildOfRollback + "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f3\"\nmtu = 2044\n";
  ASSERT_TRUE(applied(host.commit(with_other_port, kWithin)));
  delete_pkey_interface(host);
  ASSERT_TRUE(applied(host.hold()));
  ASSERT_TRUE(has_pkey_interface(host));
  auto& files = host.kernel().files;
  files.next_read[kRollbackRecords.state] = EIO;
  host.pass(2 * kWithin);
  const auto report = host.expire();
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_TRUE(files.next_read.empty()) << "nobody has read it";
  goes_with_its_section(host);
}

TEST(RecordedRollback, ADamagedStateIsSetAside) {
  auto host = waiting_without_interface();
  auto& content = host->kernel().files.content;
  content[kRollbackRecords.state] = "{";
  host->pass(2 * kWithin);
  const auto report = host->expire();
  EXPECT_TRUE(applied(report)) << text_of(report);
  ASSERT_TRUE(content.contains(kRollbackRecords.state + ".damaged-1"));
  EXPECT_EQ(content.at(kRollbackRecords.state + ".damaged-1"), "{");
  EXPECT_FALSE(reasons_after_rollback(*host).empty());
  goes_with_its_section(*host);
}

/// The ledger has changed, so exit status 1 (nothing has changed) would be wrong.
TEST(RecordedRollback, AHostThatCannotBeHeldAfterwardsIsNamed) {
  auto host = waiting_without_interface();
  host->kernel().reboot();
  host->kernel().faults.clear();
  for (const auto& path : {kRollbackRecords.journal, kRollbackRecords.held})
    host->kernel().faults.refuse(path + ": write", ENOSPC);
  const auto report = host->expire();
  EXPECT_EQ(report.exit, Exit::kUndoIncomplete) << text_of(report);
  EXPECT_FALSE(report.left_over.empty());
  EXPECT_FALSE(host->ledger().unconfirmed);
  EXPECT_FALSE(has_pkey_interface(*host));
  goes_with_its_section(*host);
}

/// An interface that is in use cannot be removed; the daemon removes it later.
void is_removed_later(Host& host) {
  EXPECT_TRUE(has_pkey_interface(host));
  EXPECT_EQ(host.ledger().active, 1U);
  host.kernel().faults.clear();
  const auto held = host.hold();
  EXPECT_TRUE(applied(held)) << text_of(held);
  EXPECT_FALSE(has_pkey_interface(host)) << "it was not known as ours";
}

TEST(RecordedRollback, AnInterfaceThatCannotBeRemovedIsStillOurs) {
  for (const auto& rollback_case : rollback_cases()) {
    SCOPED_TRACE(rollback_case.name);
    Host host(two_ports());
    ASSERT_TRUE(applied(host.commit(kFirst)));
    ASSERT_TRUE(applied(host.commit(kChildOfRollback, kWithin)));
    host.kernel().faults.clear();
    host.kernel().faults.refuse("ib0.8002: delete", EBUSY);
    const auto report = rollback_case.run(host);
    EXPECT_EQ(report.exit, Exit::kUndoIncomplete) << text_of(report);
    EXPECT_FALSE(report.left_over.empty());
    EXPECT_FALSE(host.ledger().unconfirmed);
    is_removed_later(host);
  }
}

TEST(UndoneApply, AnInterfaceThatCannotBeRemovedIsStillOurs) {
  for (const auto* fails : {"ib0.8002: set", "generations.json: write"}) {
    SCOPED_TRACE(fails);
    Host host(two_ports());
    ASSERT_TRUE(applied(host.commit(kFirst)));
    host.kernel().faults.clear();
    host.kernel().faults.refuse(fails, EIO);
    host.kernel().faults.refuse("ib0.8002: delete", EBUSY);
    const auto report = host.commit(kChildOfRollback + "mtu = 1500\n");
    EXPECT_EQ(report.exit, Exit::kUndoIncomplete) << text_of(report);
    EXPECT_FALSE(report.left_over.empty());
    is_removed_later(host);
  }
}

/// A link replaces the file of another kind at any call of the apply.
TEST(UndoneApply, RecordsOtherKindsWhereOneCannotBeObserved) {
  const std::string threshold = "[[sysctl]]\nkey = \"net.ipv4.neigh.default.gc_thresh1\"\nvalue = 4096\n";
  bool reached = true;
  std::size_t undone = 0;
  for (std::size_t n = 1; reached; ++n) {
    SCOPED_TRACE(fmt::format("a link from call {} on", n));
    Host host(two_ports());
    host.kernel().sysctl.set("net/ipv4/neigh/default/gc_thresh1", "128");
    ASSERT_TRUE(applied(host.commit(kFirst + threshold)));
    auto& faults = host.kernel().faults;
    auto& links = host.kernel().files.links;
    faults.clear();
    faults.refuse("generations.json: write", EIO);
    faults.refuse("ib0.8002: delete", EBUSY);
    faults.before(n, [&links] { links.insert("/etc/sysctl.d/zz-rdma-configd.conf"); });
    (void)host.commit(kChildOfRollback + threshold);
    reached = faults.calls() >= n;
    links.clear();
    if (!has_pkey_interface(host)) continue;  // nothing was begun
    ++undone;
    is_removed_later(host);
  }
  EXPECT_GT(undone, 2U);
}

/// The administrator's success ends what was damaged, but /var still lacks the record.
TEST(RecordedConfirmation, AStateThatCannotBeWrittenKeepsTheHostDegraded) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kChildOfRollback, kWithin)));
  delete_pkey_interface(host);
  host.kernel().faults.clear();
  host.kernel().faults.refuse(kRollbackRecords.state + ": write", EIO);
  const auto report = host.confirm();
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_TRUE(host.kernel().files.content.contains(kRollbackRecords.held));
  EXPECT_FALSE(reasons_after_rollback(host).empty());
  goes_with_its_section(host);
}

/// A link in the place of one of our files hides only the kind that reads it.
TEST(RecordedRollback, RecordsOtherKindsWhereOneCannotBeObserved) {
  Host host(two_ports());
  host.kernel().sysctl.set("net/ipv4/neigh/default/gc_thresh1", "128");
  ASSERT_TRUE(applied(host.commit(kChildOfRollback)));
  ASSERT_TRUE(applied(host.commit(
      std::string(kFirst) + "[[sysctl]]\nkey = \"net.ipv4.neigh.default.gc_thresh1\"\nvalue = 4096\n",
      kWithin)));
  ASSERT_FALSE(has_pkey_interface(host));
  host.kernel().files.links.insert("/etc/sysctl.d/zz-rdma-configd.conf");
  const auto report = host.roll_back();
  EXPECT_TRUE(has_pkey_interface(host)) << text_of(report);
  EXPECT_FALSE(host.ledger().unconfirmed);
  host.kernel().files.links.clear();
  goes_with_its_section(host);
  EXPECT_EQ(host.kernel().sysctl.read("net/ipv4/neigh/default/gc_thresh1"), "128") << "as before";
}

TEST(RecordedRollback, ADamagedRecordOfHoldsIsSetAside) {
  auto host = waiting_without_interface();
  auto& content = host->kernel().files.content;
  content[kRollbackRecords.held] = "{";
  host->pass(2 * kWithin);
  const auto report = host->expire();
  EXPECT_TRUE(applied(report)) << text_of(report);
  ASSERT_TRUE(content.contains(kRollbackRecords.held + ".damaged-1"));
  EXPECT_FALSE(reasons_after_rollback(*host).empty());
  goes_with_its_section(*host);
}

}  // namespace
}  // namespace rdmacfg::contract
