// SPDX-License-Identifier: Apache-2.0
// Answers of a commit, a confirmation and a rollback that do not do as they were asked.
#include "core/commit/commit.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "catalog/all.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::core {
namespace {

using ::testing::Contains;

constexpr const char* kDeadlineText = "2026-11-21T14:03:22Z";

class CommitAnswers : public ::testing::Test {
 protected:
  CommitAnswers() { kernel_.sysctl.set("net/core/somaxconn", "128"); }

  static config::Document wants(int value) {
    const auto text =
        "version = 1\n[[sysctl]]\nkey = \"net.core.somaxconn\"\nvalue = " + std::to_string(value) + "\n";
    return config::parse_texts({{.name = "config.toml", .text = text}}, "node1", kinds::grammar());
  }
  static Request asked() {
    Request request;
    request.who = "root";
    request.what = "apply";
    request.host_name = "node1";
    return request;
  }
  template <class Run>
  model::Report with_context(Run run) {
    auto host = kernel_.host();
    Context context{host, {}};
    context.clock = Clock{[this] { return now_ms_; },
                          [](std::chrono::milliseconds /*ahead*/) { return std::string(kDeadlineText); }};
    return run(context);
  }
  model::Report commits(int value, const Request& request) {
    return with_context([&](Context& context) { return commit(wants(value), request, context); });
  }
  model::Report rolls_back(std::uint64_t number, const Request& request) {
    return with_context([&](Context& context) { return roll_back(number, request, context); });
  }
  static std::string why(const model::Report& report) { return report.error ? report.error->message : ""; }

  fakes::FakeKernel kernel_;
  std::int64_t now_ms_ = 1000;
};

TEST_F(CommitAnswers, ARollbackSaysWhyThereIsNone) {
  ASSERT_EQ(commits(256, asked()).exit, model::Exit::kOk);
  EXPECT_EQ(why(rolls_back(0, asked())),
            "there is no earlier generation to go back to; see `rdma-configctl history`");
  EXPECT_EQ(why(rolls_back(9, asked())), "there is no generation 9; see `rdma-configctl history`");
  EXPECT_EQ(why(rolls_back(1, asked())), "generation 1 is already active");
  auto later = asked();
  later.from = 7;
  EXPECT_EQ(
      why(rolls_back(0, later)),
      "generation 1 is now active instead of 7, so nothing is rolled back: see `rdma-configctl history`");
}

TEST_F(CommitAnswers, WhatWaitsIsNotGoneOver) {
  ASSERT_EQ(commits(256, asked()).exit, model::Exit::kOk);
  auto waiting = asked();
  waiting.confirm = std::chrono::seconds(60);
  ASSERT_EQ(commits(512, waiting).exit, model::Exit::kOk);
  EXPECT_EQ(why(commits(1024, asked())), std::string("generation 2 waits for confirmation until ") +
                                             kDeadlineText +
                                             ": `rdma-configctl confirm` or `rdma-configctl rollback` first");
  EXPECT_EQ(why(rolls_back(9, asked())), "an apply waits for confirmation: confirm it or roll it back first");
  auto event = asked();
  event.by_itself = true;
  EXPECT_THAT(model::note_texts(commits(1024, event).notes),
              Contains("generation 2 waits for confirmation and stays active until then"));
}

TEST_F(CommitAnswers, ALateConfirmationTakesBackAndTheDocumentIsRefusedByItself) {
  ASSERT_EQ(commits(256, asked()).exit, model::Exit::kOk);
  auto waiting = asked();
  waiting.confirm = std::chrono::seconds(60);
  ASSERT_EQ(commits(512, waiting).exit, model::Exit::kOk);
  now_ms_ += 3'600'000;
  const auto late = with_context([&](Context& context) { return confirm(asked(), context); });
  EXPECT_EQ(why(late), "too late: the confirmation deadline has passed");
  EXPECT_NE(late.exit, model::Exit::kOk);
  auto event = asked();
  event.by_itself = true;
  EXPECT_THAT(
      model::note_texts(commits(512, event).notes),
      Contains("the document was rolled back before and is not applied automatically until it changes; "
               "generation 1 stays active instead"));
}

TEST_F(CommitAnswers, WithoutAnApplyThereIsNothingToConfirm) {
  const auto report = with_context([&](Context& context) { return confirm(asked(), context); });
  EXPECT_EQ(why(report), "no apply waits for confirmation");
}

}  // namespace
}  // namespace rdmacfg::core
