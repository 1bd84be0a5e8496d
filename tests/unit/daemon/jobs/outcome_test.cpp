// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/outcome.hpp"

#include <gmock/gmock.h>

#include <optional>

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

TEST(Outcome, OfAPrivateDocumentTheNamesAreTold) {
  EXPECT_THAT(with_reasons(waiting(), Status::kPending, DocumentValues::kLeftOut),
              ElementsAre("absent0", "profile of absent0"));
  EXPECT_THAT(with_reasons(waiting(), Status::kLimited, DocumentValues::kLeftOut), ElementsAre("ib0.8abc"));
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

TEST(Outcome, AnApplyFailsUnlessItsDocumentIsApplied) {
  Job job;
  job.verb = Job::Verb::kApply;
  const auto ended = [](model::Exit exit) {
    Outcome out;
    out.report.exit = exit;
    return out;
  };
  for (const auto exit : {model::Exit::kOk, model::Exit::kPartly})
    EXPECT_EQ(apply_failed(job, ended(exit)), std::optional(false)) << static_cast<int>(exit);
  for (const auto exit : {model::Exit::kError, model::Exit::kUndone, model::Exit::kUndoIncomplete})
    EXPECT_EQ(apply_failed(job, ended(exit)), std::optional(true)) << static_cast<int>(exit);
  auto cancelled = ended(model::Exit::kError);
  cancelled.cancelled = true;
  EXPECT_EQ(apply_failed(job, cancelled), std::nullopt) << "nothing had begun";
  for (const auto verb :
       {Job::Verb::kHold, Job::Verb::kConfirm, Job::Verb::kRollBack, Job::Verb::kExpire, Job::Verb::kDiff}) {
    job.verb = verb;
    EXPECT_EQ(apply_failed(job, ended(model::Exit::kError)), std::nullopt) << static_cast<int>(verb);
  }
}

/// A boot or a reload applies a document only where another one is active.
TEST(Outcome, ARunThatHoldsTheActiveDocumentIsNoApplyThatFailed) {
  Job job;
  job.verb = Job::Verb::kApply;
  job.by_itself = true;
  const auto ended = [&](model::Exit exit, bool judged, bool held) {
    Outcome out;
    out.report.exit = exit;
    out.status = {{"document_judged", judged}, {"document_held", held}};
    return apply_failed(job, out);
  };
  EXPECT_EQ(ended(model::Exit::kUndone, true, false), std::optional(true));
  EXPECT_EQ(ended(model::Exit::kUndone, true, true), std::nullopt) << "later runs repair the rest";
  EXPECT_EQ(ended(model::Exit::kOk, true, true), std::optional(false));
  EXPECT_EQ(ended(model::Exit::kOk, true, false), std::nullopt) << "it was rolled back, and another is held";
  EXPECT_EQ(ended(model::Exit::kOk, false, true), std::nullopt) << "resumed, and the document was not read";
  Outcome lost;
  lost.lost = true;
  lost.report.exit = model::Exit::kUndoIncomplete;
  EXPECT_EQ(apply_failed(job, lost), std::optional(true));
}

TEST(Outcome, WhatWaitsIsNotCountedAmongTheLimitedToo) {
  auto report = waiting();
  report.resources.push_back({.key = {"ipoib", "absent"}, .label = "absent0", .status = Status::kLimited});
  EXPECT_EQ(waiting_in(report).limited, 1U);
}

}  // namespace
}  // namespace rdmacfg::daemon
