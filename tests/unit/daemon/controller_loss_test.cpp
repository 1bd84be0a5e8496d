// SPDX-License-Identifier: Apache-2.0
// Holds that find the records lost.
#include <gmock/gmock.h>

#include <cstddef>
#include <string>
#include <vector>

#include "store/report_json.hpp"
#include "unit/daemon/controller_fixture.hpp"

namespace rdmacfg::daemon {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Something fails in every run, so that a hold follows each.
class ControllerLossTest : public ControllerFixture {
 protected:
  static inline const std::string kApplyVerb = verb(Job::Verb::kApply);
  static inline const std::string kHoldVerb = verb(Job::Verb::kHold);

  ControllerLossTest() {
    model::Report report;
    report.exit = model::Exit::kUndone;
    report.resources = {{.key = {"ipoib", "g"}, .label = "ib0", .status = model::Status::kFailed}};
    tree.put("/partly", core::report_json(report).dump());
  }
  /// The daemon's first jobs. The worker says `status` after holds, that generation 1 is active after the
  /// first apply, and `then` after the others.
  std::vector<std::string> first_verbs(std::size_t jobs, const std::string& status,
                                       const std::string& then = R"({"active":1})") {
    play(
        "sed 's/^\\([0-9]*\\)[.]\\([0-9]*\\) .*/\\1\\2/' /proc/uptime >>\"$here/times\"\n"
        "if [ $verb = " +
        kHoldVerb + " ]; then status='" + status +
        "'; elif [ $(wc -l <\"$here/verbs\") -gt 1 ]; then status='" + then +
        "'; fi\n"
        "printf '{\"exit\":3,\"report\":%s,\"status\":%s}\\n' \"$(cat \"$here/partly\")\" \"$status\"; exit "
        "0");
    controller.start();
    when_started(jobs, [this] { controller.stop(); });
    EXPECT_EQ(run(), 0);
    auto out = verbs();
    if (out.size() > jobs) out.resize(jobs);
    return out;
  }
};

TEST_F(ControllerLossTest, TheConfigurationIsApplied) {
  EXPECT_THAT(first_verbs(3, R"({"active":0,"degraded":["/var/lib/rdma-configd: Not a directory"]})"),
              ElementsAre(kApplyVerb, kHoldVerb, kApplyVerb));
  const auto jobs = asked();
  ASSERT_GE(jobs.size(), 3U);
  EXPECT_THAT(jobs[2], AllOf(HasSubstr(R"("by_itself":true)"), HasSubstr(R"("what":"event")")));
}

TEST_F(ControllerLossTest, SoIsAPrivateOne) {
  EXPECT_THAT(first_verbs(3, R"({"active":0,"private":true,"degraded":["generations.json: damaged"]})"),
              ElementsAre(kApplyVerb, kHoldVerb, kApplyVerb));
}

TEST_F(ControllerLossTest, TheNextTimeItIsAppliedLater) {
  EXPECT_THAT(first_verbs(5, R"({"active":0,"degraded":["generations.json: damaged"]})"),
              ElementsAre(kApplyVerb, kHoldVerb, kApplyVerb, kHoldVerb, kApplyVerb));
  const auto times = lines_of("/times");
  ASSERT_GE(times.size(), 5U);
  constexpr long long kSecond = 100;  // of proc_uptime(5), which nobody sets
  EXPECT_GE(std::stoll(times[4]) - std::stoll(times[1]), kSecond) << "since the hold that found the first";
}

TEST_F(ControllerLossTest, WithoutAReasonNothingIsLost) {
  EXPECT_THAT(first_verbs(3, R"({"active":0,"private":true,"degraded":[]})"),
              ElementsAre(kApplyVerb, kHoldVerb, kHoldVerb));
}

TEST_F(ControllerLossTest, ALedgerThatNamesAnApplyIsNotLost) {
  EXPECT_THAT(first_verbs(3, R"({"active":0,"degraded":["state.json: damaged"],"last":{"number":1,)"
                             R"("when":"2026-11-21T14:03:22Z","rolled_back":true}})"),
              ElementsAre(kApplyVerb, kHoldVerb, kHoldVerb));
}

TEST_F(ControllerLossTest, WhatIsHeldIsNotLost) {
  EXPECT_THAT(first_verbs(3, R"({"active":1,"degraded":["generations.json: damaged; its copy is used"]})"),
              ElementsAre(kApplyVerb, kHoldVerb, kHoldVerb));
}

TEST_F(ControllerLossTest, AConfigurationThatIsRefusedIsNotAppliedOnceMore) {
  const std::string lost = R"({"active":0,"degraded":["generations.json: damaged"],"document_held":false})";
  EXPECT_THAT(first_verbs(5, lost, lost),
              ElementsAre(kApplyVerb, kHoldVerb, kApplyVerb, kHoldVerb, kHoldVerb));
}

}  // namespace
}  // namespace rdmacfg::daemon
