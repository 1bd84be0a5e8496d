// SPDX-License-Identifier: Apache-2.0
#include "store/report_json.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "unit/store/bad_field.hpp"

namespace rdmacfg::core {
namespace {

using ::testing::HasSubstr;

model::Report full_report() {
  model::Report report;
  report.exit = model::Exit::kUndoIncomplete;
  report.error = base::Error{base::Code::kBusy, "ib0: set MTU 4092: Device or resource busy", 16};
  report.diagnostics.push_back(
      {model::Severity::kWarning, {"a.toml", 3, 4, 5}, "message", "hint", {{{"b.toml", 1, 2, 3}, "note"}}});
  model::ResourceReport resource;
  resource.key = {"ipoib", "g"};
  resource.label = "ib0";
  resource.status = model::Status::kLimited;
  resource.reason = "reason";
  resource.warnings = {"warning"};
  resource.instance = "boot/7";
  resource.there = false;
  resource.follows = true;
  resource.waits = true;
  resource.attributes = {{"mtu", std::int64_t{2044}, std::int64_t{4092}, model::Location{"a.toml", 3, 4, 5}},
                         {"mode", std::string("datagram"), std::monostate{}, std::nullopt},
                         {"umcast", false, true, std::nullopt},
                         {"names", std::vector<std::string>{"a", "b"}, std::monostate{}, std::nullopt}};
  report.resources.push_back(std::move(resource));
  for (const auto effect :
       {model::Effect::kNow, model::Effect::kDriverReload, model::Effect::kInitramfsReboot}) {
    for (const auto operation :
         {model::Operation::kCreate, model::Operation::kUpdate, model::Operation::kDelete}) {
      model::Change change;
      change.key = {"pkey", "g/0x8002"};
      change.label = "ib0.8002";
      change.operation = operation;
      change.before = {{"mtu", std::int64_t{2044}}};
      change.after = {{"mtu", std::int64_t{4092}}};
      change.fields = {"mtu"};
      change.needs = {{"ipoib", "g"}};
      change.effect = effect;
      change.interrupts = {"link down for a moment", "x.service is restarted"};
      change.interrupts_later = {"link down at the next start"};
      change.origins["mtu"] = {"a.toml", 3, 4};
      change.parent_object = "boot/7";
      change.returned = "boot/6";
      change.overruled = {"mtu"};
      change.siblings = {"boot/8"};
      change.carried = {"up"};
      report.plan.changes.push_back(std::move(change));
    }
  }
  report.drifted = {report.plan.changes.front()};
  using Sort = model::Note::Sort;
  report.notes = {model::Note("a note"), model::Note("damaged", Sort::kDamage),
                  model::Note("rolled back", Sort::kRollback), model::Note("until noon", Sort::kDeadline)};
  report.left_over = {"ib0: mtu"};
  return report;
}

// All of a report comes over the bus: also what a plan interrupts, and when it has its effect.
TEST(Reports, AreReadAsTheyWereWritten) {
  const auto text = report_json(full_report()).dump();
  const auto read = report_from(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(report_json(*read).dump(), text);
  EXPECT_EQ(read->notes, full_report().notes) << "with their sorts";
  const auto& changes = read->plan.changes;
  ASSERT_EQ(changes.size(), 9U);
  EXPECT_EQ(changes.at(0).effect, model::Effect::kNow);
  EXPECT_EQ(changes.at(3).effect, model::Effect::kDriverReload);
  EXPECT_EQ(changes.at(8).effect, model::Effect::kInitramfsReboot);
  EXPECT_EQ(changes.at(8).interrupts,
            (std::vector<std::string>{"link down for a moment", "x.service is restarted"}));
  EXPECT_EQ(changes.at(8).interrupts_later, (std::vector<std::string>{"link down at the next start"}));
}

TEST(Reports, HaveEachStatusAndEachExit) {
  for (int i = 0; i <= static_cast<int>(model::Status::kIgnored); ++i) {
    model::Report report;
    report.resources.emplace_back();
    report.resources[0].status = static_cast<model::Status>(i);
    const auto read = report_from(report_json(report).dump());
    ASSERT_TRUE(read);
    EXPECT_EQ(static_cast<int>(read->resources.at(0).status), i);
  }
  for (int i = 0; i <= static_cast<int>(model::Exit::kPartly); ++i) {
    model::Report report;
    report.exit = static_cast<model::Exit>(i);
    const auto read = report_from(report_json(report).dump());
    ASSERT_TRUE(read);
    EXPECT_EQ(static_cast<int>(read->exit), i);
  }
}

// A status of a newer version is nothing to rely on.
TEST(Reports, AnUnknownStatusCountsAsFailed) {
  const auto read =
      report_from(with_field(report_json(full_report()).dump(), {"/resources/0/status", "\"of tomorrow\""}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->resources.at(0).status, model::Status::kFailed);
}

BadFields bad_result() {
  return {{"/exit", ""},
          {"/exit", "\"0\""},
          {"/exit", "null"},
          {"/exit", "-1"},
          {"/exit", "6"},
          {"/exit", "true"},
          {"/exit", "4294967296"},
          {"/exit", "18446744073709551615"},
          {"/error/code", "-1"},
          {"/error/code", "8"},
          {"/error/code", "4294967300"},
          {"/error", ""},
          {"/error", "1"},
          {"/error", "{}"},
          {"/error/code", ""},
          {"/error/code", "\"busy\""},
          {"/error/message", ""},
          {"/error/message", "1"},
          {"/error/errno", ""},
          {"/error/errno", "\"16\""},
          {"/error/errno", "true"},
          {"/error/errno", "4294967312"},
          {"/diagnostics", ""},
          {"/diagnostics", "1"},
          {"/diagnostics", "[1]"},
          {"/diagnostics/0/severity", ""},
          {"/diagnostics/0/where", ""},
          {"/diagnostics/0/where", "1"},
          {"/diagnostics/0/where/file", ""},
          {"/diagnostics/0/where/line", "\"3\""},
          {"/diagnostics/0/where/column", ""},
          {"/diagnostics/0/where/length", "\"5\""},
          {"/diagnostics/0/message", ""},
          {"/diagnostics/0/message", "1"},
          {"/diagnostics/0/hint", ""},
          {"/diagnostics/0/hint", "null"},
          {"/diagnostics/0/related", ""},
          {"/diagnostics/0/related", "1"},
          {"/diagnostics/0/related/0/where", ""},
          {"/diagnostics/0/related/0/note", ""},
          {"/diagnostics/0/related/0/note", "1"}};
}

BadFields bad_resources() {
  BadFields fields{{"/resources", ""},
                   {"/resources", "1"},
                   {"/resources/0", "[]"},
                   {"/resources/0/attributes", ""},
                   {"/resources/0/attributes", "1"},
                   {"/resources/0/attributes/0/name", ""},
                   {"/resources/0/attributes/0/name", "1"},
                   {"/resources/0/attributes/0/now", ""},
                   {"/resources/0/attributes/0/now", "{}"},
                   {"/resources/0/attributes/0/wanted", ""},
                   {"/resources/0/attributes/0/wanted", "1.5"},
                   {"/resources/0/attributes/0/origin", ""},
                   {"/resources/0/attributes/0/origin", "1"},
                   {"/resources/0/instance", "7"},
                   {"/resources/0/there", "\"yes\""},
                   {"/resources/0/follows", "1"},
                   {"/resources/0/waits", "1"},
                   {"/drifted", "1"},
                   {"/drifted/0/kind", ""}};
  for (const auto* field : {"kind", "id", "label", "status", "reason"}) {
    fields.push_back({std::string("/resources/0/") + field, ""});
    fields.push_back({std::string("/resources/0/") + field, "1"});
  }
  return fields;
}

BadFields bad_report() {
  BadFields fields = joined(bad_changes(), joined(bad_result(), bad_resources()));
  for (const auto* list :
       {"/notes", "/left_over", "/damage", "/rollbacks", "/deadlines", "/resources/0/warnings"})
    fields = joined(std::move(fields), bad_texts(list));
  for (const auto* list : {"/notes", "/left_over", "/resources/0/warnings"}) fields.push_back({list, ""});
  return fields;
}

TEST(Reports, WithAWrongFieldAreRefused) {
  const auto valid = report_json(full_report()).dump();
  for (const auto& bad : bad_report()) {
    if (bad.at == "/changes/0/given_back") continue;  // of a journal
    const auto read = report_from(with_field(valid, bad));
    ASSERT_FALSE(read) << bad.at << " = " << bad.value;
    EXPECT_EQ(read.error().code, base::Code::kInvalid);
    EXPECT_THAT(read.error().message, HasSubstr("the report is invalid: ")) << bad.at;
  }
}

TEST(Reports, OfAnotherSchemaAreRefused) {
  const auto valid = report_json(full_report()).dump();
  for (const auto* other : {"\"rdma-configd.report/2\"", "\"\"", "1", "null"}) {
    const auto read = report_from(with_field(valid, {"/schema", other}));
    ASSERT_FALSE(read) << other;
    EXPECT_EQ(read.error().message, "the report has a schema that this program does not read");
  }
  for (const auto* text : {"", "{", "[]", "1", "{}", "\xff"}) EXPECT_FALSE(report_from(text)) << text;
}

}  // namespace
}  // namespace rdmacfg::core
