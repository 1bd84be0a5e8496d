// SPDX-License-Identifier: Apache-2.0
// apply --confirm of the document that is active already, with nothing to do, and on devices that come back.
#include <gmock/gmock.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "contract/commit_host.hpp"

namespace rdmacfg::contract {
namespace {

using model::Status;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kNothing = "nothing was changed: there is nothing to confirm";
constexpr const char* kPlain = R"(version = 1
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
name = "storage"
)";
constexpr const char* kFull = R"(version = 1
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
name = "storage"
mode = "connected"
mtu = 30000
[[ipoib.pkey]]
pkey = 0x8002
)";

void set_mtu_of_confirm_again(Host& host, const std::string& name, std::int64_t mtu) {
  for (auto& link : host.kernel().machine.links) {
    if (link.name == name) link.mtu = mtu;
  }
}

/// With a daemon, which makes everything again on the device that came.
class Reloaded : public ::testing::TestWithParam<const char*> {};

TEST_P(Reloaded, WhatWasMadeOnADeviceThatCameMeanwhileGoesToo) {
  const std::string first = GetParam();
  Host host(two_ports());
  if (!first.empty()) {
    ASSERT_TRUE(applied(host.commit(first)));
  }
  const auto before = host.dump();
  ASSERT_TRUE(applied(host.commit(kFull, kWithin)));
  const auto wanted = host.dump();
  ASSERT_NE(wanted, before);
  host.kernel().machine.replug_device("mlx4_0");
  ASSERT_TRUE(applied(host.hold()));
  ASSERT_EQ(difference(host.dump(), wanted), "");
  host.pass(kWithin);
  const auto back = host.expire();
  EXPECT_TRUE(applied(back)) << text_of(back);
  EXPECT_EQ(difference(host.dump(), before), "");
  EXPECT_EQ(host.ledger().active, first.empty() ? 0U : 1U);
  EXPECT_TRUE(host.hold().plan.empty()) << "nothing is left to do";
}

TEST_P(Reloaded, WhatNobodyMadeOnTheDeviceThatCameIsNotThere) {
  const std::string first = GetParam();
  Host host(two_ports());
  if (!first.empty()) {
    ASSERT_TRUE(applied(host.commit(first)));
  }
  const auto before = host.dump();
  ASSERT_TRUE(applied(host.commit(kFull, kWithin)));
  host.kernel().machine.replug_device("mlx4_0");
  host.pass(kWithin);
  ASSERT_TRUE(applied(host.expire()));
  host.hold();
  EXPECT_EQ(difference(host.dump(), before), "");
}

INSTANTIATE_TEST_SUITE_P(Before, Reloaded,
                         testing::Values("", kPlain,
                                         "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n"
                                         "name = \"storage\"\nmtu = 1500\n[[ipoib.pkey]]\npkey = 0x8002\n"));

class Again : public ::testing::Test {
 protected:
  Again() {
    EXPECT_TRUE(applied(host.commit(kFirst)));
    drift();
    drifted = host.dump();
  }
  void drift() { set_mtu_of_confirm_again(host, "ib0", 4000); }
  Host host{two_ports()};
  std::string drifted;
};

TEST_F(Again, WhatWasChangedGoesBackAndIsLeftSo) {
  const auto report = host.commit(kFirst, kWithin);
  ASSERT_TRUE(applied(report)) << text_of(report);
  EXPECT_THAT(text_of(report), HasSubstr("this change is rolled back at"));
  EXPECT_NE(host.dump(), drifted);
  ASSERT_TRUE(host.ledger().unconfirmed);
  EXPECT_EQ(host.ledger().generations.size(), 1U);
  EXPECT_TRUE(host.kernel().timers.armed.contains(core::kRollbackTimer));
  EXPECT_TRUE(host.hold().plan.empty()) << "what waits is held";
  host.pass(kWithin);
  const auto back = host.expire();
  EXPECT_EQ(back.exit, Exit::kOk) << text_of(back);
  EXPECT_EQ(difference(host.dump(), drifted), "");
  const auto ledger = host.ledger();
  EXPECT_EQ(ledger.active, 1U);
  EXPECT_FALSE(ledger.unconfirmed);
  EXPECT_EQ(ledger.find(1)->fate, "");
  EXPECT_THAT(ledger.refused, IsEmpty());
  EXPECT_EQ(host.confirm().exit, Exit::kError) << "too late";

  // Neither an event nor a reload nor a start of the daemon does it once more.
  for (const auto& run : {host.hold(), host.commit_by_itself(kFirst), host.hold()}) {
    EXPECT_EQ(run.exit, Exit::kPartly) << text_of(run);
    EXPECT_TRUE(run.plan.empty());
    EXPECT_THAT(run.resources,
                Contains(testing::AllOf(
                    testing::Field(&model::ResourceReport::status, Status::kPending),
                    testing::Field(&model::ResourceReport::reason, HasSubstr("until the next apply")))));
  }
  EXPECT_EQ(difference(host.dump(), drifted), "");
  ASSERT_TRUE(applied(host.commit(kFirst)));
  EXPECT_NE(host.dump(), drifted) << "asked for, it is done";
  drift();
  EXPECT_EQ(host.hold().plan.changes.size(), 1U) << "and from then on drift is repaired again";
}

TEST_F(Again, ItStaysOnceConfirmed) {
  ASSERT_TRUE(applied(host.commit(kFirst, kWithin)));
  const auto wanted = host.dump();
  const auto confirmed = host.confirm();
  EXPECT_EQ(confirmed.exit, Exit::kOk) << text_of(confirmed);
  host.pass(2 * kWithin);
  EXPECT_TRUE(host.expire().notes.empty());
  EXPECT_EQ(difference(host.dump(), wanted), "");
  EXPECT_EQ(host.confirm().exit, Exit::kOk) << "it is confirmed already";
}

TEST_F(Again, ARollbackNeedNotWait) {
  ASSERT_TRUE(applied(host.commit(kFirst, kWithin)));
  EXPECT_EQ(host.roll_back().exit, Exit::kOk);
  EXPECT_EQ(difference(host.dump(), drifted), "");
  EXPECT_EQ(host.ledger().active, 1U);
}

TEST_F(Again, AnotherDeviceIsMadeAsTheDocumentSays) {
  ASSERT_TRUE(applied(host.commit(kFirst, kWithin)));
  const auto wanted = host.dump();
  host.pass(kWithin);
  host.expire();
  host.kernel().machine.replug_device("mlx4_0");
  const auto held = host.hold();
  EXPECT_EQ(held.exit, Exit::kOk) << text_of(held);
  EXPECT_EQ(difference(host.dump(), wanted), "");
}

/// The daemon would make it again at once, and the rollback would have said that it is done.
TEST_F(Again, ARollbackThatCannotBeKeptIsNotOver) {
  ASSERT_TRUE(applied(host.commit(kFirst, kWithin)));
  host.pass(kWithin);
  host.kernel().faults.refuse("taken-back.json: write", ENOSPC);
  const auto failed = host.expire();
  EXPECT_EQ(failed.exit, Exit::kUndoIncomplete) << text_of(failed);
  EXPECT_THAT(text_of(failed), HasSubstr("the rollback could not be recorded"));
  EXPECT_EQ(difference(host.dump(), drifted), "");
  EXPECT_TRUE(host.ledger().unconfirmed);
  EXPECT_EQ(host.hold().exit, Exit::kUndoIncomplete);
  EXPECT_EQ(difference(host.dump(), drifted), "");
  host.kernel().faults.clear();
  const auto back = host.expire();
  EXPECT_EQ(back.exit, Exit::kOk) << text_of(back);
  EXPECT_FALSE(host.ledger().unconfirmed);
  EXPECT_TRUE(applied(host.hold()));
  EXPECT_EQ(difference(host.dump(), drifted), "") << "it is left so";
}

TEST_F(Again, AReadThatFailsOnceDoesNotMakeItAgain) {
  ASSERT_TRUE(applied(host.commit(kFirst, kWithin)));
  host.pass(kWithin);
  EXPECT_EQ(host.expire().exit, Exit::kOk);
  auto& files = host.kernel().files;
  files.next_read[core::GenerationPaths().suspended] = EIO;
  const auto held = host.hold();
  EXPECT_EQ(held.exit, Exit::kPartly) << text_of(held);
  EXPECT_TRUE(files.next_read.empty()) << "nobody has read it";
  EXPECT_EQ(difference(host.dump(), drifted), "");
}

/// Without its record, the document would be applied again instead of rolled back.
TEST_F(Again, AReadThatFailsOnceDoesNotHideThatItWasInterrupted) {
  const core::GenerationPaths paths;
  Host other(two_ports());
  ASSERT_TRUE(applied(other.commit(kFirst)));
  set_mtu_of_confirm_again(other, "ib0", 4000);
  other.kernel().faults.clear();
  ASSERT_TRUE(applied(other.commit(kFirst, kWithin)));
  const auto& log = other.kernel().faults.log();
  const auto at = std::find(log.begin(), log.end(), paths.ledger + ": write");
  ASSERT_NE(at, log.end());

  host.kernel().faults.clear();
  host.kernel().faults.kill_at(static_cast<std::size_t>(at - log.begin()) + 1);
  EXPECT_THROW(host.commit(kFirst, kWithin), fakes::Killed);
  host.kernel().faults.clear();
  ASSERT_NE(host.dump(), drifted);
  auto& files = host.kernel().files;
  files.next_read[paths.rollback_record] = EIO;
  const auto held = host.hold();
  EXPECT_TRUE(applied(held)) << text_of(held);
  EXPECT_TRUE(files.next_read.empty()) << "nobody has read it";
  EXPECT_EQ(difference(host.dump(), drifted), "");
}

TEST_F(Again, ABootHoldsTheDocument) {
  ASSERT_TRUE(applied(host.commit(kFirst, kWithin)));
  const auto wanted = host.dump();
  for (const bool expired : {true, false}) {
    if (expired) {
      host.pass(kWithin);
      host.expire();
      EXPECT_EQ(difference(host.dump(), drifted), "");
    }
    host.kernel().reboot();
    const auto boot = host.commit_by_itself(kFirst);
    EXPECT_EQ(boot.exit, Exit::kOk) << text_of(boot);
    EXPECT_EQ(difference(host.dump(), wanted), "");
    EXPECT_EQ(host.ledger().active, 1U);
    EXPECT_FALSE(host.ledger().unconfirmed);
    drift();
    ASSERT_TRUE(applied(host.commit(kFirst, kWithin)));  // the second time it waits when the reboot comes
  }
}

TEST_F(Again, AKillAnywhereLeavesNothingUnconfirmed) {
  for (std::size_t n = 1; n < 100; ++n) {
    SCOPED_TRACE(fmt::format("killed at call {}", n));
    Host other(two_ports());
    ASSERT_TRUE(applied(other.commit(kFirst)));
    set_mtu_of_confirm_again(other, "ib0", 4000);
    other.kernel().faults.clear();
    other.kernel().faults.kill_at(n);
    bool killed = false;
    try {
      other.commit(kFirst, kWithin);
    } catch (const fakes::Killed&) {
      killed = true;
    }
    other.kernel().faults.clear();
    if (!killed) {
      EXPECT_GT(n, 4U);
      return;
    }
    other.pass(kWithin);
    const auto back = other.expire();
    EXPECT_TRUE(applied(back)) << text_of(back);
    EXPECT_EQ(difference(other.dump(), drifted), "");
    EXPECT_FALSE(other.ledger().unconfirmed);
    EXPECT_EQ(other.ledger().active, 1U);
  }
}

TEST_F(Again, WhatIsPrunedComesBackAndIsLeft) {
  const auto text = std::string(kFirst) + "prune = true\n";
  ASSERT_TRUE(applied(host.commit(text)));
  ASSERT_EQ(host.kernel().machine.create_sysfs("ib0", 0x8003), 0);
  const auto before = host.dump();
  ASSERT_TRUE(applied(host.commit(text, kWithin)));
  ASSERT_NE(host.dump(), before);
  host.pass(kWithin);
  ASSERT_TRUE(applied(host.expire()));
  EXPECT_EQ(difference(host.dump(), before), "");
  set_mtu_of_confirm_again(host, "ib0", 4000);  // something else is to be done at the same time
  const auto held = host.hold();
  EXPECT_EQ(held.plan.changes.size(), 1U) << text_of(held);
  EXPECT_THAT(host.dump(), HasSubstr("link ib0.8003"));
}

TEST(NothingToConfirm, IsSaidAndConfirmAgrees) {
  Host host(two_ports());
  EXPECT_EQ(host.confirm().exit, Exit::kError) << "nobody has applied anything";
  ASSERT_TRUE(applied(host.commit(kFirst)));
  EXPECT_EQ(host.confirm().exit, Exit::kError) << "nobody asked to have it confirmed";
  for (const auto& text : {std::string(kFirst), std::string(kFirst) + "# another one\n"}) {
    const auto report = host.commit(text, kWithin);
    EXPECT_EQ(report.exit, Exit::kOk);
    EXPECT_THAT(report.notes, Contains(model::Note(kNothing)));
    EXPECT_FALSE(host.ledger().unconfirmed);
    for (int i = 0; i < 2; ++i) {
      const auto confirmed = host.confirm();
      EXPECT_EQ(confirmed.exit, Exit::kOk) << text_of(confirmed);
      EXPECT_THAT(confirmed.notes, Contains(model::Note(kNothing)));
    }
  }
  EXPECT_EQ(host.ledger().active, 2U);
  ASSERT_TRUE(applied(host.commit(kFirst)));
  EXPECT_EQ(host.confirm().exit, Exit::kError) << "the last apply did not ask";
}

}  // namespace
}  // namespace rdmacfg::contract
