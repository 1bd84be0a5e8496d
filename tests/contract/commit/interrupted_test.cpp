// SPDX-License-Identifier: Apache-2.0
// Applies with a time limit that do not go as they should: interrupted, with a full disk, with devices that
// come meanwhile; and documents that cannot be had.
#include "contract/commit_host.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kBothPorts = R"(version = 1
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
[[ipoib.pkey]]
pkey = 0x8002
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f4"
mode = "connected"
mtu = 65520
[[ipoib.pkey]]
pkey = 0x8002
)";

void add_late_device(FakeKernel& kernel) {
  kernel.add_device({.name = "mlx4_1", .pci = "0000:20:00.0", .node_guid = 0x0002c903003178f4})
      .ib_port({.guid = "00:02:c9:03:00:31:78:f4", .interface = "ib8", .pkeys = {0xffff, 0x8002}});
  kernel.set_up("ib8");  // up is not taken back from what is no longer in a document (ADR 0008)
}

/// The time is over, and everything is as it was before.
void expect_taken_back(Host& host, const std::string& before) {
  const auto back = host.expire();
  EXPECT_TRUE(applied(back)) << text_of(back);
  EXPECT_EQ(difference(host.dump(), before), "");
  EXPECT_FALSE(host.ledger().unconfirmed);
}

TEST(Unconfirmed, AnInterruptedApplyIsTakenBackAtOnce) {
  std::size_t calls = 0;
  {
    Host host(two_ports());
    ASSERT_TRUE(applied(host.commit(kFirst)));
    host.kernel().faults.clear();
    ASSERT_TRUE(applied(host.commit(kSecond, kWithin)));
    calls = host.kernel().faults.calls();
  }
  std::size_t taken_back = 0;
  for (std::size_t n = 1; n <= calls; ++n) {
    SCOPED_TRACE(fmt::format("killed at call {} of {}", n, calls));
    Host host(two_ports());
    ASSERT_TRUE(applied(host.commit(kFirst)));
    const auto before = host.dump();
    host.kernel().faults.clear();
    host.kernel().faults.kill_at(n);
    try {
      host.commit(kSecond, kWithin);
    } catch (const fakes::Killed&) {
    }
    host.kernel().faults.clear();
    // All but its last word was done: an apply that came to its end waits for its confirmation.
    const bool complete = host.ledger().unconfirmed && host.ledger().unconfirmed->complete;
    const auto report = host.hold();
    EXPECT_TRUE(applied(report)) << text_of(report);
    if (complete) continue;
    ++taken_back;
    EXPECT_EQ(difference(host.dump(), before), "");
    EXPECT_FALSE(host.ledger().unconfirmed);
    EXPECT_EQ(host.ledger().active, 1U);
  }
  EXPECT_GT(taken_back, 5U);
}

TEST(Interrupted, WhatAKilledApplyHasWrittenIsOnDiskBeforeTheNextOneIsDone) {
  const auto named = std::string(kFirst) + "name = \"fab0\"\n";
  std::size_t found = 0;
  for (std::size_t n = 1; n < 60; ++n) {
    SCOPED_TRACE(n);
    Host host(two_ports());
    auto& files = host.kernel().files;
    host.kernel().faults.kill_at(n);
    try {
      host.commit(named);
      break;
    } catch (const fakes::Killed&) {
    }
    host.kernel().faults.clear();
    const bool began = files.content.contains("/var/lib/rdma-configd/journal.json");
    if (!began || host.ledger().active != 0) continue;
    ++found;
    files.synced.clear();
    const auto report = host.commit(named);
    EXPECT_TRUE(applied(report)) << text_of(report);
    EXPECT_TRUE(files.synced.contains("/etc/udev/rules.d"));
  }
  EXPECT_GT(found, 2U);
}

TEST(Unconfirmed, AnApplyAfterAnInterruptedOneBeginsFromBefore) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  host.kernel().faults.clear();
  host.kernel().faults.kill_at(6);
  EXPECT_THROW(host.commit(kSecond, kWithin), fakes::Killed);
  host.kernel().faults.clear();
  ASSERT_TRUE(host.ledger().unconfirmed);
  const auto report = host.commit(kFirst);
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_FALSE(host.ledger().unconfirmed);
}

TEST(Unconfirmed, WhatWasMadeForALateDeviceGoesToo) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  Host untouched(two_ports());
  ASSERT_TRUE(applied(untouched.commit(kFirst)));
  add_late_device(untouched.kernel());

  host.commit(kBothPorts, kWithin);
  add_late_device(host.kernel());
  ASSERT_TRUE(applied(host.hold()));
  ASSERT_NE(difference(host.dump(), untouched.dump()), "") << "the event configures what has come";
  host.pass(kWithin);
  const auto back = host.expire();
  EXPECT_TRUE(applied(back)) << text_of(back);
  EXPECT_EQ(difference(host.dump(), untouched.dump()), "");
}

TEST(Unconfirmed, WithoutAnEarlierGenerationALateDeviceIsGivenBackToo) {
  Host host(two_ports());
  Host untouched(two_ports());
  add_late_device(untouched.kernel());
  host.commit(kBothPorts, kWithin);
  add_late_device(host.kernel());
  ASSERT_TRUE(applied(host.hold()));
  host.pass(kWithin);
  const auto back = host.expire();
  EXPECT_TRUE(applied(back)) << text_of(back);
  EXPECT_EQ(difference(host.dump(), untouched.dump()), "");
}

TEST(Unconfirmed, AKilledHoldForALateDeviceGoesToo) {
  const auto waiting = [] {
    auto host = std::make_unique<Host>(two_ports());
    EXPECT_TRUE(applied(host->commit(kFirst)));
    host->commit(kBothPorts, kWithin);
    add_late_device(host->kernel());
    host->kernel().faults.clear();
    return host;
  };
  Host untouched(two_ports());
  ASSERT_TRUE(applied(untouched.commit(kFirst)));
  add_late_device(untouched.kernel());
  auto whole = waiting();
  ASSERT_TRUE(applied(whole->hold()));
  const auto calls = whole->kernel().faults.calls();
  ASSERT_GT(calls, 5U);
  for (std::size_t n = 1; n <= calls; ++n) {
    SCOPED_TRACE(fmt::format("killed at call {} of {}", n, calls));
    auto host = waiting();
    host->kernel().faults.kill_at(n);
    EXPECT_THROW(host->hold(), fakes::Killed);
    host->kernel().faults.clear();
    host->pass(kWithin);
    const auto back = host->expire();
    EXPECT_TRUE(applied(back)) << text_of(back);
    EXPECT_EQ(difference(host->dump(), untouched.dump()), "");
  }
}

TEST(Unconfirmed, AnOlderApplysRecordIsNotTakenForThisOnes) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  ASSERT_TRUE(applied(host.commit(kSecond, kWithin)));
  const auto second = host.dump();
  const auto stale = host.kernel().files.read(core::GenerationPaths().rollback_record).value();
  ASSERT_TRUE(stale);
  ASSERT_TRUE(applied(host.confirm()));
  std::size_t calls = 0;
  {
    Host other(two_ports());
    ASSERT_TRUE(applied(other.commit(kSecond)));
    other.kernel().faults.clear();
    ASSERT_TRUE(applied(other.commit(kFirst, kWithin)));
    calls = other.kernel().faults.calls();
  }
  // As if the confirmation had been killed before its last step.
  ASSERT_TRUE(host.kernel().files.write(core::GenerationPaths().rollback_record, *stale));
  for (std::size_t n = 1; n <= calls && !host.ledger().unconfirmed; ++n) {
    host.kernel().faults.clear();
    host.kernel().faults.kill_at(n);
    try {
      host.commit(kFirst, kWithin);
    } catch (const fakes::Killed&) {
    }
    host.kernel().faults.clear();
  }
  ASSERT_TRUE(host.ledger().unconfirmed);
  ASSERT_TRUE(applied(host.hold()));
  EXPECT_EQ(difference(host.dump(), second), "") << "what is confirmed stays";
}

TEST(Unconfirmed, TheGenerationToGoBackToIsKept) {
  Host host(two_ports());
  const auto numbered = [](int number) { return fmt::format("{}# {}\n", kFirst, number); };
  for (int number = 1; number <= 32; ++number) ASSERT_TRUE(applied(host.commit(numbered(number))));
  ASSERT_TRUE(applied(host.roll_back(1)));
  const auto first = host.dump();
  ASSERT_TRUE(applied(host.commit(kSecond, kWithin)));
  host.pass(kWithin);
  ASSERT_TRUE(applied(host.expire()));
  EXPECT_EQ(host.ledger().active, 1U);
  const auto held = host.hold();
  EXPECT_TRUE(applied(held)) << text_of(held);
  EXPECT_EQ(difference(host.dump(), first), "");
}

TEST(Held, WithoutAGenerationWhatAKilledApplyLeftGoes) {
  std::size_t calls = 0;
  {
    Host host(two_ports());
    host.kernel().faults.clear();
    ASSERT_TRUE(applied(host.commit(kFirst)));
    calls = host.kernel().faults.calls();
  }
  Host untouched(two_ports());
  for (const auto* port : {"ib0"}) untouched.kernel().set_up(port);
  for (std::size_t n = 1; n <= calls; ++n) {
    SCOPED_TRACE(fmt::format("killed at call {} of {}", n, calls));
    Host host(two_ports());
    host.kernel().set_up("ib0");
    host.kernel().faults.clear();
    host.kernel().faults.kill_at(n);
    EXPECT_THROW(host.commit(kFirst), fakes::Killed);
    host.kernel().faults.clear();
    if (host.ledger().active != 0) continue;
    const auto report = host.hold();
    EXPECT_TRUE(applied(report)) << text_of(report);
    if (!report.notes.empty()) {
      EXPECT_EQ(difference(host.dump(), untouched.dump()), "");
    }
  }
}

TEST(Unconfirmed, WhatCannotBeWrittenIsNotConfirmed) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  const auto before = host.dump();
  ASSERT_TRUE(applied(host.commit(kSecond, kWithin)));
  host.kernel().faults.clear();
  host.kernel().faults.refuse("generations.json", ENOSPC);
  const auto confirmed = host.confirm();
  EXPECT_EQ(confirmed.exit, Exit::kError);
  ASSERT_TRUE(confirmed.error);
  EXPECT_NE(confirmed.error->message.find("not confirmed"), std::string::npos) << confirmed.error->message;
  EXPECT_TRUE(host.kernel().timers.armed.contains(core::kRollbackTimer));
  host.pass(kWithin);
  const auto expired = host.expire();
  EXPECT_EQ(expired.exit, Exit::kUndoIncomplete) << "nor can the rollback be recorded";
  EXPECT_FALSE(expired.left_over.empty());
  EXPECT_EQ(difference(host.dump(), before), "") << "it is taken back all the same";
  host.kernel().faults.clear();
  expect_taken_back(host, before);
}

TEST(Unconfirmed, ADamagedRecordIsNoReasonToStay) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  const auto before = host.dump();
  ASSERT_TRUE(applied(host.commit(kSecond, kWithin)));
  ASSERT_TRUE(host.kernel().files.write(core::GenerationPaths().rollback_record, "{"));
  host.pass(kWithin);
  expect_taken_back(host, before);
}

TEST(Held, WhenTheDocumentHasErrors) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  const auto first = host.dump();
  host.kernel().set_mtu("ib0", 2044);
  const auto report = host.commit_by_itself("version = 1\n[[ipoib]]\nguidd = 7\n");
  EXPECT_EQ(difference(host.dump(), first), "") << "the generation before is held";
  EXPECT_TRUE(model::has_errors(report.diagnostics)) << "and the errors are told";
  EXPECT_EQ(report.exit, Exit::kError);
  EXPECT_EQ(host.ledger().active, 1U);
}

TEST(Held, WhenTheDocumentDoesNotFitTheHost) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  const auto first = host.dump();
  host.kernel().set_mtu("ib0", 2044);
  const auto report = host.commit_by_itself(
      "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nmode = \"datagram\"\nmtu = 65520\n");
  EXPECT_EQ(difference(host.dump(), first), "");
  EXPECT_TRUE(model::has_errors(report.diagnostics)) << text_of(report);
}

TEST(Held, AskedForByAPersonErrorsAreErrorsAlone) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  host.kernel().set_mtu("ib0", 2044);
  const auto moved = host.dump();
  const auto report = host.commit("version = 1\n[[ipoib]]\nguidd = 7\n");
  EXPECT_EQ(report.exit, Exit::kError);
  EXPECT_EQ(difference(host.dump(), moved), "");
}

}  // namespace
}  // namespace rdmacfg::contract
