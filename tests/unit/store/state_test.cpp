// SPDX-License-Identifier: Apache-2.0
#include "store/state.hpp"

#include <gtest/gtest.h>

#include "fakes/memory_files.hpp"

namespace rdmacfg::core {
namespace {

TEST(State, ComesBackAsItWasWritten) {
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
  State state;
  Record record;
  record.created = true;
  record.instance = "boot/7";
  record.before = {{"mode", std::string("datagram")}, {"mtu", std::int64_t{2044}}, {"umcast", false}};
  record.managed = {"mode"};
  record.limits["mtu"] = {std::int64_t{4092}, std::int64_t{2044}, "the group's"};
  state.records[{"pkey", "00:02:c9:03:00:31:78:f2/0x8002"}] = record;
  ASSERT_TRUE(save_state(files, "/s", state));
  const auto loaded = load_state(files, "/s");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(*loaded, state);
}

TEST(State, NoneIsEmptyAndADamagedOneIsAnError) {
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
  EXPECT_TRUE(load_state(files, "/s")->records.empty());
  for (const auto* text : {"", "{", "[]", "{\"schema\":99,\"records\":[]}", "{\"schema\":1}",
                           "{\"schema\":1,\"records\":[1]}"}) {
    ASSERT_TRUE(files.write("/s", text));
    const auto loaded = load_state(files, "/s");
    ASSERT_FALSE(loaded) << text;
    EXPECT_EQ(loaded.error().code, base::Code::kInvalid);
  }
}

TEST(State, WhatIsNotUnderstoodIsLeftOut) {
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
  ASSERT_TRUE(files.write("/s", R"({"schema":1,"records":[{"kind":"of_tomorrow","id":"x","created":true},)"
                                R"({"kind":"ipoib","id":""},{"kind":"ipoib","id":"a\nb"},)"
                                R"({"kind":"ipoib","id":"g","created":true}]})"));
  std::vector<std::string> dropped;
  const auto loaded = load_state(files, "/s", &dropped);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->records.size(), 1U);
  EXPECT_EQ(dropped.size(), 3U);
}

TEST(State, ARecordSpeaksOfOneKernelObject) {
  State state;
  state.records[{"ipoib", "g"}].instance = "boot/7";
  model::Observed observed;
  observed.key = {"ipoib", "g"};
  observed.instance = "boot/7";
  EXPECT_NE(state.of(observed), nullptr);
  observed.instance = "boot/9";
  EXPECT_EQ(state.of(observed), nullptr);
}

TEST(Journal, KeepsWhatADocumentAsksFor) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  model::Change change;
  change.key = {"ipoib", "1"};
  change.operation = model::Operation::kUpdate;
  change.fields = {"mode", "mtu"};
  change.origins["mtu"] = {"a.toml", 3, 1};
  ASSERT_TRUE(write_journal(files, "/j", {.boot_id = "boot", .plan = {{change}}}));
  const auto loaded = load_journal(files, "/j");
  ASSERT_TRUE(loaded && *loaded);
  const auto& origins = (*loaded)->plan.changes.at(0).origins;
  EXPECT_TRUE(origins.contains("mtu"));
  EXPECT_FALSE(origins.contains("mode")) << "it is only given back";
}

TEST(Journal, KeepsThePlan) {
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};
  EXPECT_FALSE(load_journal(files, "/j")->has_value());
  Journal journal{.boot_id = "boot", .plan = {}};
  model::Change change;
  change.key = {"link_name", "g"};
  change.label = "ib0";
  change.operation = model::Operation::kUpdate;
  change.before = {{"name", std::string("ib0")}, {"rule", std::monostate{}}};
  change.after = {{"name", std::string("mlx4_ib0")}, {"rule", std::string("mlx4_ib0")}};
  change.fields = {"name", "rule"};
  change.needs = {{"pkey", "x"}};
  change.siblings = {"boot/7"};
  // ISO 8859-1, and the bytes before a text that is none.
  change.before["edited"] = std::vector<std::string>{"+ # caf\xe9", "- x",
                                                     "\x01"
                                                     "bytes 41"};
  change.before["text"] = std::string("\xff\xfe");
  change.carried = {"@4 up ib0", "addr4 10.0.0.1/24", "file # caf\xe9\nx=1\n"};
  journal.plan.changes.push_back(change);
  ASSERT_TRUE(write_journal(files, "/j", journal));
  const auto loaded = load_journal(files, "/j");
  ASSERT_TRUE(loaded && *loaded);
  const auto& back = (*loaded)->plan.changes.at(0);
  EXPECT_EQ((*loaded)->boot_id, "boot");
  EXPECT_EQ(back.key, change.key);
  EXPECT_EQ(back.operation, change.operation);
  EXPECT_EQ(back.before, change.before);
  EXPECT_EQ(back.after, change.after);
  EXPECT_EQ(back.fields, change.fields);
  EXPECT_EQ(back.needs, change.needs);
  EXPECT_EQ(back.siblings, change.siblings);
  EXPECT_EQ(back.carried, change.carried);
}

}  // namespace
}  // namespace rdmacfg::core
