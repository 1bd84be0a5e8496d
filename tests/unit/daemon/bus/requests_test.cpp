// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/requests.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

namespace rdmacfg::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

TEST(Requests, AUserInALoopGetsAFewLinesAndACount) {
  RequestLines lines;
  std::size_t left_out = 0, written = 0;
  for (int i = 0; i < 10'000; ++i) written += lines.take(1000, 5s, left_out) ? 1U : 0U;
  EXPECT_EQ(written, RequestLines::kLines);
  EXPECT_TRUE(lines.take(1001, 5s, left_out)) << "another user's";
  EXPECT_TRUE(lines.take(1000, 5s + RequestLines::kWithin, left_out));
  EXPECT_EQ(left_out, 10'000 - RequestLines::kLines);
  EXPECT_TRUE(lines.take(1000, 5s + RequestLines::kWithin, left_out));
  EXPECT_EQ(left_out, 0U);
}

TEST(Requests, AUserWithManyIdsIsLimitedToo) {
  RequestLines lines;
  std::size_t left_out = 0, written = 0;
  const auto ask_as_all = [&](RequestLines::Time now) {
    for (std::uint32_t uid = 100'000; uid < 165'536; ++uid)
      written += lines.take(uid, now, left_out) ? 1U : 0U;
  };
  ask_as_all(5s);
  EXPECT_EQ(written, RequestLines::kLinesInAll);
  EXPECT_TRUE(lines.take(0, 5s, left_out)) << "root's";
  EXPECT_FALSE(lines.take(1000, 5s, left_out));
  EXPECT_TRUE(lines.take(1000, 5s + RequestLines::kWithin, left_out));
  EXPECT_EQ(left_out, 1U);
}

TEST(Requests, TheCallerIsNamed) {
  EXPECT_EQ(described({.name = ":1.5", .uid = 1000}), "uid 1000");
  const auto me = described({.name = ":1.5", .uid = 0, .pid = static_cast<std::uint32_t>(::getpid())});
  EXPECT_THAT(me, StartsWith("uid 0, process " + std::to_string(::getpid()) + " ("));
}

TEST(Requests, EachIsALineWithItsVerdict) {
  RequestLines lines;
  ::testing::internal::CaptureStderr();
  tell_request(lines, {.name = ":1.5", .uid = 1000}, "Apply", "org.rdmaconfigd1.apply",
               {RequestVerdict::Sort::kDenied}, 0);
  Job job;
  job.id = 7;
  job.uid = 1000;
  job.what = "apply";
  Outcome outcome;
  outcome.status = {{"active", 3}};
  tell_request_ended(job, outcome);
  const auto said = ::testing::internal::GetCapturedStderr();
  if (said.empty()) GTEST_SKIP() << "there is a journal, which got it";
  EXPECT_THAT(said, HasSubstr("request of uid 1000: Apply denied\n"));
  EXPECT_THAT(said, HasSubstr("job 7 of uid 1000 ended: apply, exit 0, generation 3 is active\n"));
}

}  // namespace
}  // namespace rdmacfg::daemon
