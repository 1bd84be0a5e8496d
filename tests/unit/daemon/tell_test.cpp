// SPDX-License-Identifier: Apache-2.0
#include "daemon/tell.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

namespace rdmacfg::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

model::Report changed(const model::Key& key) {
  model::Report report;
  model::Change change;
  change.key = key;
  change.label = "ib0";
  change.fields = {"mtu"};
  change.before["mtu"] = std::int64_t{2044};
  change.after["mtu"] = std::int64_t{65520};
  report.plan.changes.push_back(change);
  report.resources.push_back({.key = key, .label = "ib0", .status = model::Status::kDone});
  return report;
}

std::string told(Job::Verb verb, const std::string& who) {
  Job job;
  job.verb = verb;
  ::testing::internal::CaptureStderr();
  tell(job, changed({"ipoib", "x"}),
       [&](const model::Key& key) { return key.id == "x" ? who : std::string("nobody"); });
  return ::testing::internal::GetCapturedStderr();
}

TEST(Tell, ARepairNamesTheSuspectIfThereIsOne) {
  if (::access("/run/systemd/journal/socket", W_OK) == 0) GTEST_SKIP() << "it would go to the journal";
  EXPECT_EQ(told(Job::Verb::kHold, "NetworkManager"),
            "repaired: ipoib ib0: mtu 2044 → 65520; suspected: NetworkManager\n");
  EXPECT_EQ(told(Job::Verb::kHold, ""), "repaired: ipoib ib0: mtu 2044 → 65520\n");
  EXPECT_THAT(told(Job::Verb::kApply, "NetworkManager"), Not(HasSubstr("suspected")))
      << "what somebody asked for nobody is suspected of";
}

}  // namespace
}  // namespace rdmacfg::daemon
