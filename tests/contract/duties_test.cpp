// SPDX-License-Identifier: Apache-2.0
// What the daemon does by itself: an initramfs that takes its time, what a killed apply left, a start after a
// crash.
#include "daemon/duties.hpp"

#include <gmock/gmock.h>

#include "contract/commit_host.hpp"

namespace rdmacfg::contract {
namespace {

using daemon::in_turn;
using model::Status;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTool = "dracut -f";
constexpr const char* kNamed = R"(version = 1
[initramfs]
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
name = "storage"
)";
constexpr const char* kUnnamed = R"(version = 1
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
)";

const core::Request kByItself{.who = "", .what = "boot", .host_name = "node1", .by_itself = true};

/// A job that nobody asked for.
Report duty(Host& host, bool awaited, const char* document = nullptr) {
  return host.with([&](core::Context& context) {
    context.options.independent = true;
    const auto run = [&] {
      return document == nullptr ? core::hold(kByItself, context)
                                 : core::commit(document_of(document), kByItself, context);
    };
    return in_turn(run, awaited, kByItself, context);
  });
}

class ImageTest : public ::testing::Test {
 protected:
  ImageTest() { host.kernel().initramfs.command = kTool; }
  static Status status_of(const Report& report, const std::string& kind) {
    for (const auto& one : report.resources) {
      if (one.key.kind == kind) return one.status;
    }
    return Status::kForeign;
  }
  Host host{two_ports()};
};

TEST_F(ImageTest, NobodyWaitsForItAtBoot) {
  const auto boot = duty(host, true, kNamed);
  EXPECT_EQ(boot.exit, Exit::kPartly) << text_of(boot);
  EXPECT_EQ(status_of(boot, "link_name"), Status::kDone);
  EXPECT_EQ(status_of(boot, "initramfs"), Status::kPending);
  EXPECT_TRUE(daemon::leaves_something(boot));
  EXPECT_THAT(host.kernel().faults.log(), Not(Contains(kTool)));

  const auto next = duty(host, false);
  EXPECT_EQ(next.exit, Exit::kOk) << text_of(next);
  EXPECT_EQ(status_of(next, "initramfs"), Status::kDone);
  EXPECT_FALSE(daemon::leaves_something(next));
  EXPECT_THAT(host.kernel().faults.log(), Contains(kTool).Times(1));
  EXPECT_THAT(host.dump(), HasSubstr("initramfs /etc/udev/rules.d/70-rdma-configd-ipoib.rules"));
}

TEST_F(ImageTest, WithoutOneNothingIsLeft) {
  const auto boot = duty(host, true, kUnnamed);
  EXPECT_EQ(boot.exit, Exit::kOk) << text_of(boot);
  EXPECT_FALSE(daemon::leaves_something(boot));
}

TEST_F(ImageTest, OneJobDoesBothAndReportsBoth) {
  ASSERT_TRUE(applied(host.commit(kUnnamed)));
  host.kernel().faults.clear();
  const auto report = duty(host, false, kNamed);
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_EQ(status_of(report, "link_name"), Status::kDone);
  EXPECT_EQ(status_of(report, "initramfs"), Status::kDone);
  EXPECT_EQ(report.plan.changes.size(), 2U);
  EXPECT_EQ(host.ledger().active, 2U);
}

TEST_F(ImageTest, OneThatSystemdHasNoTimeForTakesNoNameBack) {
  ASSERT_TRUE(applied(host.commit(kUnnamed)));
  host.kernel().faults.refuse(kTool, EBUSY);
  const auto report = duty(host, false, kNamed);
  EXPECT_TRUE(report.error) << "the image is still to be made";
  EXPECT_EQ(status_of(report, "link_name"), Status::kDone);
  EXPECT_THAT(host.dump(), HasSubstr("link storage ipoib"));
  EXPECT_EQ(host.ledger().active, 2U);
  host.kernel().faults.clear();
  const auto again = duty(host, false);
  EXPECT_EQ(again.exit, Exit::kOk) << text_of(again);
  EXPECT_EQ(status_of(again, "initramfs"), Status::kDone);
}

daemon::Watched watch(Host& host) {
  daemon::Watched watched;
  host.with([&](core::Context& context) {
    context.options.independent = true;
    watched = daemon::watch(kByItself, context);
    return Report{};
  });
  return watched;
}

TEST(Watch, WhatAKilledApplyLeftIsNoDrift) {
  std::size_t calls = 0, held = 0;
  {
    Host host(two_ports());
    ASSERT_TRUE(applied(host.commit(kFirst)));
    host.kernel().faults.clear();
    ASSERT_TRUE(applied(host.commit(kSecond)));
    calls = host.kernel().faults.calls();
  }
  for (std::size_t n = 1; n <= calls; ++n) {
    SCOPED_TRACE(fmt::format("killed at call {} of {}", n, calls));
    Host host(two_ports());
    ASSERT_TRUE(applied(host.commit(kFirst)));
    const auto before = host.dump();
    host.kernel().faults.clear();
    host.kernel().faults.kill_at(n);
    EXPECT_THROW(host.commit(kSecond), fakes::Killed);
    host.kernel().faults.clear();
    if (host.ledger().active != 1 || host.dump() == before) continue;
    const auto watched = watch(host);
    if (watched.looked) continue;  // it was done, all but the last word
    ++held;
    EXPECT_TRUE(applied(watched.report)) << text_of(watched.report);
    EXPECT_EQ(difference(host.dump(), before), "");
    EXPECT_TRUE(watch(host).looked) << "once";
  }
  EXPECT_GE(held, 1U);
}

TEST(Watch, WhatIsOverdueIsTakenBack) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  const auto before = host.dump();
  ASSERT_TRUE(applied(host.commit(kSecond, kWithin)));
  EXPECT_TRUE(watch(host).looked);
  host.pass(kWithin);
  EXPECT_FALSE(watch(host).looked);
  EXPECT_EQ(difference(host.dump(), before), "");
}

TEST(Watch, DriftIsOnlyLookedAt) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  ASSERT_TRUE(applied(host.commit(kSecond)));
  host.kernel().faults.clear();
  const auto watched = watch(host);
  EXPECT_TRUE(watched.looked);
  EXPECT_EQ(host.kernel().faults.calls(), 0U);
}

TEST(Resume, WhatIsActiveIsHeldAndNothingElseRead) {
  Host host(two_ports());
  const auto resume = [&] {
    std::optional<Report> out;
    host.with([&](core::Context& context) {
      out = daemon::resume(true, kByItself, context);
      return Report{};
    });
    return out;
  };
  EXPECT_FALSE(resume()) << "nothing is active: the configuration is all there is";
  ASSERT_TRUE(applied(host.commit(kFirst)));
  const auto report = resume();
  ASSERT_TRUE(report);
  EXPECT_TRUE(applied(*report)) << text_of(*report);
  EXPECT_THAT(text_of(*report), HasSubstr("generation 1 is held on"));
  EXPECT_EQ(host.ledger().active, 1U);
}

TEST(GiveWay, WhatSomebodyHasAppliedMeanwhileIsHeld) {
  Host host(two_ports());
  const auto give_way = [&](const std::optional<std::string>& then) {
    std::optional<Report> out;
    host.with([&](core::Context& context) {
      out = daemon::give_way(then, false, kByItself, context);
      return Report{};
    });
    return out;
  };
  ASSERT_TRUE(applied(host.commit(kFirst)));
  EXPECT_FALSE(give_way(std::nullopt)) << "the first try";
  EXPECT_FALSE(give_way("")) << "nobody has applied";
  host.kernel().files.content[core::kAppliedMark] = "4711\n";
  EXPECT_FALSE(give_way("4711\n")) << "that was before";
  const auto report = give_way("");
  ASSERT_TRUE(report);
  EXPECT_TRUE(applied(*report)) << text_of(*report);
  EXPECT_THAT(text_of(*report), HasSubstr("somebody has applied meanwhile"));
  EXPECT_EQ(host.ledger().active, 1U);
}

std::optional<Report> look_on(Host& host, std::uint64_t settled) {
  std::optional<Report> out;
  host.with([&](core::Context& context) {
    out = daemon::look_on(settled, kByItself, context);
    return Report{};
  });
  return out;
}

TEST(LookOn, WhatADaemonOfThisBootHeldIsOnlyLookedAt) {
  Host host(two_ports());
  EXPECT_FALSE(look_on(host, 0)) << "nothing is active";
  ASSERT_TRUE(applied(host.commit(kFirst)));
  EXPECT_FALSE(look_on(host, 0)) << "no daemon has left word";
  for (auto& link : host.kernel().machine.links) {
    if (link.name == "ib0") link.mtu = 4000;
  }
  host.kernel().faults.clear();
  const auto report = look_on(host, 1);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->plan.changes.size(), 1U);
  EXPECT_EQ(host.kernel().faults.calls(), 0U);
  ASSERT_TRUE(applied(host.commit(kSecond)));
  EXPECT_FALSE(look_on(host, 1)) << "another one was applied";
}

TEST(LookOn, WhatAKilledApplyLeftIsFinished) {
  std::size_t unfinished = 0;
  for (std::size_t n = 1; n < 100; ++n) {
    SCOPED_TRACE(fmt::format("killed at call {}", n));
    Host host(two_ports());
    ASSERT_TRUE(applied(host.commit(kFirst)));
    const auto before = host.dump();
    host.kernel().faults.clear();
    host.kernel().faults.kill_at(n);
    bool killed = false;
    try {
      host.commit(kSecond);
    } catch (const fakes::Killed&) {
      killed = true;
    }
    host.kernel().faults.clear();
    if (!killed) break;
    if (host.ledger().active == 1 && host.dump() != before && !look_on(host, 1)) ++unfinished;
  }
  EXPECT_GE(unfinished, 1U);
}

}  // namespace
}  // namespace rdmacfg::contract
