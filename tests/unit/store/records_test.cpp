// SPDX-License-Identifier: Apache-2.0
// Records with one field that is missing, of another type, or that contradicts the others: none is taken.
#include <gmock/gmock.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fakes/memory_files.hpp"
#include "store/damage.hpp"
#include "store/generations.hpp"
#include "store/held_record.hpp"
#include "store/state.hpp"
#include "store/value_json.hpp"
#include "unit/store/bad_field.hpp"

namespace rdmacfg::core {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kRecordPath = "/r/1.json";

/// `load` takes the record as it is, and refuses it with each of the fields.
template <class Load>
void refuses_each(const std::string& valid, const BadFields& fields, Load load) {
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
  files.content[kRecordPath] = valid;
  const auto good = load(files);
  ASSERT_TRUE(good) << good.error().message;
  for (const auto& bad : fields) {
    SCOPED_TRACE(bad.at + " = " + bad.value);
    files.content[kRecordPath] = with_field(valid, bad);
    const auto loaded = load(files);
    EXPECT_FALSE(loaded);
    if (loaded) continue;
    EXPECT_EQ(loaded.error().code, base::Code::kInvalid);
    EXPECT_TRUE(is_damage(loaded.error())) << "it is set aside";
    EXPECT_THAT(loaded.error().message, HasSubstr(std::string(kRecordPath) + ": " + bad.why));
  }
}

constexpr const char* kRecords =
    R"([{"kind": "ipoib", "id": "g", "created": true, "instance": "boot/7", "before": {"mtu": 2044},
    "managed": ["mtu"], "limits": {"mtu": {"wanted": 4092, "got": 2044, "reason": "the group's"}}}])";

BadFields bad_records() {
  BadFields out{{"/records", ""},
                {"/records", "1"},
                {"/records", "{}"},
                {"/records", "null"},
                {"/records", "\"x\""},
                {"/records/0", "1"},
                {"/records/0", "[]"},
                {"/records/0", "null"},
                {"/records/0/kind", ""},
                {"/records/0/kind", "1"},
                {"/records/0/kind", "null"},
                {"/records/0/id", ""},
                {"/records/0/id", "1"},
                {"/records/0/id", "[\"g\"]"},
                {"/records/0/created", "1"},
                {"/records/0/created", "\"true\""},
                {"/records/0/created", "null"},
                {"/records/0/instance", "7"},
                {"/records/0/instance", "null"},
                {"/records/0/limits", "1"},
                {"/records/0/limits", "[]"},
                {"/records/0/limits", "\"x\""},
                {"/records/0/limits/mtu", "1"},
                {"/records/0/limits/mtu", "[]"},
                {"/records/0/limits/mtu/wanted", ""},
                {"/records/0/limits/mtu/wanted", "{}"},
                {"/records/0/limits/mtu/got", ""},
                {"/records/0/limits/mtu/got", "1.5"},
                {"/records/0/limits/mtu/reason", ""},
                {"/records/0/limits/mtu/reason", "1"},
                {"/records/0/limits/mtu/reason", "null"}};
  out = joined(std::move(out), bad_attributes("/records/0/before"));
  return joined(std::move(out), bad_texts("/records/0/managed"));
}

BadFields bad_schema() {
  return {
      {"/schema", ""},
      {"/schema", "\"1\""},
      {"/schema", "null"},
      {"/schema", "[1]"},
      {"/schema", "1.0", "damaged (a number is not whole)"},
      {"/schema", "184467440737095516151", "damaged (a number is not whole)"},
      {"/schema", "true", "damaged (the schema is not a number)"},
      {"/schema", "4294967297",
       "schema 4294967297, this program reads 1; it was written by another version of rdma-configd"},
      {"/schema", "18446744073709551615",
       "schema 18446744073709551615, this program reads 1; it was written by another version of "
       "rdma-configd"},
      {"/schema", "0", "schema 0, this program reads 1; it was written by another version of rdma-configd"},
      {"/schema", "2", "schema 2, this program reads 1; it was written by another version of rdma-configd"}};
}

TEST(Records, OfAStateAreTakenWhole) {
  refuses_each(std::string(R"({"schema": 1, "records": )") + kRecords + "}",
               joined(bad_schema(), bad_records()),
               [](system::Files& files) { return load_state(files, kRecordPath); });
}

// Fields that say nothing may be missing (save_state() leaves them out).
TEST(Records, OfAStateMayLeaveOutWhatSaysNothing) {
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
  for (const auto* field : {"created", "instance", "before", "managed", "limits"}) {
    auto json = OrderedJson::parse(std::string(R"({"schema": 1, "records": )") + kRecords + "}");
    json.at("records").at(0).erase(field);
    files.content[kRecordPath] = json.dump();
    const auto loaded = load_state(files, kRecordPath);
    ASSERT_TRUE(loaded) << field << ": " << loaded.error().message;
    EXPECT_EQ(loaded->records.size(), 1U) << field;
  }
}

// Keys that no kind of this program has, and ids that would be read as something else where they are written.
TEST(Records, AKeyIsUnderstoodOrLeftOut) {
  const model::Key good{"ipoib", "00:02:c9:03:00:31:78:f2"};
  EXPECT_TRUE(is_understood(good));
  for (const auto& [kind, id] :
       std::vector<std::pair<std::string, std::string>>{{"", "x"},
                                                        {"of_tomorrow", "x"},
                                                        {"IPOIB", "x"},
                                                        {"ipoib", ""},
                                                        {"ipoib", "#x"},
                                                        {"ipoib", ";x"},
                                                        {"ipoib", "\"x"},
                                                        {"ipoib", "'x"},
                                                        {"ipoib", " x"},
                                                        {"ipoib", "a\nb"},
                                                        {"ipoib", "a\tb"},
                                                        {"ipoib", std::string("a\0b", 3)},
                                                        {"ipoib", "a\x7f"}})
    EXPECT_FALSE(is_understood({kind, id})) << ::testing::PrintToString(kind + '/' + id);
}

constexpr const char* kKeptChange =
    R"({"kind": "ipoib", "id": "g", "label": "ib0", "operation": "update", "before": {"mtu": 2044},
    "after": {"mtu": 4092}, "fields": ["mtu"], "needs": [{"kind": "pkey", "id": "x"}], "beside": ["boot/8"],
    "effect": "now", "interrupts": ["x"], "interrupts_later": ["y"], "returned": "r", "overruled": ["mtu"], "footing": "f",
    "carried": ["c"], "given_back": ["mode"]})";

TEST(Records, OfAJournalAreTakenWhole) {
  auto fields = joined(bad_schema(), bad_changes());
  fields = joined(std::move(fields), below("/before", bad_records()));
  fields = joined(std::move(fields), {{"/boot_id", ""},
                                      {"/boot_id", "1"},
                                      {"/boot_id", "null"},
                                      {"/transaction", "\"3\""},
                                      {"/transaction", "null"},
                                      {"/transaction", "true", "damaged (a value is not a number)"},
                                      {"/before", "1"},
                                      {"/before", "[]"}});
  refuses_each(std::string(R"({"schema": 1, "transaction": 3, "boot_id": "b", "changes": [)") + kKeptChange +
                   R"(], "before": {"records": )" + kRecords + "}}",
               fields, [](system::Files& files) { return load_journal(files, kRecordPath); });
}

TEST(Records, OfAHoldAreTakenWhole) {
  auto fields = joined(bad_schema(), bad_changes());
  fields = joined(std::move(fields), below("/before", bad_records()));
  fields = joined(std::move(fields), below("/on_disk", bad_records()));
  fields = joined(std::move(fields), {{"/boot_id", ""},
                                      {"/boot_id", "1"},
                                      {"/over", ""},
                                      {"/over", "1"},
                                      {"/over", "null"},
                                      {"/before", ""},
                                      {"/before", "[]"},
                                      {"/on_disk", ""},
                                      {"/on_disk", "1"}});
  Paths paths;
  paths.held = kRecordPath;
  refuses_each(std::string(R"({"schema": 1, "boot_id": "b", "over": false, "changes": [)") + kKeptChange +
                   R"(], "before": {"records": )" + kRecords + R"(}, "on_disk": {"records": )" + kRecords +
                   "}}",
               fields, [&](system::Files& files) { return load_held_record(files, paths, "b"); });
}

TEST(OpenJournal, IsNotHiddenByAReadThatFailsOnce) {
  const Paths paths;
  for (const auto& path : {paths.journal, paths.held}) {
    SCOPED_TRACE(path);
    fakes::Faults faults;
    fakes::MemoryFiles files{faults};
    ASSERT_TRUE(write_journal(files, paths.journal, {.boot_id = "b", .plan = {}}));
    files.next_read[path] = EIO;
    const auto open = load_open_journal(files, paths, "b");
    ASSERT_TRUE(open) << open.error().message;
    EXPECT_TRUE(*open);
    EXPECT_TRUE(files.next_read.empty());
  }
}

constexpr const char* kGenerationsText =
    R"("transaction": 5, "active": 1, "refused": ["d2"], "answered": "a", "generations": [
    {"number": 1, "digest": "d1", "when": "w", "who": "root", "what": "apply", "fate": "", "why": ""},
    {"number": 2, "digest": "d2", "when": "w", "who": "root", "what": "apply", "fate": "", "why": ""}],
    "unconfirmed": {"generation": 2, "previous": 1, "boot_id": "b", "deadline_ms": 1000, "deadline": "d",
    "complete": true})";

BadFields bad_ledger() {
  const std::string ascend = "damaged (the numbers of generations do not ascend)";
  const std::string large = "damaged (a number is too large)";
  const std::string small = "damaged (a number is too small)";
  const std::string no_number = "damaged (a value is not a number)";
  const std::string active = "damaged (the active generation is missing)";
  const std::string waits = "damaged (the unconfirmed generation is missing)";
  const std::string deadline = "damaged (the deadline is not a time)";
  BadFields out{{"/active", ""},
                {"/active", "\"1\""},
                {"/active", "null"},
                {"/active", "3", active},
                {"/active", "-1", small},
                {"/active", "true", no_number},
                {"/transaction", "\"5\""},
                {"/transaction", "9007199254740993", large},
                {"/transaction", "-1", small},
                {"/transaction", "true", no_number},
                {"/generations", ""},
                {"/generations", "1"},
                {"/generations", "\"x\""},
                {"/generations/0", "1"},
                {"/generations/0/number", "true", no_number},
                {"/generations/0/number", "0", ascend},
                {"/generations/0/number", "2", ascend},
                {"/generations/0/number", "3", ascend},
                {"/generations/1/number", "1", ascend},
                {"/generations/1/number", "9007199254740993", large},
                {"/generations/1/number", "-1", small},
                {"/generations/0/why", "1"},
                {"/refused", ""},
                {"/unconfirmed", ""},
                {"/unconfirmed", "1"},
                {"/unconfirmed", "[]"},
                {"/unconfirmed", "{}"},
                {"/unconfirmed/generation", "0", waits},
                {"/unconfirmed/generation", "3", waits},
                {"/unconfirmed/generation", "-1", small},
                {"/unconfirmed/generation", "true", no_number},
                {"/unconfirmed/previous", "3", waits},
                {"/unconfirmed/previous", "-1", small},
                {"/unconfirmed/deadline_ms", "-1", deadline},
                {"/unconfirmed/deadline_ms", "true", no_number},
                {"/unconfirmed/deadline_ms", "9007199254740993", deadline},
                {"/unconfirmed/complete", "1"},
                {"/unconfirmed/complete", "null"},
                {"/answered", "1"}};
  for (const auto* field : {"number", "digest", "when", "who", "what", "fate"}) {
    out.push_back({std::string("/generations/0/") + field, ""});
    out.push_back({std::string("/generations/0/") + field, "null"});
    out.push_back({std::string("/generations/0/") + field, "[]"});
  }
  for (const auto* field : {"generation", "previous", "boot_id", "deadline_ms", "deadline"}) {
    out.push_back({std::string("/unconfirmed/") + field, ""});
    out.push_back({std::string("/unconfirmed/") + field, "null"});
    out.push_back({std::string("/unconfirmed/") + field, "{}"});
  }
  return joined(std::move(out), bad_texts("/refused"));
}

TEST(Records, OfALedgerAreTakenWhole) {
  refuses_each(std::string(R"({"schema": 1, )") + kGenerationsText + "}", joined(bad_schema(), bad_ledger()),
               [](system::Files& files) { return load_ledger(files, kRecordPath); });
}

BadFields bad_files() {
  return {{"/files", ""},
          {"/files", "1"},
          {"/files", "[1]"},
          {"/files", "\"x\""},
          {"/files/0/name", ""},
          {"/files/0/name", "1"},
          {"/files/0/text", ""},
          {"/files/0/text", "[]"},
          {"/files/0/private", "1"},
          {"/files/0/private", "\"no\""},
          {"/host", "1"},
          {"/host", "null"},
          {"/of_others", "1"},
          {"/of_others", "\"no\""}};
}

constexpr const char* kFilesText =
    R"("files": [{"name": "/etc/rdma-configd/config.toml", "text": "version = 1\n", "private": true}],
    "host": "node1", "of_others": false)";

TEST(Records, OfAGenerationAreTakenWhole) {
  refuses_each(std::string(R"({"schema": 1, )") + kFilesText + "}", joined(bad_schema(), bad_files()),
               [](system::Files& files) { return load_texts(files, "/r", 1); });
}

TEST(Records, OfAnUnconfirmedApplyAreTakenWhole) {
  auto fields = joined(bad_schema(), bad_changes());
  fields = joined(std::move(fields), below("/before", bad_records()));
  fields = joined(std::move(fields), below("/ledger", bad_ledger()));
  fields = joined(std::move(fields), below("/previous", bad_files()));
  fields =
      joined(std::move(fields), {{"/boot_id", ""},
                                 {"/boot_id", "1"},
                                 {"/before", ""},
                                 {"/before", "null"},
                                 {"/in_two_runs", "1"},
                                 {"/in_two_runs", "\"no\""},
                                 {"/ledger", "1"},
                                 {"/ledger/unconfirmed", "null", "damaged (nothing waits for confirmation)"},
                                 {"/previous", "1"}});
  refuses_each(std::string(R"({"schema": 1, "boot_id": "b", "in_two_runs": false, "changes": [)") +
                   kKeptChange + R"(], "before": {"records": )" + kRecords + R"(}, "ledger": {)" +
                   kGenerationsText + R"(}, "previous": {)" + kFilesText + "}}",
               fields, [](system::Files& files) { return load_rollback_record(files, kRecordPath); });
}

// Of kinds of a newer version: the rest is undone, and what is not understood is known to be missing.
TEST(Records, AnUnconfirmedApplyOfUnknownKindsIsPartial) {
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
  auto json = OrderedJson::parse(std::string(R"({"schema": 1, "boot_id": "b", "before": {"records": []},
    "changes": [)") + kKeptChange +
                                 "," + kKeptChange + "]}");
  files.content[kRecordPath] = json.dump();
  auto loaded = load_rollback_record(files, kRecordPath);
  ASSERT_TRUE(loaded && *loaded);
  EXPECT_FALSE((*loaded)->partial);
  EXPECT_EQ((*loaded)->plan.changes.size(), 2U);
  json["changes"][0]["kind"] = "of_tomorrow";
  files.content[kRecordPath] = json.dump();
  loaded = load_rollback_record(files, kRecordPath);
  ASSERT_TRUE(loaded && *loaded);
  EXPECT_TRUE((*loaded)->partial);
  EXPECT_EQ((*loaded)->plan.changes.size(), 1U);
}

TEST(Records, ReasonsOfADegradedHostThatCannotBeReadAreAReason) {
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
  for (const auto* text : {"", "{", "[]", "1", R"({"schema": 1})", R"({"schema": 2, "reasons": []})",
                           R"({"schema": 1, "reasons": 1})", R"({"schema": 1, "reasons": [1]})"}) {
    files.content[kDegradedFile] = text;
    const auto reasons = degraded(files);
    ASSERT_EQ(reasons.size(), 1U) << text;
    EXPECT_THAT(reasons.front(), HasSubstr(kDegradedFile)) << text;
  }
  files.content[kDegradedFile] = R"({"schema": 1, "reasons": []})";
  EXPECT_THAT(degraded(files), IsEmpty());
  files.unreadable.insert(kDegradedFile);
  EXPECT_THAT(degraded(files), IsEmpty()) << "others than root do not know";
}

// damage.hpp: each reason once, and at most eight.
TEST(Records, ReasonsOfADegradedHostAreFew) {
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
  EXPECT_TRUE(degrade(files, {}).empty());
  EXPECT_FALSE(files.content.contains(kDegradedFile));
  std::vector<std::string> many;
  for (int i = 0; i < 9; ++i) many.push_back("reason " + std::to_string(i));
  EXPECT_EQ(degrade(files, many), many) << "was written: no further reason";
  EXPECT_EQ(degrade(files, {"reason 5"}), std::vector<std::string>{"reason 5"});
  many.erase(many.begin());
  EXPECT_EQ(degraded(files), many) << "the newest";
}

TEST(Records, TheHistoryThatTheDaemonTellsIsTakenWhole) {
  const std::string valid = R"({"active": 2, "generations": [
    {"number": 1, "when": "w", "who": "root", "what": "apply", "fate": ""},
    {"number": 2, "when": "w", "who": "root", "what": "apply", "fate": ""}],
    "unconfirmed": {"generation": 2, "deadline_ms": 1000, "deadline": "d"}})";
  const auto good = ledger_told(valid);
  ASSERT_TRUE(good) << good.error().message;
  ASSERT_TRUE(good->unconfirmed);
  EXPECT_EQ(good->unconfirmed->previous, 1U);
  BadFields fields{{"/active", ""},       {"/active", "\"2\""},    {"/generations", ""},
                   {"/generations", "1"}, {"/generations/0", "1"}, {"/unconfirmed", ""},
                   {"/unconfirmed", "1"}, {"/unconfirmed", "{}"}};
  for (const auto* field : {"number", "when", "who", "what", "fate"}) {
    fields.push_back({std::string("/generations/0/") + field, ""});
    fields.push_back({std::string("/generations/0/") + field, "{}"});
  }
  for (const auto* number : {"-1", "true", "9007199254740993", "18446744073709551615"})
    fields.push_back({"/unconfirmed/deadline_ms", number});
  for (const auto* field : {"generation", "deadline_ms", "deadline"}) {
    fields.push_back({std::string("/unconfirmed/") + field, ""});
    fields.push_back({std::string("/unconfirmed/") + field, "[]"});
  }
  for (const auto& bad : fields) {
    const auto told = ledger_told(with_field(valid, bad));
    ASSERT_FALSE(told) << bad.at << " = " << bad.value;
    EXPECT_EQ(told.error().message, "rdma-configd returned the history in an unknown form");
  }
  EXPECT_FALSE(ledger_told(""));
  EXPECT_FALSE(ledger_told("[]"));
}

}  // namespace
}  // namespace rdmacfg::core
