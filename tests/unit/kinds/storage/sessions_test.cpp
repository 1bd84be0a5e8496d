// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/sessions.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::kinds {
namespace {

TEST(SessionVerdicts, AllHaveToBeUp) {
  using Sort = Verdict::Sort;
  struct Case {
    std::vector<std::string> sessions;
    std::optional<std::string> job;
    Sort sort;
    std::string reason;
  };
  const std::vector<Case> cases{
      {{"nvme0 nqn.a live"}, {}, Verdict{}.sort, ""},
      {{"nvme0 nqn.a live", "nvme1 nqn.b live"}, {}, Verdict{}.sort, ""},
      {{"nvme0 nqn.a live", "nvme1 nqn.b connecting"}, {}, Sort::kPending, "nvme1 nqn.b connecting: again"},
      {{"nvme0 nqn.a resetting", "nvme1 nqn.b live"}, {}, Sort::kPending, "nvme0 nqn.a resetting: again"},
      {{"nvme0 nqn.a alive"}, {}, Sort::kPending, "nvme0 nqn.a alive: again"},
      {{}, {}, Sort::kPending, "there is none"},
      {{}, "start", Sort::kPending, "systemd has queued the start job of a.service behind other jobs"},
  };
  for (const auto& [sessions, job, sort, reason] : cases) {
    const auto verdict = judge_sessions(sessions, job,
                                        {.field = "connected",
                                         .live = "live",
                                         .unit = "a.service",
                                         .retry = "again",
                                         .missing = "there is none"});
    EXPECT_EQ(verdict.sort, sort) << reason;
    EXPECT_EQ(verdict.reason, reason);
    EXPECT_EQ(verdict.fields.empty(), reason.empty());
  }
}

}  // namespace
}  // namespace rdmacfg::kinds
