// SPDX-License-Identifier: Apache-2.0
// apply --confirm, confirm, rollback and history; by the daemon and without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "console.hpp"
#include "core/commit/commit.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kPlain =
    std::string("version = 1\n\n[[ipoib]]\nguid = \"") + kGuid1 + "\"\nname = \"mlx4_ib0\"\n";

std::string mode_of(Console& console, const std::string& name) {
  for (const auto& link : console.kernel.machine.links) {
    if (link.name == name) return link.connected ? "connected" : "datagram";
  }
  return "none";
}

/// Generations are read where they are, not in --config.
int run(Console& console, std::vector<std::string> words) {
  console.document("version = 1\n");
  return console.run(std::move(words));
}

TEST(Generations, ConfirmKeepsWhatApplyDid) {
  Console console;
  console.document(kRename);
  ASSERT_EQ(console.run({"apply", "--yes", "--confirm", "60"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("unless you run `rdma-configctl confirm` before then"));
  EXPECT_EQ(console.kernel.timers.armed.count(core::kRollbackTimer), 1U);
  EXPECT_EQ(run(console, {"history"}), 0);
  EXPECT_THAT(console.out.str(),
              AllOf(HasSubstr("apply --confirm 60"), HasSubstr("waits for confirmation until")));
  EXPECT_EQ(run(console, {"confirm"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("generation 1 is confirmed"));
  EXPECT_EQ(console.kernel.timers.armed.count(core::kRollbackTimer), 0U);
  EXPECT_EQ(run(console, {"history"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("active"));
  EXPECT_EQ(run(console, {"confirm"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("generation 1 is confirmed already"));
  console.document(kRename);
  const auto files = console.kernel.files.content;
  ASSERT_EQ(console.run({"apply", "--yes"}), 0);
  EXPECT_EQ(console.kernel.files.content, files) << "what changes nothing writes nothing";
  console.document(kPlain);
  ASSERT_EQ(console.run({"apply", "--yes"}), 0);
  EXPECT_EQ(run(console, {"confirm"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("no apply waits for confirmation"));
}

TEST(Generations, WhereNothingWasChangedThereIsNothingToConfirm) {
  Console console;
  console.document(kRename);
  ASSERT_EQ(console.run({"apply", "--yes"}), 0);
  const std::vector<std::vector<std::string>> both{{"apply", "--yes", "--confirm", "60"}, {"confirm"}};
  for (const auto& words : both) {
    EXPECT_EQ(console.run(words), 0) << console.err.str();
    EXPECT_THAT(console.out.str(), HasSubstr("nothing was changed: there is nothing to confirm"));
  }
  EXPECT_EQ(console.kernel.timers.armed.count(core::kRollbackTimer), 0U);
}

TEST(Generations, TheDaemonIsToldOfAnApplyThatGoesPastIt) {
  Console console;
  bool told_in_time = false;
  console.document(kRename);
  auto& files = console.kernel.files.content;
  bool held = false;
  console.environment.lock = [&](const auto& /*root*/, const auto&) -> base::Result<std::shared_ptr<void>> {
    held = true;
    return std::shared_ptr<void>(&held, [&](bool* lock) {
      told_in_time = files.contains(core::kAppliedMark);
      *lock = false;
    });
  };
  ASSERT_EQ(console.run({"apply", "--yes"}), 0);
  EXPECT_TRUE(files.contains(core::kAppliedMark)) << "one that runs may not be on the bus yet";
  EXPECT_TRUE(told_in_time) << "whoever waits for the lock looks for it then";
  files.erase(core::kAppliedMark);
  ASSERT_EQ(console.run({"apply", "--yes", "--local"}), 0);
  EXPECT_FALSE(files.contains(core::kAppliedMark)) << "what changes nothing writes nothing";
  console.kernel.set_mode("mlx4_ib0", model::IpoibMode::kDatagram);
  ASSERT_EQ(console.run({"apply", "--boot"}), 0);
  EXPECT_FALSE(files.contains(core::kAppliedMark)) << "nobody asked for that";
  console.kernel.set_mode("mlx4_ib0", model::IpoibMode::kDatagram);
  ASSERT_EQ(console.run({"apply", "--yes", "--local"}), 0);
  EXPECT_TRUE(files.contains(core::kAppliedMark));
  files.erase(core::kAppliedMark);
  console.document(kRename + "\n");
  ASSERT_EQ(console.run({"apply", "--yes", "--local"}), 0);
  EXPECT_TRUE(files.contains(core::kAppliedMark)) << "another document, though it changes nothing";
  files.erase(core::kAppliedMark);
  ASSERT_EQ(run(console, {"rollback", "--yes", "--local"}), 0) << console.err.str();
  EXPECT_TRUE(files.contains(core::kAppliedMark));
}

TEST(Generations, RollbackOfWhatWaitsDoesNotAsk) {
  Console console;
  console.document(kRename);
  ASSERT_EQ(console.run({"apply", "--yes", "--confirm", "60"}), 0);
  EXPECT_EQ(mode_of(console, "mlx4_ib0"), "connected");
  EXPECT_EQ(run(console, {"rollback"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("generation 1 was rolled back: asked for by root"),
                                       HasSubstr("Done: the host is as it was before that apply."),
                                       Not(HasSubstr("Nothing to do"))));
  EXPECT_EQ(mode_of(console, "ib0"), "datagram");
}

TEST(Generations, RollbackShowsAndAsks) {
  Console console;
  console.document(kPlain);
  ASSERT_EQ(console.run({"apply", "--yes"}), 0);
  console.document(kRename);
  ASSERT_EQ(console.run({"apply", "--yes"}), 0);
  EXPECT_EQ(run(console, {"rollback"}), 1) << "there is no terminal";
  EXPECT_THAT(console.err.str(), HasSubstr("add --yes"));
  console.terminal();
  console.answer("no\n");
  EXPECT_EQ(run(console, {"rollback"}), 1);
  EXPECT_EQ(mode_of(console, "mlx4_ib0"), "connected");
  console.answer("yes\n");
  EXPECT_EQ(run(console, {"rollback"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("datagram"), HasSubstr("generation 1 is active again")));
  EXPECT_EQ(mode_of(console, "mlx4_ib0"), "datagram");
  EXPECT_EQ(run(console, {"rollback", "2", "--yes"}), 0);
  EXPECT_EQ(mode_of(console, "mlx4_ib0"), "connected");
}

TEST(Generations, MistakesAreSaid) {
  Console console;
  const auto fails = [&](const std::vector<std::string>& words, const std::string& message) {
    EXPECT_EQ(run(console, words), 1) << message;
    EXPECT_THAT(console.err.str(), HasSubstr(message));
  };
  fails({"rollback", "--yes"}, "there is no earlier generation");
  fails({"rollback", "7", "--yes"}, "there is no generation 7");
  fails({"rollback", "x", "--yes"}, "x");
  fails({"rollback", "0", "--yes"}, "0");
  fails({"apply", "--confirm", "0"}, "--confirm");
  fails({"apply", "--confirm", "soon"}, "--confirm");
  fails({"history", "--root", "/tmp"}, "cannot be combined with --root");
  fails({"apply", "--yes", "--confirm", "5", "--root", "/tmp"}, "--confirm cannot be combined with --root");
  console.environment.privileged = false;
  fails({"confirm"}, "requires root");
  fails({"rollback", "--yes"}, "");
}

TEST(Generations, HistoryIsEmptyFirst) {
  Console console;
  EXPECT_EQ(run(console, {"history"}), 0);
  EXPECT_EQ(console.out.str(), "Nothing has been applied yet.\n");
  EXPECT_EQ(run(console, {"history", "--json"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("org.rdmaconfigd.history/1"));
}

TEST(Generations, TheTimerFindsNothingToDo) {
  Console console;
  console.document(kRename);
  ASSERT_EQ(console.run({"apply", "--yes"}), 0);
  EXPECT_EQ(run(console, {"rollback", "--expired", "--local"}), 0);
  EXPECT_EQ(console.out.str(), "Nothing to do: no apply is overdue.\n");
  EXPECT_EQ(mode_of(console, "mlx4_ib0"), "connected");
}

TEST(Generations, TheTimerComesAheadOfTheDeadlineAndIsWaitedFor) {
  // On a machine that stalls the deadline may be over before it is looked at: then once more.
  std::chrono::milliseconds slept{0};
  for (int attempt = 0; attempt < 5 && slept.count() == 0; ++attempt) {
    Console console;
    console.document(kRename);
    ASSERT_EQ(console.run({"apply", "--yes", "--confirm", "3"}), 0) << console.err.str();
    EXPECT_EQ(console.kernel.timers.armed.at(core::kRollbackTimer), std::chrono::seconds(1));
    console.environment.sleep = [&](std::chrono::milliseconds time) {
      slept += time;
      std::this_thread::sleep_for(time);
    };
    EXPECT_EQ(run(console, {"rollback", "--expired", "--local"}), 0);
    EXPECT_THAT(console.out.str(), HasSubstr("Done: the host is as it was before that apply."));
    EXPECT_EQ(mode_of(console, "mlx4_ib0"), "none");
  }
  EXPECT_GT(slept.count(), 0);
}

TEST(Generations, TheTimerOfAnEarlierApplyDoesNotWaitForALaterOne) {
  Console console;
  console.document(kRename);
  ASSERT_EQ(console.run({"apply", "--yes", "--confirm", "60"}), 0) << console.err.str();
  console.environment.sleep = [](std::chrono::milliseconds) { ADD_FAILURE() << "it waits"; };
  EXPECT_EQ(run(console, {"rollback", "--expired", "--local"}), 0);
  EXPECT_EQ(mode_of(console, "mlx4_ib0"), "connected");
}

/// A daemon that notes what it is asked.
struct FakeService : Service {
  struct Log {
    std::vector<std::string> calls;
    Apply wanted;
    std::string who;
    std::string refusal;
  };
  std::shared_ptr<Log> log;
  explicit FakeService(std::shared_ptr<Log> to) : log(std::move(to)) {}

  base::Result<model::Report> apply(const Apply& wanted, const Call& call) override {
    log->wanted = wanted;
    return note("apply", call);
  }
  base::Result<model::Report> confirm(const Call& call) override { return note("confirm", call); }
  base::Result<model::Report> roll_back(std::uint64_t generation, std::uint64_t from,
                                        const Call& call) override {
    return note(fmt::format("rollback {} from {}", generation, from), call);
  }
  base::Result<model::Report> note(const std::string& what, const Call& call) {
    log->calls.push_back(what);
    log->who = call.who;
    if (!log->refusal.empty()) return base::fail(base::Code::kDenied, log->refusal);
    return model::Report();
  }
};

TEST(ByTheDaemon, ApplyGoesThroughItWhenItRuns) {
  Console console;
  auto log = std::make_shared<FakeService::Log>();
  console.environment.service = [&] { return std::make_unique<FakeService>(log); };
  console.document(kRename);
  EXPECT_EQ(console.run({"apply", "--yes", "--confirm", "60", "--retry"}), 0) << console.err.str();
  EXPECT_THAT(log->calls, testing::ElementsAre("apply"));
  ASSERT_EQ(log->wanted.texts.size(), 1U);
  EXPECT_EQ(log->wanted.texts[0].text, kRename);
  EXPECT_EQ(log->wanted.confirm_s, 60U);
  EXPECT_TRUE(log->wanted.retry);
  EXPECT_THAT(log->wanted.expect, IsEmpty()) << "nobody was asked";
  EXPECT_EQ(console.locks, 0);
  EXPECT_EQ(console.kernel.faults.calls(), 0U) << "nothing is done here";
}

TEST(ByTheDaemon, TheAgreedPlanGoesAlong) {
  Console console;
  auto log = std::make_shared<FakeService::Log>();
  console.environment.service = [&] { return std::make_unique<FakeService>(log); };
  console.terminal();
  console.answer("y\n");
  console.document(kRename);
  EXPECT_EQ(console.run({"apply"}), 0);
  EXPECT_THAT(log->wanted.expect, Not(IsEmpty()));
}

TEST(ByTheDaemon, NobodyNeedsToBeRoot) {
  Console console;
  auto log = std::make_shared<FakeService::Log>();
  console.environment.service = [&] { return std::make_unique<FakeService>(log); };
  console.environment.privileged = false;
  console.document(kRename);
  EXPECT_EQ(console.run({"apply", "--yes"}), 0);
  EXPECT_EQ(console.run({"confirm"}), 0);
  EXPECT_THAT(log->calls, testing::ElementsAre("apply", "confirm"));
  EXPECT_THAT(log->who, IsEmpty()) << "the daemon knows who asks";
  log->refusal = "rdma-configd: org.rdmaconfigd1.apply is not authorized";
  EXPECT_EQ(console.run({"apply", "--yes"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("not authorized"));
}

TEST(ByTheDaemon, SudoIsNamed) {
  Console console;
  auto log = std::make_shared<FakeService::Log>();
  console.environment.service = [&] { return std::make_unique<FakeService>(log); };
  console.variables["SUDO_USER"] = "alice";
  EXPECT_EQ(run(console, {"confirm"}), 0);
  EXPECT_EQ(log->who, "alice (sudo)");
}

TEST(ByTheDaemon, LocalGoesWithoutIt) {
  Console console;
  bool asked = false;
  console.environment.service = [&] {
    asked = true;
    return std::unique_ptr<Service>();
  };
  console.document(kRename);
  EXPECT_EQ(console.run({"apply", "--yes", "--local"}), 0);
  EXPECT_EQ(console.run({"apply", "--boot"}), 0);
  EXPECT_FALSE(asked);
  EXPECT_EQ(mode_of(console, "mlx4_ib0"), "connected");
}

}  // namespace
}  // namespace rdmacfg::ctl
