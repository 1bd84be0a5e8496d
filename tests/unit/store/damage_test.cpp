// SPDX-License-Identifier: Apache-2.0
// Folders and links in the place of records: nobody must delete anything of ours by hand.
#include "store/damage.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "fakes/memory_files.hpp"
#include "store/generations.hpp"
#include "system/linux/linux_host.hpp"
#include "unit/system/temp_tree.hpp"

namespace rdmacfg::core {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class DamageTest : public ::testing::Test {
 protected:
  /// A folder with something in it, which rename(2) does not replace.
  void put_folder(const std::string& path) const { tree.put(path + "/inside", ""); }

  system::TempTree tree;
  std::unique_ptr<system::Files> files = system::make_linux_files(tree.path());
  const GenerationPaths paths{};
};

TEST_F(DamageTest, AFolderInThePlaceOfTheReasonsDoesNotKeepAHostDegraded) {
  put_folder(kDegradedFile);
  EXPECT_EQ(degraded(*files).size(), 1U);
  EXPECT_TRUE(clear_degraded(*files));
  EXPECT_THAT(degraded(*files), IsEmpty());
  put_folder(kDegradedFile);
  EXPECT_THAT(degrade(*files, {"state.json: damaged"}), ElementsAre("state.json: damaged"));
  EXPECT_THAT(degraded(*files), Contains("state.json: damaged"));
  EXPECT_TRUE(clear_degraded(*files));
  EXPECT_THAT(degraded(*files), IsEmpty());
  EXPECT_TRUE(clear_degraded(*files)) << "nothing is there";
}

TEST_F(DamageTest, AFolderInThePlaceOfTheCopyIsSetAside) {
  Ledger ledger;
  ledger.transaction = 1;
  put_folder(paths.backup);
  EXPECT_TRUE(save_backup(*files, paths, ledger));
  EXPECT_TRUE(std::filesystem::is_regular_file(tree.at(paths.backup)));
  std::filesystem::remove(tree.at(paths.backup));
  tree.link(paths.backup, "elsewhere");
  EXPECT_TRUE(save_backup(*files, paths, ledger));
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(tree.at(paths.backup))));
}

TEST(Degrade, SaysThatNobodyWillKnow) {
  fakes::Faults faults;
  fakes::MemoryFiles full(faults);
  faults.refuse("degraded.json: write", ENOSPC);
  const auto reasons = degrade(full, {"state.json: damaged"});
  EXPECT_THAT(reasons, ElementsAre("state.json: damaged", HasSubstr(kDegradedFile)));
  EXPECT_THAT(degrade(full, {}), IsEmpty());
  model::Report report;
  tell_damage(full, {"state.json: damaged"}, report);
  EXPECT_EQ(report.notes, model::notes_about(model::Note::Sort::kDamage, reasons));
  EXPECT_EQ(report.exit, model::Exit::kOk) << "the host is as asked for";
}

TEST(Degrade, IsKnownUntilTheNextBootWhereVarCannotBeWritten) {
  fakes::Faults faults;
  fakes::MemoryFiles full(faults);
  faults.refuse(kDegradedFile, EROFS);
  EXPECT_THAT(degrade(full, {"state.json: damaged"}), ElementsAre("state.json: damaged"));
  EXPECT_THAT(degrade(full, {"state.json: damaged"}), ElementsAre("state.json: damaged"));
  EXPECT_THAT(degraded(full), ElementsAre("state.json: damaged"));
  faults.clear();
  EXPECT_THAT(degrade(full, {"journal.json: damaged"}), ElementsAre("journal.json: damaged"));
  EXPECT_THAT(degraded(full), ElementsAre("state.json: damaged", "journal.json: damaged"));
  EXPECT_TRUE(clear_degraded(full));
  EXPECT_THAT(degraded(full), IsEmpty());
  EXPECT_THAT(full.content, IsEmpty());
}

TEST(Degrade, EndsWithWhatVarCanTakeAgain) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  EXPECT_FALSE(has_unwritten(files));
  EXPECT_TRUE(clear_unwritten(files));
  model::Report report;
  for (int time = 0; time < 2; ++time) tell_unwritten(files, "state.json: full", report);
  EXPECT_EQ(report.notes.size(), 2U) << "each report says so";
  EXPECT_TRUE(has_unwritten(files));
  EXPECT_THAT(degraded(files), ElementsAre("state.json: full"));
  EXPECT_THAT(degrade(files, {"journal.json: damaged"}), ElementsAre("journal.json: damaged"));
  EXPECT_THAT(degraded(files), ElementsAre("journal.json: damaged", "state.json: full"));
  EXPECT_TRUE(clear_unwritten(files));
  EXPECT_THAT(degraded(files), ElementsAre("journal.json: damaged")) << "that one is an administrator's";
  tell_unwritten(files, "state.json: full", report);
  EXPECT_TRUE(clear_degraded(files));
  EXPECT_THAT(degraded(files), ElementsAre("state.json: full")) << "it still waits for /var";
  EXPECT_TRUE(clear_unwritten(files));
  EXPECT_THAT(degraded(files), IsEmpty());
}

TEST(Degrade, NamesTheRemedyForVar) {
  const auto after = [](int err) { return until_written(base::errno_error(err, "state.json: write")); };
  EXPECT_EQ(after(EROFS), "remount /var writable and restart rdma-configd, which then records it");
  for (const int err : {ENOSPC, EDQUOT})
    EXPECT_EQ(after(err), "free space on /var; the daemon then records it");
  EXPECT_EQ(after(EIO),
            "repair /var; the daemon then records it (if you remounted /var, restart the daemon)");
}

/// The JSON library quotes it: a private document would be in the log, and in what readers are shown.
TEST(Damage, IsToldWithoutTheRecord) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  const GenerationPaths paths;
  for (const auto* text : {"{\"schema\":1,\"files\":[{\"name\":\"a\",\"text\":\"secret", "{\"schema\":secret",
                           "{\"schema\":1,\"files\":[1e123456]}"}) {
    files.content[paths.texts + "/1.json"] = text;
    const auto read = load_texts(files, paths.texts, 1);
    ASSERT_FALSE(read) << text;
    EXPECT_TRUE(is_damage(read.error())) << text;
    EXPECT_THAT(read.error().message,
                AllOf(HasSubstr("1.json: damaged ("), Not(HasSubstr("secret")), Not(HasSubstr("123456"))));
  }
}

TEST(Narrow, NamesWhatEverybodyStillReads) {
  fakes::Faults faults;
  fakes::MemoryFiles open(faults);
  const GenerationPaths paths;
  const auto text = paths.texts + "/1.json";
  for (const auto& path : {paths.ledger, text}) {
    open.content[path] = "{}";
    open.access[path] = "mode 0644";
  }
  faults.refuse(text + ": write", EROFS);
  EXPECT_THAT(narrow(open, paths), ElementsAre(HasSubstr(text)));
  EXPECT_TRUE(open.hidden(paths.ledger)) << "one that fails keeps no other as it is";
  EXPECT_FALSE(open.hidden(text));
  faults.clear();
  EXPECT_THAT(narrow(open, paths), IsEmpty());
  EXPECT_TRUE(open.hidden(text));
  faults.clear();
  EXPECT_THAT(narrow(open, paths), IsEmpty());
  EXPECT_EQ(faults.calls(), 0U) << "nothing is left to do";
}

TEST(RemoveTexts, NamesWhatStays) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  const GenerationPaths paths;
  for (const auto* name : {"/1.json", "/2.json", "/3.json"}) files.content[paths.texts + name] = "{}";
  faults.refuse("/2.json: remove", EROFS);
  EXPECT_THAT(remove_texts(files, paths, {1, 2, 3}), ElementsAre(HasSubstr("generation 2")));
  EXPECT_EQ(files.content.size(), 1U);
}

TEST_F(DamageTest, HoweverManyFoldersWereSetAside) {
  for (int i = 0; i < 2 * kDamagedKept; ++i) {
    put_folder(paths.rollback_record);
    put_aside(*files, paths.rollback_record, {base::Code::kIo, "it is a directory", 0});
    EXPECT_FALSE(std::filesystem::exists(tree.at(paths.rollback_record))) << i;
  }
  tree.put(paths.rollback_record, "{");
  put_aside(*files, paths.rollback_record, {base::Code::kInvalid, "damaged", 0});
  EXPECT_FALSE(std::filesystem::exists(tree.at(paths.rollback_record)));
}

}  // namespace
}  // namespace rdmacfg::core
