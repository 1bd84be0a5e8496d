// SPDX-License-Identifier: Apache-2.0
#include "daemon/journal_report.hpp"

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
  report_to_journal(job, changed({"ipoib", "x"}),
                    [&](const model::Key& key) { return key.id == "x" ? who : std::string("nobody"); });
  return ::testing::internal::GetCapturedStderr();
}

TEST(Tell, FieldsAreSpokenOfByTheNameInTheirTable) {
  EXPECT_EQ(spoken({"nm_profile", "x"}, "live_mtu"), "mtu");
  EXPECT_EQ(spoken({"nm_profile", "x"}, "mtu"), "mtu");
  EXPECT_EQ(spoken({"ipoib", "x"}, "live_mtu"), "live_mtu") << "a field of another kind";
  EXPECT_EQ(spoken({"no_such_kind", "x"}, "live_mtu"), "live_mtu");
}

TEST(Tell, OfWhatIsMissingAContentionNamesTheWhole) {
  for (const auto* kind : {"nm_profile", "networkd"}) {
    EXPECT_EQ(contended_name({kind, "x"}, "missing"), "addresses") << kind;
    EXPECT_EQ(spoken({kind, "x"}, "missing"), "missing") << kind;
  }
  EXPECT_EQ(contended_name({"nm_profile", "x"}, "live_mtu"), "mtu");
  EXPECT_EQ(contended_name({"ipoib", "x"}, "missing"), "missing") << "a field of another kind";
}

TEST(Tell, ARepairNamesTheSuspectIfThereIsOne) {
  if (::access("/run/systemd/journal/socket", W_OK) == 0) GTEST_SKIP() << "it would go to the journal";
  EXPECT_EQ(told(Job::Verb::kHold, "NetworkManager"),
            "repaired: ipoib ib0: mtu 2044 → 65520; cause unknown, but NetworkManager also sets this\n");
  EXPECT_EQ(told(Job::Verb::kHold, ""), "repaired: ipoib ib0: mtu 2044 → 65520\n");
  EXPECT_THAT(told(Job::Verb::kApply, "NetworkManager"), Not(HasSubstr("cause unknown")))
      << "what somebody asked for nobody is suspected of";
}

TEST(Tell, AnExpectationIsReportedWhenItBecomesUnmetAndWhenItIsMetAgain) {
  if (::access("/run/systemd/journal/socket", W_OK) == 0) GTEST_SKIP() << "it would go to the journal";
  Expectations expectations;
  model::Report report;
  report.resources.push_back({.key = {"expect", "x/1"},
                              .label = "x of mlx5_0/1",
                              .status = model::Status::kUnmet,
                              .reason = "rate is 10 Gb/s, expected at least 100 Gb/s"});
  const auto told = [&] {
    ::testing::internal::CaptureStderr();
    expectations.report_to_journal(report);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(told(), "not as expected: x of mlx5_0/1: rate is 10 Gb/s, expected at least 100 Gb/s\n");
  EXPECT_EQ(told(), "") << "once";
  report.resources[0].reason = "rate is 40 Gb/s, expected at least 100 Gb/s";
  EXPECT_EQ(told(), "") << "it still is not met";
  auto failed = std::exchange(report, {});
  EXPECT_EQ(told(), "") << "a look that failed says nothing";
  report = std::move(failed);
  EXPECT_EQ(told(), "");
  report.resources[0].status = model::Status::kInSync;
  EXPECT_EQ(told(), "as expected again: x of mlx5_0/1\n");
  EXPECT_EQ(told(), "");
  report.resources[0].status = model::Status::kUnmet;
  EXPECT_EQ(told(), "not as expected: x of mlx5_0/1: rate is 40 Gb/s, expected at least 100 Gb/s\n");
}

model::Change change_of(model::Operation operation) {
  model::Change change;
  change.operation = operation;
  change.key = {"memlock", "*"};
  change.label = "memlock *";
  auto& settings = operation == model::Operation::kCreate ? change.after : change.before;
  settings["hard"] = std::int64_t{1};
  settings["soft"] = std::string("unlimited");
  settings["text"] = std::string("a file\nof two lines");
  settings["unknown"] = model::Value{};
  return change;
}

TEST(Tell, WhatCameOrWentIsSaidWithWhatItHad) {
  using model::Operation;
  EXPECT_EQ(done_by(change_of(Operation::kDelete)), "removed (hard 1, soft unlimited)");
  EXPECT_EQ(done_by(change_of(Operation::kCreate), Creation::kAgain), "made again (hard 1, soft unlimited)");
  EXPECT_EQ(done_by(change_of(Operation::kCreate)), "made (hard 1, soft unlimited)");
  EXPECT_EQ(drift_of(change_of(Operation::kDelete)), "is there (hard 1, soft unlimited)");
  EXPECT_EQ(drift_of(change_of(Operation::kCreate)), "is gone (hard 1, soft unlimited)");
  for (const auto operation : {Operation::kDelete, Operation::kCreate})
    EXPECT_THAT(fields_of(change_of(operation)), ::testing::ElementsAre("hard", "soft", "text"));
  const auto report = changed({"ipoib", "x"});
  EXPECT_EQ(done_by(report.plan.changes.front()), "mtu 2044 → 65520");
  EXPECT_EQ(drift_of(report.plan.changes.front()), "mtu 65520 → 2044");
  EXPECT_THAT(fields_of(report.plan.changes.front()), ::testing::ElementsAre("mtu"));
}

TEST(Tell, ARepairThatRemovesOrMakesSaysWhat) {
  if (::access("/run/systemd/journal/socket", W_OK) == 0) GTEST_SKIP() << "it would go to the journal";
  Job job;
  job.verb = Job::Verb::kHold;
  const auto said = [&](const Suspect& suspect) {
    model::Report report;
    report.plan.changes = {change_of(model::Operation::kDelete), change_of(model::Operation::kCreate)};
    report.plan.changes[1].key = {"pkey", "x/8002"};
    report.plan.changes[1].label = "ib0.8002";
    report.resources.push_back(
        {.key = {"pkey", "x/8002"}, .label = "ib0.8002", .status = model::Status::kDone});
    ::testing::internal::CaptureStderr();
    report_to_journal(job, report, suspect);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said([](const model::Key&) { return ""; }),
            "repaired: memlock *: removed (hard 1, soft unlimited)\n"
            "repaired: pkey ib0.8002: made again (hard 1, soft unlimited)\n");
  EXPECT_THAT(said([](const model::Key&) { return std::nullopt; }),
              HasSubstr("configured: pkey ib0.8002: made (hard 1, soft unlimited)\n"))
      << "it had not been there";
}

TEST(Tell, AFightIsToldWhenItBeginsAndNotAtEachHold) {
  if (::access("/run/systemd/journal/socket", W_OK) == 0) GTEST_SKIP() << "it would go to the journal";
  Job job;
  job.verb = Job::Verb::kHold;
  const model::Key key{"ipoib", "x"};
  job.fields_left_alone[key] = {{"mtu"}, "somebody fights for it"};
  const auto told = [&](const std::string& reason) {
    model::Report report;
    report.resources.push_back(
        {.key = key, .label = "ib0", .status = model::Status::kFailed, .reason = reason});
    ::testing::internal::CaptureStderr();
    report_to_journal(job, report);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(told("somebody fights for it"), "");
  EXPECT_EQ(told("refused"), "ipoib ib0: refused\n") << "another setting of it";
}

TEST(Tell, DamageIsKnownByItsValueNotByItsWords) {
  if (::access("/run/systemd/journal/socket", W_OK) == 0) GTEST_SKIP() << "it would go to the journal";
  model::Report report;
  report.notes = {model::Note("generation 4 is rolled back at 12:00 unless you confirm"),
                  model::Note("state.json is empty", model::Note::Sort::kDamage),
                  model::Note("its copy is used")};
  ::testing::internal::CaptureStderr();
  report_to_journal(Job{}, report, [](const model::Key&) { return std::nullopt; });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "generation 4 is rolled back at 12:00 unless you confirm\nDEGRADED: state.json is empty\nits "
            "copy is used\n");
}

TEST(Tell, OfHoldsInARowAMistakeIsSaidOnce) {
  if (::access("/run/systemd/journal/socket", W_OK) == 0) GTEST_SKIP() << "it would go to the journal";
  Job job;
  job.verb = Job::Verb::kHold;
  model::Report wrong;
  wrong.diagnostics.push_back({model::Severity::kError, {"config.toml", 3, 1}, "taken", "", {}});
  wrong.notes.emplace_back("to be known");
  RepeatFilter said;
  const auto told = [&](const model::Report& report) {
    ::testing::internal::CaptureStderr();
    report_to_journal(
        job, report, [](const model::Key&) { return std::nullopt; }, &said);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(told(wrong), "to be known\nconfig.toml:3:1: taken\n");
  EXPECT_EQ(told(wrong), "");
  EXPECT_EQ(told({}), "");
  EXPECT_EQ(told(wrong), "to be known\nconfig.toml:3:1: taken\n") << "it was gone in between";
}

/// On a full /var each is tried about once a minute.
TEST(Tell, AHoldOrARollbackThatCannotBeRecordedIsReportedOnce) {
  if (::access("/run/systemd/journal/socket", W_OK) == 0) GTEST_SKIP() << "it would go to the journal";
  model::Report full;
  full.error = base::Error{base::Code::kIo, "the rollback could not be recorded: No space left", 0};
  full.left_over = {"generations.json: generation 2 is still recorded there"};
  const std::string all =
      "the rollback could not be recorded: No space left\n"
      "could not be undone: generations.json: generation 2 is still recorded there\n";
  for (const auto verb : {Job::Verb::kHold, Job::Verb::kExpire, Job::Verb::kApply}) {
    Job job;
    job.verb = verb;
    RepeatFilter said;
    const auto told = [&](const model::Report& report) {
      ::testing::internal::CaptureStderr();
      report_to_journal(
          job, report, [](const model::Key&) { return std::nullopt; }, &said);
      return ::testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(told(full), all);
    EXPECT_EQ(told(full), verb == Job::Verb::kApply ? all : "") << "an apply was asked for each time";
    auto readable = full;
    readable.error->message = "the rollback could not be recorded: Read-only file system";
    EXPECT_EQ(told(readable).starts_with(readable.error->message), true);
    EXPECT_EQ(told({}), "");
    EXPECT_EQ(told(full), all) << "it was recorded in between";
  }
}

TEST(Tell, AKindIsNamedOnce) {
  EXPECT_EQ(name_of({"ipoib", "x"}, "ib0"), "ipoib ib0");
  EXPECT_EQ(name_of({"memlock", "root"}, "memlock root"), "memlock root");
  EXPECT_EQ(name_of({"dcb", "eth0"}, "DCB of eth0"), "DCB of eth0");
  EXPECT_EQ(name_of({"rdma_system", "netns"}, "RDMA system"), "RDMA system");
  EXPECT_EQ(name_of({"initramfs", "image"}, "initramfs"), "initramfs");
  EXPECT_EQ(name_of({"service", "servicex"}, "servicex.service"), "service servicex.service");
}

TEST(Tell, WhatTheCatalogueShowsIsShortAndWhole) {
  EXPECT_EQ(for_catalog("mtu 2044 → 65520"), "mtu 2044 → 65520");
  std::string arrows;
  for (int i = 0; i < 100; ++i) arrows += "→";
  for (const auto* before : {"", "x", "xx"}) {
    const auto text = for_catalog(before + arrows);
    EXPECT_LE(text.size(), 256 - std::string("RDMA_CHANGE=").size());
    EXPECT_EQ((text.size() - std::string(before).size()) % 3, 0U) << "no half character";
  }
}

}  // namespace
}  // namespace rdmacfg::daemon
