// SPDX-License-Identifier: Apache-2.0
// A hold on a /var that is full, read-only or broken (ADR 0056): the host is configured, what was made for
// that is known as ours until the next boot, and recorded as soon as /var can be written. An apply is
// refused.
#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "contract/commit_host.hpp"
#include "kinds/boot_record.hpp"
#include "kinds/ethernet/roce_record.hpp"
#include "store/damage.hpp"
#include "store/held_record.hpp"

namespace rdmacfg::contract {
namespace {

const core::Paths kRecords;
constexpr const char* kVar = "/var/lib/rdma-configd/";

const std::string kWithChild = std::string(kFirst) + "[[ipoib.pkey]]\npkey = 0x8002\n";

/// A host with a P_Key interface, just after a boot: nothing of it is there any more.
std::unique_ptr<Host> booted() {
  auto host = std::make_unique<Host>(two_ports());
  EXPECT_TRUE(applied(host->commit(kWithChild)));
  host->kernel().reboot();
  host->kernel().faults.clear();
  return host;
}

struct HoldCase {
  std::string name;
  std::function<Report(Host&)> run;
};

std::vector<HoldCase> hold_cases() {
  return {{"start", [](Host& host) { return host.commit_by_itself(kWithChild); }},
          {"hold", [](Host& host) { return host.hold(); }}};
}

std::string configured() {
  auto host = booted();
  EXPECT_TRUE(applied(host->hold()));
  return host->dump();
}

bool has_child(Host& host) {
  const auto& links = host.kernel().machine.links;
  return std::any_of(links.begin(), links.end(), [](const auto& link) { return link.parent != 0; });
}

bool has_record(Host& host) { return host.kernel().files.content.contains(kRecords.held); }

std::vector<std::string> reasons_of(Host& host) {
  auto ports = host.kernel().host();
  return core::degraded(ports.files);
}

std::map<std::string, std::string> in_var(Host& host) {
  std::map<std::string, std::string> out;
  for (const auto& [path, text] : host.kernel().files.content) {
    if (path.starts_with(kVar)) out.emplace(path, text);
  }
  return out;
}

/// The daemon goes on with a /var that can be written. The P_Key interface is known as ours: it goes with its
/// section.
void all_is_ours(Host& host) {
  host.kernel().faults.clear();
  const auto held = host.hold();
  EXPECT_TRUE(applied(held)) << text_of(held);
  EXPECT_EQ(difference(host.dump(), configured()), "");
  EXPECT_FALSE(has_record(host)) << "it is in /var";
  EXPECT_TRUE(reasons_of(host).empty()) << "nothing waits for space any more";
  EXPECT_FALSE(host.kernel().files.content.contains(kRecords.journal));
  const auto report = host.commit(kFirst);
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_FALSE(has_child(host));
}

TEST(FullVar, AHostIsConfiguredAtBoot) {
  const auto wanted = configured();
  for (const int err : {ENOSPC, EDQUOT, EROFS, EIO}) {
    for (const auto& hold_case : hold_cases()) {
      SCOPED_TRACE(fmt::format("{}: errno {}", hold_case.name, err));
      auto host = booted();
      const auto before = in_var(*host);
      host->kernel().faults.refuse(kVar, err);
      for (int time = 0; time < 2; ++time) {
        const auto report = hold_case.run(*host);
        EXPECT_TRUE(applied(report)) << text_of(report);
        EXPECT_EQ(difference(host->dump(), wanted), "");
        EXPECT_TRUE(model::has_note(report.notes, model::Note::Sort::kDamage)) << text_of(report);
        EXPECT_TRUE(has_record(*host));
        EXPECT_EQ(reasons_of(*host).size(), 1U);
        EXPECT_EQ(in_var(*host), before);
      }
      all_is_ours(*host);
    }
  }
}

TEST(FullVar, TheReasonSaysWhatToDo) {
  const std::string middle =
      "; the host is configured, but the record of its changes is only in /run/rdma-configd/held.json and "
      "lasts until the next boot: ";
  const std::map<int, std::string> reasons{
      {ENOSPC, "No space left on device" + middle + "free space on /var; the daemon then records it"},
      {EROFS, "Read-only file system" + middle +
                  "remount /var writable and restart rdma-configd, which then records it"}};
  for (const auto& [err, reason] : reasons) {
    auto host = booted();
    host->kernel().faults.refuse(kVar, err);
    EXPECT_TRUE(applied(host->hold()));
    ASSERT_EQ(reasons_of(*host).size(), 1U);
    EXPECT_EQ(reasons_of(*host).front(), "/var/lib/rdma-configd/state.json: write: " + reason);
  }
}

TEST(FullVar, AnApplyIsRefused) {
  for (const bool held : {false, true}) {
    auto host = booted();
    host->kernel().faults.refuse(kVar, ENOSPC);
    if (held) {
      EXPECT_TRUE(applied(host->hold()));
    }
    const auto before = host->dump();
    const auto report = host->commit(kFirst);
    EXPECT_EQ(report.exit, Exit::kError) << text_of(report);
    ASSERT_TRUE(report.error);
    EXPECT_EQ(report.error->message.starts_with("/var/lib/rdma-configd/state.json must be written first"),
              held)
        << report.error->message;
    EXPECT_EQ(difference(host->dump(), before), "");
    EXPECT_EQ(host->ledger().active, 1U);
    EXPECT_EQ(has_record(*host), held);
    all_is_ours(*host);
  }
}

TEST(FullVar, NothingIsWrittenWhereNothingIsToBeChanged) {
  auto host = std::make_unique<Host>(two_ports());
  EXPECT_TRUE(applied(host->commit(kWithChild)));
  for (const auto& hold_case : hold_cases()) {
    host->kernel().faults.clear();
    host->kernel().faults.refuse(kVar, ENOSPC);
    EXPECT_TRUE(applied(hold_case.run(*host)));
    EXPECT_EQ(host->kernel().faults.calls(), 0U) << hold_case.name;
  }
}

TEST(FullVar, DriftIsRepairedWithoutAWordWhereTheStateStays) {
  auto host = std::make_unique<Host>(two_ports());
  EXPECT_TRUE(applied(host->commit(kWithChild)));
  const auto wanted = host->dump();
  host->kernel().set_mtu("ib0", 2044);
  host->kernel().faults.refuse(kVar, EROFS);
  const auto report = host->hold();
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(difference(host->dump(), wanted), "");
  EXPECT_FALSE(has_record(*host));
  EXPECT_TRUE(reasons_of(*host).empty());
}

/// The first run is killed at each call in turn; the next one meets the same /var, or one that can be
/// written.
TEST(FullVar, KilledAnywhere) {
  const auto wanted = configured();
  for (const bool then_full : {false, true}) {
    std::size_t n = 1;
    for (;; ++n) {
      SCOPED_TRACE(fmt::format("killed at call {}, then {}", n, then_full ? "full" : "writable"));
      auto host = booted();
      host->kernel().faults.refuse(kVar, ENOSPC);
      host->kernel().faults.kill_at(n);
      try {
        host->hold();
        break;
      } catch (const fakes::Killed&) {
      }
      host->kernel().faults.clear();
      if (then_full) {
        host->kernel().faults.refuse(kVar, EROFS);
        const auto report = host->hold();
        EXPECT_TRUE(applied(report)) << text_of(report);
        EXPECT_EQ(difference(host->dump(), wanted), "");
      }
      all_is_ours(*host);
    }
    EXPECT_GT(n, 5U);
  }
}

/// /var becomes full while a hold is under way, and can be written again in the middle of taking its record
/// over.
TEST(FullVar, TheRecordIsTakenOverWhereverThatIsKilled) {
  std::size_t n = 1;
  for (;; ++n) {
    SCOPED_TRACE(n);
    auto host = booted();
    host->kernel().faults.refuse(kVar, ENOSPC);
    EXPECT_TRUE(applied(host->hold()));
    host->kernel().faults.clear();
    host->kernel().faults.kill_at(n);
    try {
      host->commit(kWithChild + "# again\n");
      break;
    } catch (const fakes::Killed&) {
    }
    all_is_ours(*host);
  }
  EXPECT_GT(n, 3U);
}

/// @return whether the run was killed
bool is_killed_at(std::size_t call, Host& host, const std::function<void()>& run) {
  host.kernel().faults.kill_at(call);
  bool killed = false;
  try {
    run();
  } catch (const fakes::Killed&) {
    killed = true;
  }
  host.kernel().faults.clear();
  return killed;
}

/// The journal of another document takes the place of the one that speaks of what the hold has made.
TEST(AfterABoot, AHoldAndThenAnApplyThatAreKilledForgetNothing) {
  const auto other = kWithChild + "[[ipoib.pkey]]\npkey = 0x8003\n";
  bool first = true;
  for (std::size_t n = 1; first; ++n) {
    bool second = true;
    for (std::size_t m = 1; second; ++m) {
      SCOPED_TRACE(fmt::format("killed at call {}, then at call {}", n, m));
      auto host = booted();
      first = is_killed_at(n, *host, [&] { host->hold(); });
      if (!first) break;
      second = is_killed_at(m, *host, [&] { host->commit(other); });
      EXPECT_TRUE(applied(host->hold()));
      const auto report = host->commit(kFirst);
      EXPECT_TRUE(applied(report)) << text_of(report);
      ASSERT_FALSE(has_child(*host)) << "it was not known as ours";
    }
  }
}

TEST(FullVar, AJournalThatStaysInVarDoesNotCountBesideTheRecord) {
  auto host = booted();
  host->kernel().faults.refuse("journal.json: remove", EROFS);
  EXPECT_TRUE(applied(host->hold()));
  ASSERT_TRUE(host->kernel().files.content.contains(kRecords.journal)) << "it is over, and stays";
  host->kernel().machine.links.remove_if([](const auto& link) { return link.parent != 0; });
  host->kernel().faults.clear();
  host->kernel().faults.refuse(kVar, EROFS);
  const auto report = host->hold();
  EXPECT_TRUE(applied(report)) << text_of(report);
  all_is_ours(*host);
}

TEST(FullVar, ARecordOfAnotherBootIsNotBelieved) {
  auto host = booted();
  host->kernel().faults.refuse(kVar, ENOSPC);
  EXPECT_TRUE(applied(host->hold()));
  const auto stale = host->kernel().files.content.at(kRecords.held);
  host->kernel().faults.clear();
  EXPECT_TRUE(applied(host->commit(kFirst)));
  host->kernel().reboot();
  EXPECT_TRUE(applied(host->hold()));
  host->kernel().files.content[kRecords.held] = stale;
  auto ports = host->kernel().host();
  const auto loaded = core::load_held_record(ports.files, kRecords, ports.boot_id);
  ASSERT_TRUE(loaded);
  EXPECT_FALSE(*loaded);
  EXPECT_TRUE(applied(host->hold()));
  EXPECT_FALSE(has_child(*host));
  const auto report = host->commit(kWithChild);
  EXPECT_TRUE(applied(report)) << text_of(report);
}

/// state.json that was written since, as by an earlier version, says what is ours.
TEST(FullVar, ARecordOlderThanTheStateIsNotBelieved) {
  auto host = booted();
  host->kernel().faults.refuse(kVar, ENOSPC);
  EXPECT_TRUE(applied(host->hold()));
  host->kernel().faults.clear();
  ASSERT_TRUE(has_child(*host));
  host->kernel().files.content[kRecords.state] = "{\"schema\":1,\"records\":[]}\n";
  auto ports = host->kernel().host();
  const auto known = core::load_known_state(ports.files, kRecords, ports.boot_id);
  ASSERT_TRUE(known);
  EXPECT_TRUE(known->records.empty());
  EXPECT_TRUE(applied(host->commit(kFirst)));
  EXPECT_TRUE(has_child(*host)) << "nothing says that it is ours";
}

TEST(FullVar, ADamagedRecordIsSetAside) {
  auto host = booted();
  host->kernel().files.content[kRecords.held] = "{";
  const auto report = host->hold();
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(difference(host->dump(), configured()), "");
  EXPECT_EQ(host->kernel().files.content.at(kRecords.held + ".damaged-1"), "{");
  EXPECT_FALSE(reasons_of(*host).empty());
}

TEST(FullVar, WithoutTheRuntimeDirectoryNothingIsChanged) {
  auto host = booted();
  const auto before = host->dump();
  host->kernel().faults.refuse(kVar, ENOSPC);
  host->kernel().faults.refuse(kRecords.held, ENOSPC);
  const auto report = host->hold();
  EXPECT_EQ(report.exit, Exit::kError) << text_of(report);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message,
            "writing the journal: /var/lib/rdma-configd/journal.json: write: No space left on device");
  EXPECT_EQ(difference(host->dump(), before), "");
}

/// The host was rebooted while an apply waited for its confirmation.
std::unique_ptr<Host> booted_while_waiting() {
  auto host = std::make_unique<Host>(two_ports());
  EXPECT_TRUE(applied(host->commit(kWithChild)));
  EXPECT_TRUE(applied(host->commit(kFirst, kWithin)));
  host->kernel().reboot();
  host->kernel().faults.clear();
  return host;
}

/// The daemon goes on with a /var that can be written.
void is_rolled_back(Host& host, const std::string& wanted) {
  host.kernel().faults.clear();
  const auto report = host.hold();
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(difference(host.dump(), wanted), "");
  EXPECT_EQ(host.ledger().active, 1U);
  EXPECT_FALSE(host.ledger().unconfirmed);
  EXPECT_FALSE(host.kernel().files.content.contains(core::GenerationPaths().rollback_record));
  all_is_ours(host);
}

TEST(FullVar, AnApplyThatARebootEndedIsRolledBack) {
  const auto wanted = configured();
  for (const int err : {ENOSPC, EDQUOT, EROFS, EIO}) {
    for (const auto& hold_case : hold_cases()) {
      SCOPED_TRACE(fmt::format("{}: errno {}", hold_case.name, err));
      auto host = booted_while_waiting();
      const auto before = in_var(*host);
      host->kernel().faults.refuse(kVar, err);
      for (int time = 0; time < 2; ++time) {
        const auto report = hold_case.run(*host);
        EXPECT_EQ(report.exit, Exit::kUndoIncomplete) << text_of(report);
        EXPECT_EQ(difference(host->dump(), wanted), "");
        EXPECT_FALSE(reasons_of(*host).empty());
        EXPECT_TRUE(host->ledger().unconfirmed) << "that is not recorded yet";
        EXPECT_EQ(in_var(*host), before);
      }
      const auto looked = host->with([](core::Context& context) {
        return core::look({.who = "root", .what = "show", .host_name = "node1"}, context);
      });
      EXPECT_TRUE(looked.plan.empty()) << text_of(looked);
      is_rolled_back(*host, wanted);
    }
  }
}

TEST(FullVar, TheFirstApplyThatARebootEndedIsRolledBackToNothing) {
  auto host = std::make_unique<Host>(two_ports());
  EXPECT_TRUE(applied(host->commit(kWithChild, kWithin)));
  host->kernel().reboot();
  host->kernel().faults.clear();
  const auto bare = host->dump();
  host->kernel().faults.refuse(kVar, ENOSPC);
  const auto report = host->hold();
  EXPECT_EQ(report.exit, Exit::kUndoIncomplete) << text_of(report);
  EXPECT_EQ(difference(host->dump(), bare), "");
  host->kernel().faults.clear();
  EXPECT_TRUE(applied(host->hold()));
  EXPECT_EQ(host->ledger().active, 0U);
  EXPECT_TRUE(reasons_of(*host).empty());
}

TEST(FullVar, ARollbackAfterARebootIsKilledAnywhere) {
  const auto wanted = configured();
  for (const bool then_full : {false, true}) {
    bool killed = true;
    for (std::size_t n = 1; killed; ++n) {
      SCOPED_TRACE(fmt::format("killed at call {}, then {}", n, then_full ? "full" : "writable"));
      auto host = booted_while_waiting();
      host->kernel().faults.refuse(kVar, ENOSPC);
      killed = is_killed_at(n, *host, [&] { host->hold(); });
      if (killed && then_full) {
        host->kernel().faults.refuse(kVar, EROFS);
        EXPECT_EQ(host->hold().exit, Exit::kUndoIncomplete);
        EXPECT_EQ(difference(host->dump(), wanted), "");
      }
      is_rolled_back(*host, wanted);
    }
  }
}

/// A host with RoCE defaults, just after a boot.
std::unique_ptr<Host> booted_with_roce() {
  const auto& all = scenarios();
  const auto at =
      std::find_if(all.begin(), all.end(), [](const auto& scenario) { return scenario.name == "roce_set"; });
  if (at == all.end()) return nullptr;
  auto host = std::make_unique<Host>(*at);
  EXPECT_TRUE(applied(host->commit(at->documents.back())));
  host->kernel().reboot();
  host->kernel().faults.clear();
  return host;
}

TEST(FullVar, RoceDefaultsAreRecordedInRun) {
  const std::string record = kinds::boot_record_in_run(kinds::kRoceRecordFile);
  auto host = booted_with_roce(), roomy = booted_with_roce();
  ASSERT_TRUE(host && roomy);
  EXPECT_TRUE(applied(roomy->hold()));
  host->kernel().faults.refuse(kVar, ENOSPC);
  const auto report = host->hold();
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(difference(host->dump(), roomy->dump()), "");
  EXPECT_TRUE(host->kernel().files.content.contains(record));
  EXPECT_TRUE(host->hold().plan.empty()) << "it is known what was written";
  host->kernel().faults.clear();
  EXPECT_TRUE(applied(host->hold()));
  for (auto* each : {host.get(), roomy.get()}) EXPECT_TRUE(applied(each->commit("version = 1\n")));
  EXPECT_EQ(difference(host->dump(), roomy->dump()), "") << "they go back to what was found";
  EXPECT_FALSE(host->kernel().files.content.contains(record));
}

}  // namespace
}  // namespace rdmacfg::contract
