// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/requests.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "model/report.hpp"

namespace rdmacfg::daemon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
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

TEST(Requests, RootsLinesAreAllWrittenAndNoneCountedAsLeftOut) {
  RequestLines lines;
  std::size_t left_out = 0;
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(lines.take(0, 5s, left_out));
  EXPECT_TRUE(lines.take(0, 5s + RequestLines::kWithin, left_out));
  EXPECT_EQ(left_out, 0U);
}

/// Changes of a user who asks for them in a loop.
class RequestsOfChanges : public ::testing::Test {
 protected:
  /// The lines about `count` jobs that end with `outcome`; empty where a journal got them.
  std::string said_of(std::size_t count, const Outcome& outcome) {
    ::testing::internal::CaptureStderr();
    for (std::size_t i = 0; i < count; ++i) {
      Job job;
      job.id = ++last_;
      job.verb = Job::Verb::kApply;
      job.uid = 1000;
      job.what = "apply";
      tell_request(lines_, {.name = ":1.5", .uid = 1000}, "Apply", "org.rdmaconfigd1.apply",
                   {RequestVerdict::Sort::kBegun}, job.id, 5s);
      tell_request_ended(lines_, job, outcome);
    }
    return ::testing::internal::GetCapturedStderr();
  }
  [[nodiscard]] std::string request() const {
    return fmt::format("request of uid 1000: Apply allowed, job {}\n", last_);
  }
  [[nodiscard]] std::string end() const { return fmt::format("job {} of uid 1000 ended: apply, ", last_); }

  RequestLines lines_;
  std::uint32_t last_ = 0;
};

TEST_F(RequestsOfChanges, WithoutEffectGetAFewLines) {
  Outcome same;
  same.status = {{"active", 3}};
  const auto said = said_of(10'000, same);
  if (said.empty()) GTEST_SKIP() << "there is a journal, which got it";
  EXPECT_EQ(static_cast<std::size_t>(std::count(said.begin(), said.end(), '\n')), 2 * RequestLines::kLines);
  EXPECT_THAT(said, Not(HasSubstr(request())));
  Outcome cancelled;
  cancelled.cancelled = true;
  cancelled.report.exit = model::Exit::kError;
  EXPECT_EQ(said_of(10'000, cancelled), "");
}

TEST_F(RequestsOfChanges, ThatTookEffectAreAllTold) {
  Outcome outcome;
  outcome.status = {{"active", 3}};
  if (said_of(RequestLines::kLines, outcome).empty()) GTEST_SKIP() << "there is a journal, which got it";
  EXPECT_EQ(said_of(1, outcome), "");
  const auto expect_told = [this](const Outcome& of_one) {
    const auto said = said_of(1, of_one);
    EXPECT_THAT(said, AllOf(StartsWith(request()), HasSubstr(end())));
  };
  auto other = outcome;
  other.status = {{"active", 4}, {"document_judged", true}};
  expect_told(other);
  other.status["document_judged"] = false;
  EXPECT_EQ(said_of(1, other), "") << "the ledger is the same";
  auto changed = other;
  changed.report.plan.changes.emplace_back();
  expect_told(changed);
  changed.report.exit = model::Exit::kError;
  EXPECT_EQ(said_of(1, changed), "") << "nothing of the plan was carried out";
  for (const auto exit : {model::Exit::kUndone, model::Exit::kUndoIncomplete}) {
    auto undone = other;
    undone.report.exit = exit;
    expect_told(undone);
  }
  auto lost = other;
  lost.lost = true;
  expect_told(lost);
  auto cut = other;
  cut.report.notes.emplace_back("too many resources to track individually");
  expect_told(cut);
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
  tell_request_ended(lines, job, outcome);
  const auto said = ::testing::internal::GetCapturedStderr();
  if (said.empty()) GTEST_SKIP() << "there is a journal, which got it";
  EXPECT_THAT(said, HasSubstr("request of uid 1000: Apply denied\n"));
  EXPECT_THAT(said, HasSubstr("job 7 of uid 1000 ended: apply, exit 0, generation 3 is active\n"));
}

}  // namespace
}  // namespace rdmacfg::daemon
