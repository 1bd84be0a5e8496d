// SPDX-License-Identifier: Apache-2.0
// A document of another user than root is decided on before it is applied, or it is not applied.
#include "daemon/jobs/job_run.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "fakes/fake_kernel.hpp"
#include "store/confined.hpp"
#include "store/generations.hpp"

namespace rdmacfg::daemon {
namespace {

using ::testing::HasSubstr;

const std::string kHarmless =
    "version = 1\n[[sysctl]]\nkey = 'net.ipv4.neigh.default.gc_thresh1'\nvalue = 1024\n";
const std::string kWithRoots = kHarmless + "[daemon]\ndrift = 'report'\n";

class JobOfOthers : public ::testing::Test {
 protected:
  ~JobOfOthers() override { core::confine_others_by({}); }

  void commit(const std::string& text, bool of_others = false) {
    auto host = kernel_->host();
    core::Context context{host, {}};
    const auto document = config::parse_texts({{"config.toml", text}}, "node1", kinds::grammar());
    const auto report = core::commit(
        document, {.who = "root", .what = "apply", .host_name = "node1", .of_others = of_others}, context);
    ASSERT_EQ(report.exit, model::Exit::kOk) << (report.error ? report.error->message : "");
  }
  model::Report roll_back(std::uint64_t generation) {
    auto host = kernel_->host();
    core::Context context{host, {}};
    Job job;
    job.verb = Job::Verb::kRollBack;
    job.generation = generation;
    job.uid = 1000;
    JobFacts facts;
    return run_for_caller(job, context, {.who = "alice (uid 1000)", .what = "rollback", .host_name = "node1"},
                          facts);
  }
  void commit_private(const std::string& text) {
    auto host = kernel_->host();
    core::Context context{host, {}};
    const auto document = config::parse_texts(
        std::vector<config::Text>{{.name = "config.toml", .text = text, .is_private = true}}, "node1",
        kinds::grammar());
    ASSERT_EQ(core::commit(document, {.who = "root", .what = "apply", .host_name = "node1"}, context).exit,
              model::Exit::kOk);
  }
  /// Whether everybody is told no values after root has gone back to a generation, and cancelled that.
  bool is_told_privately(std::uint64_t generation) {
    auto host = kernel_->host();
    core::Context context{host, {}};
    context.options.cancelled = [] { return true; };
    Job job;
    job.verb = Job::Verb::kRollBack;
    job.generation = generation;
    JobFacts facts;
    (void)run_for_caller(job, context, {.who = "root", .what = "rollback", .host_name = "node1"}, facts);
    return status_json(context, facts, job.verb).at("private").get<bool>();
  }
  std::uint64_t active() { return core::read_ledger(kernel_->files, core::GenerationPaths()).value().active; }

  std::unique_ptr<fakes::FakeKernel> kernel_ =
      fakes::FakeKernel::parse(R"({ "sysctl": { "net/ipv4/neigh/default/gc_thresh1": "128" } })");
};

std::string first_text(const model::Report& report) {
  if (report.error) return report.error->message;
  return report.diagnostics.empty() ? "" : report.diagnostics.front().message;
}

TEST_F(JobOfOthers, GoesBackWhereNothingOfRootsChanges) {
  commit(kHarmless);
  commit(kHarmless + "# another\n");
  const auto report = roll_back(1);
  EXPECT_EQ(report.exit, model::Exit::kOk) << first_text(report);
  EXPECT_EQ(active(), 1U);
}

TEST_F(JobOfOthers, TakesNoSettingOfRootsAway) {
  commit(kHarmless);
  commit(kWithRoots);
  const auto report = roll_back(1);
  EXPECT_EQ(report.exit, model::Exit::kError);
  EXPECT_THAT(first_text(report), HasSubstr("only root may remove or change it"));
  EXPECT_EQ(active(), 2U);
}

TEST_F(JobOfOthers, IsRefusedWhileNobodyKnowsWhatIsRoots) {
  commit(kHarmless);
  commit(kWithRoots);
  kernel_->files.unreadable.insert("/var/lib/rdma-configd/generations/2.json");
  const auto report = roll_back(1);
  EXPECT_EQ(report.exit, model::Exit::kError);
  EXPECT_THAT(first_text(report),
              HasSubstr("the active document cannot be read, so only root may change it"));
  kernel_->files.unreadable.clear();
  EXPECT_EQ(active(), 2U);
}

/// A document that others sent and root's settings are in is read in a sandbox; without one nothing is known
/// of it.
TEST_F(JobOfOthers, IsRefusedWithoutASandboxForWhatIsActive) {
  commit(kHarmless);
  commit(kWithRoots, true);
  core::confine_others_by([](const std::function<std::string()>& /*compute*/) -> base::Result<std::string> {
    return base::fail(base::Code::kRefused, "no sandbox today");
  });
  const auto report = roll_back(1);
  EXPECT_EQ(report.exit, model::Exit::kError);
  EXPECT_THAT(first_text(report),
              HasSubstr("the active document cannot be read, so only root may change it"));
  EXPECT_EQ(active(), 2U);
}

TEST_F(JobOfOthers, IsRefusedWithoutASandboxForWhereItGoes) {
  commit(kWithRoots, true);
  commit(kHarmless);
  int confined = 0;
  // The first time fails: a document that is read the second time only would not have been judged.
  core::confine_others_by([&](const std::function<std::string()>& compute) -> base::Result<std::string> {
    if (++confined == 1) return base::fail(base::Code::kRefused, "no sandbox today");
    return compute();
  });
  const auto report = roll_back(1);
  EXPECT_EQ(report.exit, model::Exit::kError);
  EXPECT_THAT(first_text(report), HasSubstr("only root may go back to it"));
  EXPECT_EQ(active(), 2U);
}

/// The report of a change that did not come about quotes what was wanted, and everybody hears of it.
TEST_F(JobOfOthers, WhatAPrivateGenerationWantedIsPrivateWhereItIsNotReached) {
  const auto wanting = [](int value) {
    return "version = 1\n[[sysctl]]\nkey = 'net.ipv4.neigh.default.gc_thresh1'\nvalue = " +
           std::to_string(value) + "\n";
  };
  commit_private(wanting(1024));
  commit(wanting(2048));
  EXPECT_TRUE(is_told_privately(1));
  EXPECT_EQ(active(), 2U) << "it was cancelled";
  commit(wanting(4096));
  EXPECT_FALSE(is_told_privately(2));
  EXPECT_EQ(active(), 3U);
}

}  // namespace
}  // namespace rdmacfg::daemon
