// SPDX-License-Identifier: Apache-2.0
// Records of ours that are damaged, truncated, empty, lost or of another version, at each way in: the host is
// configured all the same, nothing that is not known as ours is removed, and the host is DEGRADED.
#include <cerrno>

#include "catalog/all.hpp"
#include "contract/commit_host.hpp"
#include "store/damage.hpp"
#include "store/state.hpp"

namespace rdmacfg::contract {
namespace {

const core::GenerationPaths kPaths;
const core::Paths kStatePaths;

const std::vector<std::string> kDamages{"", "{", "[]", "null", "\"x\"", "{\"schema\":99}", "{\"schema\":1}"};

std::vector<std::string> records() {
  return {kStatePaths.state,      kStatePaths.journal, kPaths.ledger,           kPaths.backup,
          kPaths.rollback_record, kPaths.suspended,    kPaths.texts + "/2.json"};
}

std::unique_ptr<Host> second_active() {
  auto host = std::make_unique<Host>(two_ports());
  EXPECT_TRUE(applied(host->commit(kFirst)));
  EXPECT_TRUE(applied(host->commit(kSecond)));
  return host;
}

std::vector<std::string> why_degraded(Host& host) {
  auto ports = host.kernel().host();
  return core::degraded(ports.files);
}

TEST(Damaged, TheDaemonHoldsTheHostAllTheSame) {
  for (const auto& record : records()) {
    for (const auto& text : kDamages) {
      SCOPED_TRACE(record + ": " + text);
      auto host = second_active();
      const auto wanted = host->dump();
      host->kernel().files.content[record] = text;
      host->kernel().set_mtu("ib0", 2044);
      const auto report = host->hold();
      EXPECT_TRUE(applied(report)) << text_of(report);
      EXPECT_EQ(difference(host->dump(), wanted), "");
      EXPECT_EQ(host->ledger().active, 2U);
      if (record == kPaths.backup) continue;  // it is only written again
      EXPECT_FALSE(why_degraded(*host).empty());
      EXPECT_TRUE(host->kernel().files.content.contains(record + ".damaged-1"));
      EXPECT_FALSE(report.notes.empty());
      EXPECT_TRUE(applied(host->hold()));
      EXPECT_TRUE(applied(host->expire()));
      EXPECT_FALSE(why_degraded(*host).empty()) << "nobody has seen to it";
      const auto looked = host->with([](core::Context& context) {
        return core::look({.who = "", .what = "show", .host_name = "node1"}, context);
      });
      EXPECT_TRUE(model::has_note(looked.notes, model::Note::Sort::kDamage));
      const auto apply = host->commit(kSecond);
      EXPECT_TRUE(applied(apply)) << text_of(apply);
      EXPECT_TRUE(why_degraded(*host).empty()) << "an administrator's apply has succeeded";
    }
  }
}

TEST(Damaged, ALookTellsOfALedgerThatCannotBeUsed) {
  for (const bool copied : {true, false}) {
    for (const bool held : {false, true}) {
      SCOPED_TRACE(fmt::format("copy: {}, held before: {}", copied, held));
      auto host = second_active();
      auto& content = host->kernel().files.content;
      content[kPaths.ledger] = "{";
      if (!copied) content[kPaths.backup] = "{";
      if (held) (void)host->hold();
      const auto looked = host->with([](core::Context& context) {
        return core::look({.who = "", .what = "show", .host_name = "node1"}, context);
      });
      EXPECT_TRUE(model::has_note(looked.notes, model::Note::Sort::kDamage)) << text_of(looked);
      EXPECT_EQ(looked.resources.empty(), !copied) << text_of(looked);
    }
  }
}

TEST(Damaged, AFileInThePlaceOfTheFolderOfTexts) {
  for (const bool by_itself : {false, true}) {
    auto host = second_active();
    const auto wanted = host->dump();
    auto& content = host->kernel().files.content;
    std::erase_if(content, [](const auto& file) { return file.first.starts_with(kPaths.texts + "/"); });
    content[kPaths.texts] = "";
    host->kernel().set_mtu("ib0", 2044);
    const auto report = by_itself ? host->hold() : host->commit(kSecond);
    EXPECT_TRUE(applied(report)) << text_of(report);
    EXPECT_EQ(difference(host->dump(), wanted), "");
    EXPECT_EQ(host->ledger().active, 2U);
    EXPECT_EQ(content.count(kPaths.texts), 0U);
    EXPECT_EQ(content.count(kPaths.texts + "/2.json"), 1U) << "of the copy";
    EXPECT_TRUE(content.contains(kPaths.texts + ".damaged-1"));
  }
}

TEST(Damaged, AnApplyWorks) {
  for (const auto& record : records()) {
    for (const auto& text : kDamages) {
      for (const bool by_itself : {false, true}) {
        SCOPED_TRACE(fmt::format("{}: {}, by itself: {}", record, text, by_itself));
        auto host = second_active();
        const auto wanted = host->dump();
        host->kernel().files.content[record] = text;
        host->kernel().set_mtu("ib0", 2044);
        const auto report = by_itself ? host->commit_by_itself(kSecond) : host->commit(kSecond);
        EXPECT_TRUE(applied(report)) << text_of(report);
        EXPECT_EQ(difference(host->dump(), wanted), "");
      }
    }
  }
}

TEST(Damaged, AnExpiryTakesBackWhateverElseIsDamagedOrGone) {
  for (const bool gone : {false, true}) {
    Host host(two_ports());
    ASSERT_TRUE(applied(host.commit(kFirst)));
    const auto before = host.dump();
    ASSERT_TRUE(applied(host.commit(kSecond, kWithin)));
    for (const auto& record : records()) {
      if (record == kPaths.rollback_record) continue;
      if (gone) host.kernel().files.content.erase(record);
      if (!gone) host.kernel().files.content[record] = "{";
    }
    host.pass(2 * kWithin);
    const auto report = host.expire();
    EXPECT_TRUE(applied(report)) << text_of(report);
    EXPECT_EQ(difference(host.dump(), before), "");
    EXPECT_EQ(host.ledger().active, 1U);
    EXPECT_FALSE(host.ledger().unconfirmed);
  }
}

TEST(Damaged, WhatIsNotKnownAsOursStays) {
  Host host(two_ports());
  const std::string port = "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n";
  ASSERT_TRUE(applied(host.commit(port + "[[ipoib.pkey]]\npkey = 0x8002\n")));
  const auto with_child = host.dump();
  host.kernel().files.content[kStatePaths.state] = "{";
  ASSERT_TRUE(applied(host.commit_by_itself(port)));
  EXPECT_EQ(difference(host.dump(), with_child), "");
}

TEST(Damaged, ALedgerThatIsMissingIsNotSaidToBeSetAside) {
  auto host = second_active();
  host->kernel().files.content.erase(kPaths.ledger);
  const auto report = host->hold();
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(host->ledger().active, 2U);
  EXPECT_EQ(why_degraded(*host), (std::vector<std::string>{kPaths.ledger + ": missing; its copy is used"}));
}

/// Gives a key of a record another number.
void put_number(std::string& record, const std::string& key, const std::string& number) {
  const auto at = record.find("\"" + key + "\": ");
  ASSERT_NE(at, std::string::npos) << key << " in " << record;
  record.replace(at, record.find_first_of(",\n", at) - at, "\"" + key + "\": " + number);
}

TEST(Damaged, NumbersThatNobodyCanCountOnFrom) {
  for (const auto* number : {"-1", "18446744073709551615"}) {
    SCOPED_TRACE(number);
    auto host = second_active();
    put_number(host->kernel().files.content[kPaths.ledger], "transaction", number);
    EXPECT_TRUE(applied(host->hold()));
    EXPECT_TRUE(host->kernel().files.content.contains(kPaths.ledger + ".damaged-1"));
    EXPECT_EQ(host->ledger().active, 2U);
  }
}

TEST(Damaged, ADeadlineThatIsNoTime) {
  for (const auto* number : {"-9223372036854775808", "9223372036854775807"}) {
    SCOPED_TRACE(number);
    Host host(two_ports());
    ASSERT_TRUE(applied(host.commit(kFirst)));
    ASSERT_TRUE(applied(host.commit(kSecond, kWithin)));
    put_number(host.kernel().files.content[kPaths.ledger], "deadline_ms", number);
    host.pass(2 * kWithin);
    EXPECT_TRUE(applied(host.expire()));
    EXPECT_EQ(host.ledger().active, 1U) << "as the copy says";
  }
}

/// The log has it then, as no record does.
TEST(Damaged, ADiskThatTakesNoReasonIsSaid) {
  auto host = second_active();
  host->kernel().files.content[kStatePaths.state] = "{";
  host->kernel().faults.refuse("degraded.json: write", ENOSPC);
  const auto report = host->hold();
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_TRUE(why_degraded(*host).empty());
  EXPECT_TRUE(std::any_of(report.notes.begin(), report.notes.end(), [](const auto& note) {
    return note.sort == model::Note::Sort::kDamage && note.text.find("degraded.json") != std::string::npos;
  })) << text_of(report);
}

TEST(Damaged, AFewAreKept) {
  auto host = second_active();
  for (int time = 0; time < 6; ++time) {
    host->kernel().files.content[kStatePaths.state] = fmt::format("damage {}", time);
    ASSERT_TRUE(applied(host->hold()));
  }
  auto& content = host->kernel().files.content;
  EXPECT_EQ(content[kStatePaths.state + ".damaged-1"], "damage 5");
  EXPECT_EQ(content[kStatePaths.state + ".damaged-3"], "damage 3");
  EXPECT_FALSE(content.contains(kStatePaths.state + ".damaged-4"));
}

/// Kinds of a newer version, and ids that no kind makes: left out, and nothing crashes.
TEST(Damaged, KeysThatAreNotUnderstood) {
  std::vector<std::string> kinds{"of_tomorrow"};
  for (const auto* kind : kinds::all_kinds()) kinds.emplace_back(kind->name());
  for (const auto& kind : kinds) {
    for (const auto* id : {"", "x", "/", "net/ipv4", " ", "a b", "0x8002", "#"}) {
      SCOPED_TRACE(kind + " \"" + id + "\"");
      const auto change = fmt::format(
          R"({{"kind":"{}","id":"{}","label":"x","operation":"update","before":{{}},"after":{{}},"fields":["value"]}})",
          kind, id);
      const auto record = fmt::format(R"({{"kind":"{}","id":"{}","created":true}})", kind, id);
      const auto state = fmt::format(R"({{"schema":1,"records":[{}]}})", record);
      Host host(two_ports());
      ASSERT_TRUE(applied(host.commit(kFirst)));
      auto& content = host.kernel().files.content;
      content[kStatePaths.state] = state;
      content[kStatePaths.journal] = fmt::format(R"({{"schema":1,"boot_id":"{}","changes":[{}]}})",
                                                 host.kernel().host().boot_id, change);
      (void)host.hold();
      const auto second = host.commit(kSecond, kWithin);
      EXPECT_TRUE(applied(second)) << text_of(second);
      content[kPaths.rollback_record] =
          fmt::format(R"({{"schema":1,"boot_id":"{}","changes":[{}],"before":{}}})",
                      host.kernel().host().boot_id, change, state);
      host.pass(2 * kWithin);
      (void)host.expire();
      EXPECT_FALSE(host.ledger().unconfirmed);
    }
  }
}

/// The second look at a record, after one that failed, tells of them, too.
TEST(Damaged, AReadThatFailsOnceHidesNoKeyOfANewerVersion) {
  const std::string state = R"({"schema":1,"records":[{"kind":"of_tomorrow","id":"x","created":true}]})";
  for (const auto& record : {kStatePaths.state, kStatePaths.journal}) {
    SCOPED_TRACE(record);
    Host host(two_ports());
    ASSERT_TRUE(applied(host.commit(kFirst)));
    auto& files = host.kernel().files;
    files.content[record] =
        record == kStatePaths.state
            ? state
            : fmt::format(
                  R"({{"schema":1,"boot_id":"{}","changes":[{{"kind":"of_tomorrow","id":"x","label":"x","operation":"update","before":{{}},"after":{{}},"fields":["value"]}}]}})",
                  host.kernel().host().boot_id);
    files.next_read[record] = EIO;
    const auto report = host.hold();
    EXPECT_TRUE(applied(report)) << text_of(report);
    EXPECT_TRUE(files.next_read.empty()) << "nobody has read it";
    EXPECT_FALSE(why_degraded(host).empty());
    EXPECT_TRUE(files.content.contains(record + ".damaged-1"));
  }
}

/// The folder has all records. Without them nothing is removed.
TEST(Damaged, AFileInThePlaceOfTheFolderOfRecords) {
  const std::string folder = "/var/lib/rdma-configd";
  auto host = second_active();
  auto& content = host->kernel().files.content;
  std::erase_if(content, [&](const auto& file) { return file.first.starts_with(folder + "/"); });
  content[folder] = "";
  host->kernel().set_mtu("ib0", 2044);
  const auto report = host->commit_by_itself(kSecond);
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_NE(host->dump().find("mtu 4092"), std::string::npos);
  EXPECT_EQ(host->ledger().active, 1U);
  EXPECT_EQ(content.count(folder), 0U);
  EXPECT_TRUE(content.contains(folder + ".damaged-1"));
  EXPECT_FALSE(why_degraded(*host).empty());
}

/// The next apply sets the record aside, uses state.json and makes the same removals.
TEST(Damaged, ADiffWithADamagedRecordOfHoldsShowsRemovals) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(std::string(kFirst) + "[[ipoib.pkey]]\npkey = 0x8002\n")));
  host.kernel().files.content[kStatePaths.held] = "{";
  auto ports = host.kernel().host();
  const auto report = core::diff(document_of(kFirst, host.name), ports);
  EXPECT_EQ(report.exit, Exit::kDiffers) << text_of(report);
  ASSERT_EQ(report.plan.changes.size(), 1U);
  EXPECT_EQ(report.plan.changes[0].operation, model::Operation::kDelete);
  EXPECT_FALSE(report.notes.empty());
}

/// The next apply starts from the state in the journal and makes the same removals.
TEST(Damaged, ADiffWithADamagedStateUsesTheJournal) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(std::string(kFirst) + "[[ipoib.pkey]]\npkey = 0x8002\n")));
  auto ports = host.kernel().host();
  const auto known = core::load_state(ports.files, kStatePaths.state);
  ASSERT_TRUE(known);
  ASSERT_TRUE(core::write_journal(ports.files, kStatePaths.journal,
                                  {.boot_id = ports.boot_id, .plan = {}, .before = *known}));
  host.kernel().files.content[kStatePaths.state] = "{";
  const auto diff = core::diff(document_of(kFirst, host.name), ports);
  EXPECT_EQ(diff.exit, Exit::kDiffers) << text_of(diff);
  const auto apply = host.commit(kFirst);
  EXPECT_TRUE(applied(apply)) << text_of(apply);
  for (const auto* report : {&diff, &apply}) {
    ASSERT_EQ(report->plan.changes.size(), 1U) << text_of(*report);
    EXPECT_EQ(report->plan.changes[0].operation, model::Operation::kDelete);
  }
}

}  // namespace
}  // namespace rdmacfg::contract
