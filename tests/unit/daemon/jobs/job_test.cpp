// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/job.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::daemon {
namespace {

TEST(Job, ComesOutOfJsonAsItWentIn) {
  Job job;
  job.id = 7;
  job.verb = Job::Verb::kRollBack;
  job.texts = {{"a.toml", "version = 1\n"}, {"b \"quoted\".toml", "\xc3\xa9"}};
  job.generation = UINT64_MAX;
  job.confirm_s = 60;
  job.by_itself = true;
  job.retry = true;
  job.awaited = true;
  job.resumes = true;
  job.settled = {{{"ipoib", "ib1"}, "boot/5"}};
  job.settled_at = 3;
  job.applied_then = "4711\n";
  job.expect = "digest";
  job.who = "uid 1000";
  job.what = "rollback";
  job.left_alone = {{{"ipoib", "ib0"}, "somebody else changes it"}};
  const auto back = job_from(nlohmann::ordered_json::parse(to_json(job).dump()));
  EXPECT_EQ(to_json(back), to_json(job));
  EXPECT_EQ(back.left_alone, job.left_alone);
  EXPECT_EQ(back.generation, UINT64_MAX);
  EXPECT_EQ(back.settled, job.settled);
  EXPECT_EQ(back.settled_at, 3U);
  EXPECT_EQ(back.applied_then, "4711\n");
  EXPECT_FALSE(job_from(to_json(Job())).applied_then);
}

TEST(Job, OnlyLooksDoNotChange) {
  for (const auto verb : {Job::Verb::kShow, Job::Verb::kValidate, Job::Verb::kDiff, Job::Verb::kHistory}) {
    EXPECT_FALSE(Job{.verb = verb}.changes());
  }
  for (const auto verb :
       {Job::Verb::kApply, Job::Verb::kHold, Job::Verb::kConfirm, Job::Verb::kRollBack, Job::Verb::kExpire}) {
    EXPECT_TRUE(Job{.verb = verb}.changes());
  }
}

TEST(Job, AnotherShapeIsRefused) {
  EXPECT_THROW((void)job_from(nlohmann::ordered_json::parse("{}")), nlohmann::json::exception);
  EXPECT_THROW((void)job_from(nlohmann::ordered_json::parse("[]")), nlohmann::json::exception);
  auto json = to_json(Job());
  json["texts"] = 3;
  EXPECT_THROW((void)job_from(json), nlohmann::json::exception);
  for (const auto* key : {"verb", "confirm_s"}) {
    for (const auto* number : {"-1", "true", "18446744073709551615", "9223372036854775807"}) {
      json = to_json(Job());
      json[key] = nlohmann::ordered_json::parse(number);
      EXPECT_THROW((void)job_from(json), nlohmann::json::exception) << key << " = " << number;
    }
  }
  json = to_json(Job());
  json["verb"] = static_cast<int>(Job::Verb::kHistory) + 1;
  EXPECT_THROW((void)job_from(json), nlohmann::json::exception);
}

}  // namespace
}  // namespace rdmacfg::daemon
