// SPDX-License-Identifier: Apache-2.0
// The daemon's own duties: an initramfs that takes its time, leftovers of a killed apply, a start after a
// crash.
#include "daemon/watch/duties.hpp"

#include <gmock/gmock.h>

#include "contract/commit_host.hpp"
#include "store/damage.hpp"

namespace rdmacfg::contract {
namespace {

using daemon::run_then_deferred;
using daemon::SlowSteps;
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

const core::Request kDutiesByItself{.who = "", .what = "boot", .host_name = "node1", .by_itself = true};

/// A job that nobody asked for.
Report duty(Host& host, SlowSteps slow, const char* document = nullptr) {
  return host.with([&](core::Context& context) {
    context.options.independent = true;
    const auto run = [&] {
      return document == nullptr ? core::hold(kDutiesByItself, context)
                                 : core::commit(document_of(document), kDutiesByItself, context);
    };
    return run_then_deferred(run, slow, kDutiesByItself, context);
  });
}

class ImageTest : public ::testing::Test {
 protected:
  ImageTest() { host.kernel().initramfs.command = kTool; }
  static Status status_of(const Report& report, const std::string& kind) {
    for (const auto& resource : report.resources) {
      if (resource.key.kind == kind) return resource.status;
    }
    return Status::kForeign;
  }
  Host host{two_ports()};
};

TEST_F(ImageTest, NobodyWaitsForItAtBoot) {
  const auto boot = duty(host, SlowSteps::kByLaterJob, kNamed);
  EXPECT_EQ(boot.exit, Exit::kPartly) << text_of(boot);
  EXPECT_EQ(status_of(boot, "link_name"), Status::kDone);
  EXPECT_EQ(status_of(boot, "initramfs"), Status::kPending);
  EXPECT_TRUE(daemon::leaves_something(boot));
  EXPECT_THAT(host.kernel().faults.log(), Not(Contains(kTool)));

  const auto next = duty(host, SlowSteps::kAfterwards);
  EXPECT_EQ(next.exit, Exit::kOk) << text_of(next);
  EXPECT_EQ(status_of(next, "initramfs"), Status::kDone);
  EXPECT_FALSE(daemon::leaves_something(next));
  EXPECT_THAT(host.kernel().faults.log(), Contains(kTool).Times(1));
  EXPECT_THAT(host.dump(), HasSubstr("initramfs /etc/udev/rules.d/70-rdma-configd-ipoib.rules"));
}

TEST_F(ImageTest, WithoutOneNothingIsLeft) {
  const auto boot = duty(host, SlowSteps::kByLaterJob, kUnnamed);
  EXPECT_EQ(boot.exit, Exit::kOk) << text_of(boot);
  EXPECT_FALSE(daemon::leaves_something(boot));
}

TEST_F(ImageTest, OneJobDoesBothAndReportsBoth) {
  ASSERT_TRUE(applied(host.commit(kUnnamed)));
  host.kernel().faults.clear();
  const auto report = duty(host, SlowSteps::kAfterwards, kNamed);
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_EQ(status_of(report, "link_name"), Status::kDone);
  EXPECT_EQ(status_of(report, "initramfs"), Status::kDone);
  EXPECT_EQ(report.plan.changes.size(), 2U);
  EXPECT_EQ(host.ledger().active, 2U);
}

TEST_F(ImageTest, OneThatSystemdHasNoTimeForTakesNoNameBack) {
  ASSERT_TRUE(applied(host.commit(kUnnamed)));
  host.kernel().faults.refuse(kTool, EBUSY);
  const auto report = duty(host, SlowSteps::kAfterwards, kNamed);
  EXPECT_TRUE(report.error) << "the image is still to be made";
  EXPECT_EQ(status_of(report, "link_name"), Status::kDone);
  EXPECT_THAT(host.dump(), HasSubstr("link storage ipoib"));
  EXPECT_EQ(host.ledger().active, 2U);
  host.kernel().faults.clear();
  const auto again = duty(host, SlowSteps::kAfterwards);
  EXPECT_EQ(again.exit, Exit::kOk) << text_of(again);
  EXPECT_EQ(status_of(again, "initramfs"), Status::kDone);
}

/// As a daemon that starts after a crash.
std::optional<Report> resume_after_crash(Host& host) {
  std::optional<Report> out;
  host.with([&](core::Context& context) {
    out = daemon::resume(SlowSteps::kByLaterJob, kDutiesByItself, context);
    return Report{};
  });
  return out;
}

TEST(Resume, WhatIsActiveIsHeldAndNothingElseRead) {
  Host host(two_ports());
  EXPECT_FALSE(resume_after_crash(host)) << "nothing is active: the configuration is all there is";
  ASSERT_TRUE(applied(host.commit(kFirst)));
  const auto report = resume_after_crash(host);
  ASSERT_TRUE(report);
  EXPECT_TRUE(applied(*report)) << text_of(*report);
  EXPECT_THAT(text_of(*report), HasSubstr("still enforcing generation 1"));
  EXPECT_EQ(host.ledger().active, 1U);
}

/// A file takes the place of /var/lib/rdma-configd.
void replace_records(Host& host) {
  const std::string folder = "/var/lib/rdma-configd";
  auto& content = host.kernel().files.content;
  std::erase_if(content, [&](const auto& file) { return file.first.starts_with(folder + "/"); });
  content[folder] = "";
}

/// Nobody knows the active generation then, and the configuration is applied.
TEST(Resume, AFileInThePlaceOfTheRecordsStopsNeitherLooksNorTheDaemon) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  replace_records(host);
  host.kernel().set_mtu("ib0", 2044);

  auto ports = host.kernel().host();
  const auto diff = core::diff(document_of(kFirst), ports);
  EXPECT_EQ(diff.exit, Exit::kDiffers) << text_of(diff);
  EXPECT_TRUE(model::has_note(diff.notes, model::Note::Sort::kDamage));
  const auto look = host.with([](core::Context& context) { return core::look(kDutiesByItself, context); });
  EXPECT_FALSE(look.error) << text_of(look);

  EXPECT_FALSE(resume_after_crash(host));
  const auto report = duty(host, SlowSteps::kByLaterJob, kFirst);
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_THAT(host.dump(), HasSubstr("mtu 65520"));
  EXPECT_FALSE(core::degraded(ports.files).empty());
}

/// A hold then leaves nothing but the reasons of DEGRADED, which the daemon's own apply answers
/// (Controller::note_loss()).
TEST(EventHold, AFileInThePlaceOfTheRecordsIsTold) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  replace_records(host);
  host.kernel().set_mtu("ib0", 2044);

  const auto event = host.hold();
  EXPECT_TRUE(model::has_note(event.notes, model::Note::Sort::kDamage)) << text_of(event);
  auto ports = host.kernel().host();
  EXPECT_FALSE(core::degraded(ports.files).empty());
  EXPECT_EQ(host.ledger().active, 0U);
  EXPECT_TRUE(host.ledger().generations.empty());

  const auto report = duty(host, SlowSteps::kAfterwards, kFirst);
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_THAT(host.dump(), HasSubstr("mtu 65520"));
  EXPECT_NE(host.ledger().active, 0U);
  EXPECT_FALSE(core::degraded(ports.files).empty()) << "until an administrator's apply succeeds";
}

TEST(GiveWay, WhatSomebodyHasAppliedMeanwhileIsHeld) {
  Host host(two_ports());
  const auto yield_to_newer_apply = [&](const std::optional<std::string>& then) {
    std::optional<Report> out;
    host.with([&](core::Context& context) {
      out = daemon::yield_to_newer_apply(then, SlowSteps::kAfterwards, kDutiesByItself, context);
      return Report{};
    });
    return out;
  };
  ASSERT_TRUE(applied(host.commit(kFirst)));
  EXPECT_FALSE(yield_to_newer_apply(std::nullopt)) << "the first try";
  EXPECT_FALSE(yield_to_newer_apply("")) << "nobody has applied";
  host.kernel().files.content[core::kAppliedMark] = "4711\n";
  EXPECT_FALSE(yield_to_newer_apply("4711\n")) << "that was before";
  const auto report = yield_to_newer_apply("");
  ASSERT_TRUE(report);
  EXPECT_TRUE(applied(*report)) << text_of(*report);
  EXPECT_THAT(text_of(*report), HasSubstr("another apply preceded the scheduled one"));
  EXPECT_EQ(host.ledger().active, 1U);
}

}  // namespace
}  // namespace rdmacfg::contract
