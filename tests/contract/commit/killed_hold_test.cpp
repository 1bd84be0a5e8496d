// SPDX-License-Identifier: Apache-2.0
// Runs that cannot record what there is: a hold that goes on where one was killed, and an apply that is
// undone while /var is full. Our interfaces are known as ours all the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>

#include "contract/commit_host.hpp"
#include "store/state.hpp"

namespace rdmacfg::contract {
namespace {

const core::Paths kHoldRecords;
const std::string kTwoChildren =
    std::string(kFirst) + "[[ipoib.pkey]]\npkey = 0x8002\n" + "[[ipoib.pkey]]\npkey = 0x8003\n";

/// @return whether it was killed
bool hold_is_killed_at(std::size_t call, Host& host) {
  host.kernel().faults.kill_at(call);
  bool killed = false;
  try {
    const auto report = host.hold();
    EXPECT_TRUE(applied(report)) << text_of(report);
  } catch (const fakes::Killed&) {
    killed = true;
  }
  host.kernel().faults.clear();
  return killed;
}

/// A host with two P_Key interfaces just after a boot, and a hold that was killed at `call`; null once the
/// hold makes fewer calls.
std::unique_ptr<Host> killed_after_boot(std::size_t call) {
  auto host = std::make_unique<Host>(two_ports());
  EXPECT_TRUE(applied(host->commit(kTwoChildren)));
  host->kernel().reboot();
  host->kernel().faults.clear();
  if (!hold_is_killed_at(call, *host)) return nullptr;
  return host;
}

/// The daemon goes on, and everything can be written. The P_Key interfaces go with their sections.
void forgets_nothing(Host& host) {
  const auto held = host.hold();
  EXPECT_TRUE(applied(held)) << text_of(held);
  EXPECT_FALSE(host.kernel().files.content.contains(kHoldRecords.held)) << "it is in /var";
  const auto report = host.commit(kFirst);
  EXPECT_TRUE(applied(report)) << text_of(report);
  const auto& links = host.kernel().machine.links;
  ASSERT_TRUE(std::none_of(links.begin(), links.end(), [](const auto& link) { return link.parent != 0; }))
      << "an interface was not known as ours";
}

/// The second hold makes the rest by a plan of its own, whose journal does not speak of what is there
/// already.
TEST(KilledHold, TheNextOneForgetsNothingThoughTheStateCannotBeWritten) {
  for (const auto* part : {"state.json", "/var/lib/rdma-configd/"}) {
    std::size_t n = 1;
    for (bool first = true; first; ++n) {
      bool second = true;
      for (std::size_t m = 1; second; ++m) {
        SCOPED_TRACE(fmt::format("{}: killed at call {}, then at call {}", part, n, m));
        auto host = killed_after_boot(n);
        first = host != nullptr;
        if (!first) break;
        host->kernel().faults.refuse(part, EIO);
        second = hold_is_killed_at(m, *host);
        ASSERT_NO_FATAL_FAILURE(forgets_nothing(*host));
      }
    }
    EXPECT_GT(n, 5U);
  }
}

/// Without space in both folders the journal that speaks of what is there stays.
TEST(KilledHold, TheNextOneForgetsNothingThoughNothingCanBeWritten) {
  std::size_t n = 1;
  for (;; ++n) {
    SCOPED_TRACE(n);
    auto host = killed_after_boot(n);
    if (!host) break;
    for (const auto& path : {kHoldRecords.state, kHoldRecords.journal, kHoldRecords.held})
      host->kernel().faults.refuse(path + ": write", ENOSPC);
    (void)host->hold();
    host->kernel().faults.clear();
    ASSERT_NO_FATAL_FAILURE(forgets_nothing(*host));
  }
  EXPECT_GT(n, 5U);
}

/// /var becomes read-only during a hold that records nothing new. Others may have replaced the objects in its
/// journal since.
TEST(KilledHold, AJournalThatStaysIsRecoveredFromOnce) {
  const std::string var = "/var/lib/rdma-configd/";
  Host host(two_ports());
  EXPECT_TRUE(applied(host.commit(kTwoChildren)));
  const auto wanted = host.dump();
  host.kernel().set_mtu("ib0", 2044);
  host.kernel().faults.clear();
  host.kernel().faults.refuse(kHoldRecords.journal + ": remove", EROFS);
  EXPECT_TRUE(applied(host.hold()));
  ASSERT_TRUE(host.kernel().files.content.contains(kHoldRecords.journal));
  host.kernel().faults.refuse(var, EROFS);
  for (int time = 0; time < 2; ++time) {
    const auto report = host.hold();
    EXPECT_TRUE(applied(report)) << text_of(report);
    EXPECT_TRUE(report.notes.empty()) << text_of(report);
    EXPECT_EQ(difference(host.dump(), wanted), "");
    host.kernel().set_mtu("ib0", 2044);
  }
  host.kernel().faults.clear();
  ASSERT_NO_FATAL_FAILURE(forgets_nothing(host));
  EXPECT_FALSE(host.kernel().files.content.contains(kHoldRecords.journal));
}

/// Also where state.json was written, and can be neither followed by the ledger nor restored.
TEST(UndoneApply, ForgetsNothingWhenVarFillsUpMeanwhile) {
  const auto first = std::string(kFirst) + "[[ipoib.pkey]]\npkey = 0x8002\n";
  const auto second = std::string(kFirst) + "[[ipoib.pkey]]\npkey = 0x8003\n";
  std::size_t n = 1;
  for (bool reached = true; reached; ++n) {
    SCOPED_TRACE(n);
    Host host(two_ports());
    auto& faults = host.kernel().faults;
    EXPECT_TRUE(applied(host.commit(first)));
    faults.clear();
    faults.before(n, [&] { faults.refuse("/var/lib/rdma-configd/", ENOSPC); });
    (void)host.commit(second);
    reached = faults.calls() >= n;
    faults.clear();
    ASSERT_NO_FATAL_FAILURE(forgets_nothing(host));
  }
  EXPECT_GT(n, 7U);
}

}  // namespace
}  // namespace rdmacfg::contract
