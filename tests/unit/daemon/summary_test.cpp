// SPDX-License-Identifier: Apache-2.0
#include "daemon/summary.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "model/limits.hpp"
#include "store/report_json.hpp"

namespace rdmacfg::daemon {
namespace {

namespace limits = model::limits;
using ::testing::HasSubstr;

model::ResourceReport resource(int number, std::size_t bytes) {
  model::ResourceReport out;
  out.key = {"pkey", fmt::format("00:02:c9:03:00:31:78:f2/{:04x}", number)};
  out.label = fmt::format("ib0.{:04x}", number);
  out.status = model::Status::kFailed;
  out.reason = std::string(bytes, 'r');
  out.attributes = {{"mode", std::string("connected"), {}, {}}, {"long", std::string(bytes, 'x'), {}, {}}};
  return out;
}

std::size_t bytes_of(const nlohmann::ordered_json& json) { return json.dump().size(); }

TEST(Summary, HasWhatTheMainProcessGoesBy) {
  model::Report report;
  report.resources.push_back(resource(1, 10));
  report.resources[0].there = false;
  model::Change change;
  change.key = report.resources[0].key;
  change.fields = {"mtu"};
  change.before = {{"mtu", std::int64_t{2044}}};
  change.after = {{"mtu", std::string(10'000, 'x')}};
  change.carried = {std::string(100'000, 'l')};
  change.effect = model::Effect::kDriverReload;
  change.interrupts = {"opensm.service is restarted"};
  report.plan.changes.push_back(change);
  report.notes = {model::Note("a note", model::Note::Sort::kRollback),
                  model::Note(std::string(10'000, 'n'), model::Note::Sort::kDamage)};
  report.exit = model::Exit::kPartly;
  const auto json = summary_of(report);
  EXPECT_LT(bytes_of(json), 4000U);
  const auto read = core::report_from(json.dump());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->exit, model::Exit::kPartly);
  EXPECT_EQ(read->resources.at(0).key, change.key);
  EXPECT_EQ(read->resources.at(0).status, model::Status::kFailed);
  EXPECT_FALSE(read->resources.at(0).there);
  ASSERT_EQ(read->resources.at(0).attributes.size(), 1U);
  EXPECT_EQ(read->plan.changes.at(0).fields, change.fields);
  EXPECT_EQ(model::text_of(model::value_of(read->plan.changes.at(0).before, "mtu")), "2044");
  EXPECT_EQ(read->plan.changes.at(0).interrupts, change.interrupts) << "the journal names what is restarted";
  EXPECT_EQ(read->plan.changes.at(0).effect, change.effect);
  ASSERT_EQ(read->notes.size(), 2U);
  EXPECT_EQ(read->notes[0], report.notes[0]);
  EXPECT_LT(read->notes[1].text.size(), 10'000U);
  EXPECT_EQ(read->notes[1].sort, model::Note::Sort::kDamage) << "although it is cut";
}

TEST(Summary, IsBoundedHoweverLongTheReportIs) {
  for (const int count : {1, 5'000, 60'000}) {
    model::Report report;
    for (int i = 0; i < count; ++i) report.resources.push_back(resource(i, 600));
    report.exit = model::Exit::kUndone;
    const auto json = summary_of(report);
    EXPECT_LE(bytes_of(json), limits::kSummaryBytes - kStatusBytes) << count << ", and the status has room";
    const auto read = core::report_from(json.dump());
    ASSERT_TRUE(read) << count;
    EXPECT_EQ(read->exit, model::Exit::kUndone);
    if (count > 5'000) continue;
    EXPECT_EQ(read->resources.size(), static_cast<std::size_t>(count));
  }
}

/// A report of which the JSON is `bytes` long.
model::Report of_length(std::size_t bytes) {
  model::Report report;
  report.exit = model::Exit::kUndone;
  report.resources.push_back(resource(1, 1));
  report.notes.emplace_back();
  const auto frame = core::report_json(report).dump().size();
  report.notes.back().text.resize(bytes - frame, 'x');
  return report;
}

TEST(Summary, TextsAreCutBeyondTheLimit) {
  model::Report report;
  report.notes = {std::string(limits::kSummaryText, 'x'), std::string(limits::kSummaryText + 1, 'x'),
                  std::string(limits::kSummaryText - 1, 'x') + "ü"};
  const auto read = core::report_from(summary_of(report).dump());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->notes.size(), 3U);
  EXPECT_EQ(read->notes[0].text, report.notes[0].text);
  EXPECT_EQ(read->notes[1].text, report.notes[0].text + "…");
  EXPECT_EQ(read->notes[2].text, std::string(limits::kSummaryText - 1, 'x') + "…") << "no half a character";
}

TEST(BoundedReport, UpToTheLimitItIsWhole) {
  EXPECT_EQ(bounded_report(of_length(limits::kReportBytes), ReportOf::kLook).size(), limits::kReportBytes);
  EXPECT_THAT(bounded_report(of_length(limits::kReportBytes), ReportOf::kChange), HasSubstr("ib0.0001"));
}

TEST(BoundedReport, BeyondALookSaysSoAndAChangeHowItEnded) {
  const auto look = core::report_from(bounded_report(of_length(limits::kReportBytes + 1), ReportOf::kLook));
  ASSERT_TRUE(look && look->error);
  EXPECT_THAT(look->error->message, HasSubstr(fmt::format("more than the {}", limits::kReportBytes)));
  EXPECT_EQ(look->exit, model::Exit::kError);
  const auto change =
      core::report_from(bounded_report(of_length(limits::kReportBytes + 1), ReportOf::kChange));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->exit, model::Exit::kUndone) << "what was done is told";
  EXPECT_TRUE(change->resources.empty());
  EXPECT_THAT(change->notes.back().text, HasSubstr("are left out"));
}

}  // namespace
}  // namespace rdmacfg::daemon
