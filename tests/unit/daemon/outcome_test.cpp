// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/outcome.hpp"

#include <gmock/gmock.h>

namespace rdmacfg::daemon {
namespace {

using model::Status;
using ::testing::ElementsAre;

model::Report waiting() {
  model::Report report;
  const auto add = [&](const char* kind, const char* id, const char* label, Status status,
                       const char* reason) {
    report.resources.push_back({.key = {kind, id}, .label = label, .status = status, .reason = reason});
  };
  add("link_name", "absent", "absent0", Status::kPending, "no port has this GUID");
  add("ipoib", "absent", "absent0", Status::kPending, "no port has this GUID");
  add("nm_profile", "absent", "profile of absent0", Status::kPending, "no port has this GUID");
  add("link_name", "there", "ib0", Status::kInSync, "");
  add("ipoib", "there", "ib0", Status::kInSync, "");
  add("pkey", "there/8abc", "ib0.8abc", Status::kLimited, "the fabric's multicast group has 2044");
  return report;
}

TEST(Outcome, WhatWaitsIsSaidOnce) {
  EXPECT_THAT(with_reasons(waiting(), Status::kPending),
              ElementsAre("absent0: no port has this GUID", "profile of absent0: no port has this GUID"));
  EXPECT_THAT(with_reasons(waiting(), Status::kLimited),
              ElementsAre("ib0.8abc: the fabric's multicast group has 2044"));
}

TEST(Outcome, WhatIsListedIsCountedAndNotKinds) {
  const auto found = waiting_in(waiting());
  EXPECT_EQ(found.pending, 2U);  // absent0, and its profile
  EXPECT_EQ(found.limited, 1U);
}

TEST(Outcome, ARunThatWasNotDoneTellsOfNoResource) {
  Job job;
  model::Report none, refused;
  refused.exit = model::Exit::kError;
  for (const auto verb : {Job::Verb::kApply, Job::Verb::kHold, Job::Verb::kConfirm}) {
    job.verb = verb;
    EXPECT_TRUE(tells_of_resources(job, waiting()));
    EXPECT_TRUE(tells_of_resources(job, none)) << "nothing is wanted";
    EXPECT_FALSE(tells_of_resources(job, refused)) << "it was cancelled, or has errors";
  }
  for (const auto verb : {Job::Verb::kExpire, Job::Verb::kRollBack}) {
    job.verb = verb;
    EXPECT_TRUE(tells_of_resources(job, waiting()));
    EXPECT_FALSE(tells_of_resources(job, none)) << "it was taken back, setting by setting";
  }
}

TEST(Outcome, WhatWaitsIsNotCountedAmongTheLimitedToo) {
  auto report = waiting();
  report.resources.push_back({.key = {"ipoib", "absent"}, .label = "absent0", .status = Status::kLimited});
  EXPECT_EQ(waiting_in(report).limited, 1U);
}

}  // namespace
}  // namespace rdmacfg::daemon
