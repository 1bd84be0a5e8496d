// SPDX-License-Identifier: Apache-2.0
// The daemon's reaction to changes by others: by the policy of the active document.
#include <gmock/gmock.h>

#include "contract/commit_host.hpp"
#include "daemon/watch/duties.hpp"

namespace rdmacfg::contract {
namespace {

using model::Status;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Settled = std::map<model::Key, std::string>;

const core::Request kByItself{.who = "", .what = "event", .host_name = "node1", .by_itself = true};
constexpr const char* kReport = "[daemon]\ndrift = \"report\"\n";
constexpr const char* kSecondPort = R"([[ipoib]]
guid = "00:02:c9:03:00:31:78:f3"
mtu = 2044
)";

Settled settled_in(const Report& report) {
  Settled out;
  for (const auto& resource : report.resources) {
    if (resource.status == Status::kInSync || resource.status == Status::kDone)
      out.insert_or_assign(resource.key, resource.instance);
  }
  return out;
}

void set_mtu(Host& host, const std::string& name, std::uint32_t mtu) {
  for (auto& link : host.kernel().machine.links) {
    if (link.name == name) link.mtu = mtu;
  }
}

/// A job of the daemon's on an event.
Report hold(Host& host, const Settled& settled) {
  return host.with([&](core::Context& context) {
    context.options.independent = true;
    daemon::apply_drift_policy(settled, kByItself, context);
    return core::hold(kByItself, context);
  });
}

std::vector<std::string> ids_of(const std::vector<model::Change>& changes) {
  std::vector<std::string> out;
  for (const auto& change : changes) out.push_back(change.label);
  return out;
}

TEST(Drift, IsReportedAndNothingIsWritten) {
  Host host(two_ports());
  const auto settled = settled_in(host.commit(std::string(kFirst) + kReport));
  set_mtu(host, "ib0", 2044);
  const auto before = host.dump();
  host.kernel().faults.clear();
  const auto report = hold(host, settled);
  EXPECT_THAT(ids_of(report.drifted), testing::ElementsAre("ib0"));
  EXPECT_THAT(report.plan.changes, IsEmpty());
  EXPECT_EQ(host.kernel().faults.calls(), 0U);
  EXPECT_EQ(host.dump(), before);
  for (const auto& resource : report.resources) {
    if (resource.label == "ib0") {
      EXPECT_EQ(resource.reason, core::kDrifted);
    }
  }
}

TEST(Drift, LinesOfOthersInOurFilesAreReportedOrTakenOut) {
  constexpr const char* kRules = "/etc/udev/rules.d/70-rdma-configd-ipoib.rules";
  for (const bool report_only : {true, false}) {
    Host host(two_ports());
    const auto named = std::string(kFirst) + "name = \"fab0\"\n" + (report_only ? kReport : "");
    const auto settled = settled_in(host.commit(named));
    auto& text = host.kernel().files.content[kRules];
    const auto ours = text;
    ASSERT_THAT(ours, HasSubstr("fab0"));
    text += "ACTION==\"add\", ATTR{address}==\"?*78:f3\", NAME=\"evil0\"\n";
    const auto edited = text;
    const auto report = hold(host, settled);
    EXPECT_THAT(ids_of(report_only ? report.drifted : report.plan.changes), testing::ElementsAre(kRules));
    EXPECT_EQ(text, report_only ? edited : ours);
    EXPECT_EQ(hold(host, settled).plan.changes.size(), 0U);
    ASSERT_TRUE(applied(host.commit(named)));
    EXPECT_EQ(text, ours) << "an apply does it in any case";
  }
}

TEST(Drift, ThePolicyIsThatOfWhatIsActive) {
  Host host(two_ports());
  const auto settled = settled_in(host.commit(kFirst));
  set_mtu(host, "ib0", 2044);
  EXPECT_THAT(hold(host, settled).drifted, IsEmpty()) << "it is to be repaired";
  EXPECT_THAT(host.dump(), HasSubstr("up mtu 65520"));
  // Somebody applies another policy after a hold has fallen due, and before it begins.
  ASSERT_TRUE(applied(host.commit(std::string(kFirst) + kReport)));
  set_mtu(host, "ib0", 2044);
  EXPECT_THAT(ids_of(hold(host, settled).drifted), testing::ElementsAre("ib0"));
  ASSERT_TRUE(applied(host.commit(kFirst)));
  set_mtu(host, "ib0", 2044);
  EXPECT_THAT(hold(host, settled).drifted, IsEmpty());
  EXPECT_THAT(host.dump(), HasSubstr("up mtu 65520"));
}

TEST(Drift, WhatIsNewIsMadeBesideIt) {
  Host host(two_ports());
  auto settled = settled_in(host.commit(std::string(kFirst) + kSecondPort + kReport));
  // One drifts; the other has gone and come back, as another device.
  set_mtu(host, "ib0", 2044);
  set_mtu(host, "ib1", 4092);
  for (auto& [key, instance] : settled) {
    if (key.id.find("78:f3") != std::string::npos || key.id == "ib1") instance = "an earlier one";
  }
  const auto report = hold(host, settled);
  EXPECT_THAT(ids_of(report.drifted), testing::ElementsAre("ib0"));
  EXPECT_THAT(ids_of(report.plan.changes), testing::ElementsAre("ib1"));
  EXPECT_EQ(hold(host, settled_in(report)).plan.changes.size(), 1U)
      << "what nobody knows to have been as wanted is made so";
}

/// Kills an apply at each of its calls.
void killed_everywhere(const std::function<void(Host&, const Settled&, const std::string& before)>& then) {
  const auto first = std::string(kFirst) + kReport, second = std::string(kSecond) + kReport;
  for (std::size_t n = 1; n < 100; ++n) {
    SCOPED_TRACE(fmt::format("killed at call {}", n));
    Host host(two_ports());
    const auto settled = settled_in(host.commit(first));
    const auto before = host.dump();
    host.kernel().faults.clear();
    host.kernel().faults.kill_at(n);
    bool killed = false;
    try {
      host.commit(second);
    } catch (const fakes::Killed&) {
      killed = true;
    }
    host.kernel().faults.clear();
    if (!killed) return;
    then(host, settled, before);
  }
}

TEST(Drift, WhatAKilledApplyLeftIsNone) {
  std::size_t left = 0;
  killed_everywhere([&](Host& host, const Settled& settled, const std::string& before) {
    if (host.ledger().active != 1 || host.dump() == before) return;
    const auto report = hold(host, settled);
    if (!report.drifted.empty()) return;  // it was done, all but the last word
    ++left;
    EXPECT_TRUE(applied(report)) << text_of(report);
    EXPECT_EQ(difference(host.dump(), before), "");
    EXPECT_THAT(hold(host, settled).plan.changes, IsEmpty()) << "once";
  });
  EXPECT_GE(left, 1U);
}

TEST(Drift, WhatIsOverdueIsTakenBack) {
  Host host(two_ports());
  const auto settled = settled_in(host.commit(std::string(kFirst) + kReport));
  const auto before = host.dump();
  ASSERT_TRUE(applied(host.commit(std::string(kSecond) + kReport, kWithin)));
  host.pass(kWithin);
  EXPECT_THAT(hold(host, settled).drifted, IsEmpty());
  EXPECT_EQ(difference(host.dump(), before), "");
}

TEST(Drift, WhatIsOverdueAndCannotBeTakenBackExactlyGoesBackAllTheSame) {
  Host host(two_ports());
  const auto settled = settled_in(host.commit(std::string(kFirst) + kReport));
  const auto before = host.dump();
  ASSERT_TRUE(applied(host.commit(std::string(kSecond) + kReport, kWithin)));
  host.kernel().files.content[core::GenerationPaths().rollback_record] = "damaged";
  host.pass(kWithin);
  EXPECT_THAT(hold(host, settled).drifted, IsEmpty());
  EXPECT_EQ(difference(host.dump(), before), "");
}

TEST(Drift, ADaemonThatStartsGoesOnWhereTheOneBeforeEnded) {
  Host host(two_ports());
  const auto settled = settled_in(host.commit(std::string(kFirst) + kReport));
  const auto start = [&](std::uint64_t settled_at) {
    return host.with([&](core::Context& context) {
      context.options.independent = true;
      EXPECT_EQ(daemon::continues_hold(settled_at, settled, context), settled_at == host.ledger().active);
      return core::hold(kByItself, context);
    });
  };
  set_mtu(host, "ib0", 2044);
  EXPECT_THAT(ids_of(start(1).drifted), testing::ElementsAre("ib0"));
  EXPECT_THAT(start(0).drifted, IsEmpty()) << "no daemon has left word";
  ASSERT_TRUE(applied(host.commit(std::string(kSecond) + kReport)));
  set_mtu(host, "ib0", 2044);
  EXPECT_THAT(start(1).drifted, IsEmpty()) << "another one was applied";
}

}  // namespace
}  // namespace rdmacfg::contract
