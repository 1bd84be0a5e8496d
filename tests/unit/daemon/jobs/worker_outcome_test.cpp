// SPDX-License-Identifier: Apache-2.0
// The outcome of a job by the last line and the end of its worker, and the reason of a refusal.
#include "daemon/jobs/worker_outcome.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "daemon/jobs/outcome.hpp"
#include "store/report_json.hpp"

namespace rdmacfg::daemon {
namespace {

using ::testing::HasSubstr;

/// As waitpid() has it of a process that exits by itself; one that is killed has the signal's number.
constexpr int exit_of_process(int status) { return status << 8; }

Outcome outcome_after(Job::Verb verb, const std::string& line, int status) {
  Job job;
  job.verb = verb;
  return outcome_of(job, line, status, {});
}

TEST(WorkerOutcome, AWorkerWithoutAResult) {
  struct Row {
    Job::Verb verb;
    std::string line;
    int status;
    std::string says;
    model::Exit exit;
  };
  const auto unknown = model::Exit::kUndoIncomplete, unchanged = model::Exit::kError;
  for (const auto& row : std::vector<Row>{
           {Job::Verb::kApply, "", SIGXCPU, "more than the 900 s of processor time", unknown},
           {Job::Verb::kDiff, "", SIGXCPU, "more than the 20 s of processor time", unchanged},
           {Job::Verb::kShow, "", SIGKILL, "killed by signal 9", unchanged},
           {Job::Verb::kHold, "", SIGSEGV, "killed by signal 11", unknown},
           {Job::Verb::kApply, "", exit_of_process(0), "ended without a result", unknown},
           {Job::Verb::kApply, R"({"exit": 0, "rep)", exit_of_process(1), "apply again", unknown},
           {Job::Verb::kApply, R"({"exit": 0.5, "report": null, "status": {}})", exit_of_process(0),
            "apply again", unknown},
           {Job::Verb::kApply, R"({"exit": 0, "report": null})", exit_of_process(0), "apply again", unknown},
           {Job::Verb::kApply, R"({"report": null, "status": {}})", exit_of_process(0), "apply again",
            unknown},
           {Job::Verb::kApply, R"({"cancelled": true})", exit_of_process(0), "apply again", unknown},
           {Job::Verb::kApply, R"({"exit": 0, "report": {"x": 1}, "status": {}})", exit_of_process(0),
            "the worker's result cannot be read (", unknown},
           {Job::Verb::kRollBack, "", SIGKILL, "roll back again", unknown},
           {Job::Verb::kConfirm, "", SIGKILL, "`rdma-configctl history` shows whether it is confirmed",
            unknown},
           {Job::Verb::kExpire, "", SIGKILL, "the next repair continues from there", unknown}}) {
    const auto outcome = outcome_after(row.verb, row.line, row.status);
    SCOPED_TRACE(row.says + row.line);
    EXPECT_TRUE(outcome.lost);
    EXPECT_FALSE(outcome.cancelled);
    EXPECT_EQ(outcome.report.exit, row.exit);
    ASSERT_TRUE(outcome.report.error);
    EXPECT_THAT(outcome.report.error->message, HasSubstr(row.says));
    EXPECT_THAT(outcome.whole.read(), HasSubstr("\"error\"")) << "the client is told, too";
  }
}

// Cut or wrapped, it would be another number, and an exit status might say that all is well.
TEST(WorkerOutcome, AResultWithANumberThatCannotBeIsLost) {
  const std::string whole =
      R"({"exit": 0, "report": null, "handles_made": 1, "status": {"active": 3, "audit_s": 600,)"
      R"( "last": {"number": 3}, "unconfirmed": {"deadline_ms": 1000}}})";
  EXPECT_FALSE(outcome_after(Job::Verb::kApply, whole, exit_of_process(0)).lost);
  struct Row {
    std::string at;
    std::vector<std::string> values;
  };
  for (const auto& row :
       std::vector<Row>{{"/exit", {"-1", "6", "true", "\"0\"", "4294967296", "18446744073709551615"}},
                        {"/handles_made", {"-1", "true", "null"}},
                        {"/status/active", {"-1", "false", "18446744073709551615"}},
                        {"/status/audit_s", {"-1", "true", "86401", "9223372036854775807"}},
                        {"/status/last/number", {"-1", "true"}},
                        {"/status/unconfirmed/deadline_ms", {"-1", "true", "9223372036854775807"}}}) {
    for (const auto& value : row.values) {
      auto line = nlohmann::ordered_json::parse(whole);
      line[nlohmann::ordered_json::json_pointer(row.at)] = nlohmann::ordered_json::parse(value);
      const auto outcome = outcome_after(Job::Verb::kApply, line.dump(), exit_of_process(0));
      EXPECT_TRUE(outcome.lost) << row.at << " = " << value;
      EXPECT_EQ(outcome.report.exit, model::Exit::kUndoIncomplete);
    }
  }
  // A ledger that cannot be read.
  EXPECT_FALSE(
      outcome_after(Job::Verb::kHold, R"({"exit": 1, "report": null, "status": null})", exit_of_process(1))
          .lost);
}

TEST(WorkerOutcome, OneThatWasToldToStopHadBegunNothing) {
  for (const int signal : {SIGUSR1, SIGUSR2}) {
    const auto outcome = outcome_after(Job::Verb::kApply, "", signal);
    EXPECT_TRUE(outcome.cancelled);
    EXPECT_FALSE(outcome.lost);
    EXPECT_EQ(outcome.report.exit, model::Exit::kError);
  }
  const auto said =
      outcome_after(Job::Verb::kApply, R"({"cancelled": true, "status": {"active": 3}})", exit_of_process(1));
  EXPECT_TRUE(said.cancelled);
  EXPECT_EQ(said.status.at("active"), 3);
}

TEST(WorkerOutcome, AResultIsTakenAsItIs) {
  const auto look = outcome_after(Job::Verb::kDiff, R"({"exit": 2, "report": null, "status": {"active": 3}})",
                                  exit_of_process(2));
  EXPECT_FALSE(look.lost);
  EXPECT_EQ(look.report.exit, model::Exit::kDiffers);
  EXPECT_FALSE(look.looked);
  EXPECT_EQ(look.handles_made, 0U);
  EXPECT_EQ(look.whole.size(), 0U) << "the report of a look is the client's";

  model::Report report;
  report.resources.emplace_back().key = {"ipoib", "00:02:c9:03:00:31:78:f2"};
  report.notes = {"an interrupted apply was finished"};
  const nlohmann::ordered_json line{{"exit", 5},
                                    {"looked", true},
                                    {"handles_made", 7},
                                    {"report", core::report_json(report)},
                                    {"status", nlohmann::ordered_json::object()}};
  const auto change = outcome_after(Job::Verb::kApply, line.dump(), exit_of_process(5));
  EXPECT_FALSE(change.lost);
  EXPECT_EQ(change.report.exit, model::Exit::kPartly) << "the exit status of the line counts";
  EXPECT_EQ(change.report.notes, report.notes);
  ASSERT_EQ(change.report.resources.size(), 1U);
  EXPECT_TRUE(change.looked);
  EXPECT_EQ(change.handles_made, 7U);
  EXPECT_THAT(change.whole.read(), HasSubstr("an interrupted apply was finished"));
}

TEST(WorkerOutcome, WhyADocumentIsNotApplied) {
  const model::Location place{.file = "config.toml", .line = 3, .column = 4};
  const model::Diagnostic warning{model::Severity::kWarning, place, "an old key", "", {}};
  const model::Diagnostic error{model::Severity::kError, place, "secret is not a mode", "", {}};
  struct Row {
    model::Diagnostics diagnostics;
    std::string failure, note, why, why_private;
  };
  const std::string hidden = "only root may read the document, so the journal says why";
  for (const auto& row : std::vector<Row>{{{warning, error},
                                           "busy",
                                           "note",
                                           place.text() + ": secret is not a mode",
                                           place.text() + ": " + hidden},
                                          {{warning}, "busy", "note", "busy", hidden},
                                          {{}, "", "note", "note", hidden},
                                          {{}, "", "", "another generation is active", hidden}}) {
    model::Report report;
    report.diagnostics = row.diagnostics;
    if (!row.failure.empty()) report.error = base::Error{base::Code::kBusy, row.failure, 0};
    if (!row.note.empty()) report.notes = {row.note};
    EXPECT_EQ(why_refused(report), row.why);
    EXPECT_EQ(why_refused(report, DocumentValues::kLeftOut), row.why_private);
  }
}

}  // namespace
}  // namespace rdmacfg::daemon
