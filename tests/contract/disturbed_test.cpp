// SPDX-License-Identifier: Apache-2.0
// The same scenarios, killed, unplugged and lied to at every single call that changes the host.
#include <cerrno>
#include <set>

#include "contract/stage.hpp"

namespace rdmacfg::contract {
namespace {

class Disturbed : public Contract {};

TEST_P(Disturbed, AKillIsFinishedByTheNextApply) {
  for_every_call([&](std::size_t n, const std::string& /*what*/) {
    Stage stage(GetParam());
    stage.kernel().faults.kill_at(n);
    EXPECT_THROW(stage.apply(), fakes::Killed);
    stage.kernel().faults.clear();
    const auto report = stage.apply();
    EXPECT_TRUE(applied(report)) << text_of(report);
    EXPECT_EQ(difference(stage.dump(), goal_), "");
    EXPECT_TRUE(stage.diff().plan.empty());
    EXPECT_FALSE(stage.kernel().files.content.contains(core::Paths{}.journal));
  });
}

TEST_P(Disturbed, AKillWhileUndoingIsFinishedToo) {
  for_every_call([&](std::size_t n, const std::string& /*what*/) {
    for (std::size_t later = 1; later <= 4; ++later) {
      SCOPED_TRACE(fmt::format("killed {} calls later", later));
      Stage stage(GetParam());
      stage.kernel().faults.fail_at(n, EPERM);
      stage.kernel().faults.kill_at(n + later);
      try {
        stage.apply();
        return;  // there were no more calls
      } catch (const fakes::Killed&) {
      }
      stage.kernel().faults.clear();
      const auto report = stage.apply();
      EXPECT_TRUE(applied(report)) << text_of(report);
      EXPECT_EQ(difference(stage.dump(), goal_), "");
    }
  });
}

TEST_P(Disturbed, ADocumentTakenBackAfterAKillLeavesNothingOfOurs) {
  if (GetParam().documents.size() != 1) GTEST_SKIP() << "there is an earlier document to go back to";
  for_every_call([&](std::size_t n, const std::string& what) {
    Stage stage(GetParam());
    const auto before = stage.kernel().dump({.devices = false, .without_files_below = "/"});
    stage.kernel().faults.kill_at(n);
    EXPECT_THROW(stage.apply(), fakes::Killed) << what;
    stage.kernel().faults.clear();
    auto host = stage.kernel().host();
    const auto report = core::apply({}, host);
    EXPECT_TRUE(applied(report)) << text_of(report);
    for (const auto& [path, content] : stage.kernel().files.content) {
      EXPECT_FALSE(path.starts_with("/etc/") && GetParam().host.find(path) == std::string::npos) << path;
    }
    std::set<std::string> links;
    for (const auto& link : stage.kernel().machine.links) links.insert(link.name);
    for (const auto& name : GetParam().created)
      EXPECT_FALSE(links.contains(name)) << name << " is left of\n" << before;
  });
}

/// Devices that can be unplugged; software is not.
std::vector<std::string> hardware(const Scenario& scenario) {
  std::vector<std::string> devices;
  Stage stage(scenario);
  for (const auto& device : stage.kernel().machine.devices) {
    if (device.soft.empty()) devices.push_back(device.name);
  }
  return devices;
}

TEST_P(Disturbed, ASurpriseRemovalIsPendingAndTheRestIsDone) {
  for (const auto& device : hardware(GetParam())) {
    SCOPED_TRACE(device);
    for_every_call([&](std::size_t n, const std::string& /*what*/) {
      Stage stage(GetParam());
      stage.kernel().remove_device_at(n, device);
      const auto report = stage.apply();
      EXPECT_TRUE(applied(report)) << text_of(report);
      const auto diff = stage.diff();
      EXPECT_TRUE(applied(diff)) << text_of(diff);
      // The other devices are as they would be without this one.
      for (const auto& link : stage.kernel().machine.links) {
        if (!link.is_ipoib()) continue;
        EXPECT_NE(goal_.find("link " + link.name + " "), std::string::npos) << link.name;
      }
    });
  }
}

TEST_P(Disturbed, ADeviceThatComesBackInTheMiddleIsPendingAndThenDone) {
  for (const auto& device : hardware(GetParam())) {
    for (const auto naming : {FakeKernel::Naming::kAtOnce, FakeKernel::Naming::kLater}) {
      const bool named = naming == FakeKernel::Naming::kAtOnce;
      SCOPED_TRACE(fmt::format("{}, {} by udev at once", device, named ? "named" : "not named"));
      for_every_call([&](std::size_t n, const std::string& /*what*/) {
        Stage stage(GetParam());
        stage.kernel().replug_device_at(n, device, naming);
        const auto report = stage.apply();
        EXPECT_TRUE(applied(report)) << text_of(report);
        const auto again = stage.apply();
        EXPECT_TRUE(applied(again)) << text_of(again);
        const auto diff = stage.diff();
        EXPECT_TRUE(applied(diff) && diff.plan.empty()) << text_of(diff);
      });
    }
  }
}

TEST_P(Disturbed, ADeviceThatIsBeingRemovedIsPending) {
  for (const auto& device : hardware(GetParam())) {
    SCOPED_TRACE(device);
    for_every_call([&](std::size_t n, const std::string& /*what*/) {
      Stage stage(GetParam());
      stage.kernel().leave_device_at(n, device);
      const auto report = stage.apply();
      EXPECT_TRUE(applied(report)) << text_of(report);
      stage.kernel().machine.replug_device(device);
      const auto again = stage.apply();
      EXPECT_TRUE(applied(again)) << text_of(again);
      const auto diff = stage.diff();
      EXPECT_TRUE(applied(diff) && diff.plan.empty()) << text_of(diff);
    });
  }
}

TEST_P(Disturbed, ACancelledApplyLeavesTheStateBefore) {
  for (int when = 1;; ++when) {
    SCOPED_TRACE(fmt::format("cancelled when asked for the {}. time", when));
    Stage stage(GetParam());
    const auto before = stage.dump();
    int asked = 0;
    core::Options options;
    options.cancelled = [&] { return ++asked >= when; };
    const auto report = stage.apply(options);
    if (asked < when) break;  // it was over by then
    EXPECT_EQ(report.exit, Exit::kUndone) << text_of(report);
    EXPECT_EQ(difference(stage.dump(), before, MoreRules::kPassedOver), "") << text_of(report);
  }
}

TEST_P(Disturbed, ALieIsFoundOut) {
  for_every_call([&](std::size_t n, const std::string& what) {
    if (what.starts_with("/var/lib/rdma-configd")) return;  // a disk that lies is beyond us
    Stage stage(GetParam());
    const auto before = stage.dump();
    stage.kernel().faults.lie_at(n);
    const auto report = stage.apply();
    if (stage.dump() == goal_) return;  // it made no difference
    if (applied(report) && stage.diff().plan.empty())
      return;  // it was about what the document does not speak of
    if (applied(report)) {
      // The fabric may be to blame; then it says so.
      EXPECT_EQ(report.exit, Exit::kPartly) << text_of(report) << difference(stage.dump(), goal_);
      return;
    }
    EXPECT_EQ(report.exit, Exit::kUndone) << text_of(report);
    EXPECT_EQ(difference(stage.dump(), before, MoreRules::kPassedOver), "") << text_of(report);
  });
}

TEST_P(Disturbed, ALateFailureIsUndoneOrTaken) {
  for_every_call([&](std::size_t n, const std::string& what) {
    if (what.starts_with("/var/lib/rdma-configd")) return;
    Stage stage(GetParam());
    const auto before = stage.dump();
    stage.kernel().faults.fail_after_effect_at(n, EBUSY);
    const auto report = stage.apply();
    if (applied(report)) {
      EXPECT_EQ(difference(stage.dump(), goal_), "") << text_of(report);
    } else {
      EXPECT_EQ(report.exit, Exit::kUndone) << text_of(report);
      EXPECT_EQ(difference(stage.dump(), before, MoreRules::kPassedOver), "") << text_of(report);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Disturbed, testing::ValuesIn(scenarios()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace rdmacfg::contract
