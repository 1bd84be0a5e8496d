// SPDX-License-Identifier: Apache-2.0
// Records of a run that cannot be written, removed or read: each is named with its path, and what follows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catalog/all.hpp"
#include "core/commit/commit.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::core {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const std::string kRecordFolder = "/var/lib/rdma-configd/";
const std::string kLedgerFile = kRecordFolder + "generations.json";
const std::string kUnconfirmedFile = kRecordFolder + "unconfirmed.json";
const std::string kFull = "No space left on device";
const std::string kReadOnly = "Read-only file system";

/// A host with one setting, whose applies are generations.
class RecordHost {
 public:
  RecordHost() { kernel.sysctl.set("net/core/somaxconn", "128"); }

  model::Report commits(int value, bool waits = false) {
    auto request = asked();
    if (waits) request.confirm = std::chrono::seconds(60);
    return commits(value, request);
  }
  /// As the daemon does after a reload.
  model::Report reloads(int value) {
    auto request = asked();
    request.by_itself = true;
    return commits(value, request);
  }
  model::Report commits(int value, const Request& request) {
    const auto text =
        "version = 1\n[[sysctl]]\nkey = \"net.core.somaxconn\"\nvalue = " + std::to_string(value) + "\n";
    return with_context([&](Context& context) {
      return commit(config::parse_texts({{.name = "config.toml", .text = text}}, "node1", kinds::grammar()),
                    request, context);
    });
  }
  model::Report confirms() {
    return with_context([&](Context& context) { return confirm(asked(), context); });
  }
  model::Report rolls_back() {
    return with_context([&](Context& context) { return roll_back(0, asked(), context); });
  }
  model::Report holds() {
    return with_context([&](Context& context) { return hold(asked(), context); });
  }

  fakes::FakeKernel kernel;
  std::int64_t now = 1000;  ///< milliseconds

 private:
  static Request asked() {
    Request request;
    request.who = "root";
    request.what = "apply";
    request.host_name = "node1";
    return request;
  }
  template <class Run>
  model::Report with_context(Run run) {
    auto host = kernel.host();
    Context context{host, {}};
    context.clock = Clock{[this] { return now; },
                          [](std::chrono::milliseconds /*ahead*/) { return std::string("later"); }};
    return run(context);
  }
};

/// "error: …", "note: …", "left: …".
std::vector<std::string> told_by(const model::Report& report) {
  std::vector<std::string> out;
  if (report.error) out.push_back("error: " + report.error->message);
  for (const auto& note : report.notes) out.push_back("note: " + note.text);
  for (const auto& left : report.left_over) out.push_back("left: " + left);
  return out;
}

/// The number of the call that writes the ledger when `run` is carried out after `prepare`.
std::size_t ledger_write(const std::function<void(RecordHost&)>& prepare,
                         const std::function<void(RecordHost&)>& run) {
  RecordHost host;
  prepare(host);
  host.kernel.faults.clear();
  run(host);
  const auto& log = host.kernel.faults.log();
  const auto at = std::find(log.begin(), log.end(), kLedgerFile + ": write");
  EXPECT_NE(at, log.end());
  return static_cast<std::size_t>(at - log.begin()) + 1;
}

void one_applied(RecordHost& host) { EXPECT_EQ(host.commits(256).exit, model::Exit::kOk); }
void two_applied(RecordHost& host) {
  one_applied(host);
  EXPECT_EQ(host.commits(512).exit, model::Exit::kOk);
}
void one_waiting(RecordHost& host) {
  one_applied(host);
  EXPECT_EQ(host.commits(512, true).exit, model::Exit::kOk);
}

struct RecordFault {
  std::string name;
  std::function<void(RecordHost&)> prepare;
  std::vector<std::pair<std::string, int>> refused;
  std::function<model::Report(RecordHost&)> run;
  std::vector<std::string> told;  ///< parts of what is told
};

model::Report commits_512(RecordHost& host) { return host.commits(512); }
model::Report waits_512(RecordHost& host) { return host.commits(512, true); }

std::vector<RecordFault> written_generations() {
  return {
      {"the copy",
       one_applied,
       {{"generations.json.bak: write", ENOSPC}},
       commits_512,
       {"note: the copy of the ledger could not be written: " + kLedgerFile + ".bak: write: " + kFull}},
      {"the copy for good",
       one_applied,
       {{"generations.json.bak", EROFS}},
       commits_512,
       {"note: the copy of the ledger could not be written: " + kLedgerFile + ".bak: write: " + kReadOnly,
        "note: the previous copy of the ledger stays, and is used if the ledger is damaged: " + kLedgerFile +
            ".bak: remove: " + kReadOnly}},
      {"the ledger",
       one_applied,
       {{"generations.json: write", ENOSPC}},
       commits_512,
       {"error: the generation could not be recorded: " + kLedgerFile + ": write: " + kFull}},
      {"the ledger, and then the text",
       one_applied,
       {{"generations.json: write", ENOSPC}, {"/generations/2.json: remove", EROFS}},
       commits_512,
       {"note: the text of a generation that was never applied could not be removed: " + kRecordFolder +
        "generations/2.json: remove: " + kReadOnly}},
      {"the ledger, and then the journal",
       one_applied,
       {{"generations.json: write", ENOSPC}, {"journal.json: remove", EROFS}},
       commits_512,
       {"note: the record of this run could not be removed: " + kRecordFolder +
        "journal.json: remove: " + kReadOnly}},
      {"the text",
       one_applied,
       {{"/generations/2.json: write", ENOSPC}},
       commits_512,
       {"error: saving the text of generation 2: " + kRecordFolder + "generations/2.json: write: " + kFull}},
  };
}

std::vector<RecordFault> written_records_of_a_run() {
  return {
      {"the journal",
       one_applied,
       {{"journal.json: write", ENOSPC}},
       commits_512,
       {"error: writing the journal: " + kRecordFolder + "journal.json: write: " + kFull}},
      {"the journal that is over",
       one_applied,
       {{"journal.json: remove", EROFS}},
       commits_512,
       {"note: the journal of this run could not be removed: " + kRecordFolder +
        "journal.json: remove: " + kReadOnly}},
      {"the rollback record",
       one_applied,
       {{"unconfirmed.json: write", ENOSPC}},
       waits_512,
       {"error: writing the rollback record: " + kUnconfirmedFile + ": write: " + kFull}},
      {"the timer",
       one_applied,
       {{"arm rdma-configd-rollback", EIO}},
       waits_512,
       {"error: arming the rollback timer: arm rdma-configd-rollback: Input/output error"}},
      {"the timer, and then the rollback record",
       one_applied,
       {{"arm rdma-configd-rollback", EIO}, {"unconfirmed.json: remove", EROFS}},
       waits_512,
       {"note: some changes could not be recorded: " + kUnconfirmedFile + ": remove: " + kReadOnly,
        "left: " + kUnconfirmedFile + ": could not be removed; the next run rolls back that apply again"}},
  };
}

std::vector<RecordFault> records_of_a_confirmation() {
  return {
      {"a confirmation",
       one_waiting,
       {{"generations.json: write", ENOSPC}},
       [](RecordHost& host) { return host.confirms(); },
       {"error: generation 2 is not confirmed: the generation could not be recorded: " + kLedgerFile +
        ": write: " + kFull}},
      {"a confirmation that leaves its record",
       one_waiting,
       {{"unconfirmed.json: remove", EROFS}},
       [](RecordHost& host) { return host.confirms(); },
       {"note: generation 2 is confirmed",
        "note: some changes could not be recorded: " + kUnconfirmedFile + ": remove: " + kReadOnly}},
      {"an apply after that",
       one_waiting,
       {{"unconfirmed.json: remove", EROFS}},
       [](RecordHost& host) {
         (void)host.confirms();
         return host.commits(512);
       },
       {"note: the record of a finished apply could not be removed: " + kUnconfirmedFile +
        ": remove: " + kReadOnly}},
      {"a rollback",
       one_waiting,
       {{"generations.json: write", ENOSPC}},
       [](RecordHost& host) { return host.rolls_back(); },
       {"error: the rollback could not be recorded: the generation could not be recorded: " + kLedgerFile +
            ": write: " + kFull,
        "left: " + kLedgerFile +
            ": generation 2 is still recorded there as unconfirmed; the next run rolls it back again"}},
  };
}

std::vector<RecordFault> damaged_records() {
  const auto with = [](void (*prepare)(RecordHost&), const std::string& path, const std::string& text) {
    return [=](RecordHost& host) {
      prepare(host);
      host.kernel.files.content[path] = text;
    };
  };
  const auto holds = [](RecordHost& host) { return host.holds(); };
  const auto text = kRecordFolder + "generations/2.json";
  const auto without_text = [=](RecordHost& host) {
    two_applied(host);
    host.kernel.files.content.erase(text);
  };
  return {
      {"a ledger that is damaged",
       with(one_applied, kLedgerFile, "{"),
       {{"generations.json: write", ENOSPC}},
       holds,
       {"; it was set aside as " + kLedgerFile +
        ".damaged-1; its copy is used; it could not be rewritten: " + kLedgerFile + ": write: " + kFull}},
      {"a ledger that stays in its place",
       with(one_applied, kLedgerFile, "{"),
       {{"generations.json: rename", EROFS}},
       holds,
       {"; it could not be set aside: " + kLedgerFile + ": rename: " + kReadOnly + "; its copy is used"}},
      {"a ledger without a copy",
       [](RecordHost& host) {
         one_applied(host);
         host.kernel.files.content[kLedgerFile] = "{";
         host.kernel.files.content.erase(kLedgerFile + ".bak");
       },
       {},
       holds,
       {"; it was set aside as " + kLedgerFile +
        ".damaged-1; the active generation is unknown, so nothing is removed"}},
      {"a rollback record",
       with(one_waiting, kUnconfirmedFile, "{"),
       {},
       holds,
       {"; it was set aside as " + kUnconfirmedFile +
        ".damaged-1; a rollback applies the generation before it instead"}},
      {"a text",
       without_text,
       {{"/generations/2.json: write", ENOSPC}, {"degraded.json: write", ENOSPC}},
       holds,
       {"note: " + text + ": generation 2 does not exist; its copy is used; it could not be rewritten: " +
            text + ": write: " + kFull,
        "note: this could not be recorded for the next run: " + kRecordFolder +
            "degraded.json: write: " + kFull}},
  };
}

void expect_told(const std::vector<RecordFault>& cases) {
  for (const auto& row : cases) {
    SCOPED_TRACE(row.name);
    RecordHost host;
    row.prepare(host);
    host.kernel.faults.clear();
    for (const auto& [part, err] : row.refused) host.kernel.faults.refuse(part, err);
    const auto told = told_by(row.run(host));
    for (const auto& text : row.told) EXPECT_THAT(told, Contains(HasSubstr(text)));
  }
}

TEST(CommitRecords, OfGenerationsThatCannotBeWrittenAreNamed) { expect_told(written_generations()); }
TEST(CommitRecords, OfARunThatCannotBeWrittenOrRemovedAreNamed) { expect_told(written_records_of_a_run()); }
TEST(CommitRecords, OfAConfirmationAreNamed) { expect_told(records_of_a_confirmation()); }
TEST(CommitRecords, ThatAreDamagedAreNamed) { expect_told(damaged_records()); }

TEST(CommitRecords, ALedgerThatMayBeEitherOneIsLeftOver) {
  const auto n = ledger_write(one_applied, [](RecordHost& host) { (void)host.commits(512); });
  RecordHost host;
  one_applied(host);
  host.kernel.faults.clear();
  host.kernel.faults.fail_after_effect_at(n, EIO);
  host.kernel.faults.fail_at(n + 1, EIO);
  const auto report = host.commits(512);
  EXPECT_EQ(report.exit, model::Exit::kUndoIncomplete);
  EXPECT_THAT(told_by(report),
              Contains("left: " + kLedgerFile +
                       ": could not be restored, and may name the wrong active generation; the next run "
                       "that can write there repairs it"));
}

TEST(CommitRecords, AnInterruptedApplyThatWaitedCannotBeConfirmed) {
  const auto n = ledger_write(one_applied, [](RecordHost& host) { (void)host.commits(512, true); });
  RecordHost host;
  one_applied(host);
  host.kernel.faults.clear();
  host.kernel.faults.kill_at(n);
  EXPECT_THROW((void)host.commits(512, true), fakes::Killed);
  host.kernel.faults.clear();
  EXPECT_THAT(told_by(host.confirms()),
              Contains("error: the unconfirmed apply was interrupted and is being rolled back"));
}

TEST(CommitRecords, AnInterruptedApplyIsToldByTheNext) {
  const auto n = ledger_write(one_applied, [](RecordHost& host) { (void)host.commits(512); });
  RecordHost host;
  one_applied(host);
  host.kernel.faults.clear();
  host.kernel.faults.kill_at(n);
  EXPECT_THROW((void)host.commits(512), fakes::Killed);
  host.kernel.faults.clear();
  EXPECT_THAT(told_by(host.commits(512)),
              Contains("note: found an interrupted apply; converging to the current document"));
}

TEST(Verification, ADeviceThatStaysIsNamedWhateverTheKernelSaid) {
  const auto kernel = fakes::FakeKernel::parse(R"({ "links": [{ "name": "eth0", "up": true }] })");
  const auto applies = [&](const std::string& text) {
    auto host = kernel->host();
    return apply(config::parse_texts({{.name = "config.toml", .text = "version = 1\n" + text}}, "node1",
                                     kinds::grammar()),
                 host);
  };
  ASSERT_EQ(applies("[[soft_rdma]]\ninterface = \"eth0\"\ntype = \"rxe\"\nname = \"rxe0\"\n").exit,
            model::Exit::kOk);
  kernel->faults.lie_about("rxe0: remove soft device");
  EXPECT_THAT(told_by(applies("")),
              Contains(HasSubstr("rxe0: still exists although the kernel reported its removal")));
}

TEST(CommitRecords, ADocumentAppliedAgainIsTakenBackAndHeldAsItWas) {
  RecordHost host;
  one_applied(host);
  host.kernel.sysctl.set("net/core/somaxconn", "99");
  ASSERT_EQ(host.commits(256, true).exit, model::Exit::kOk);
  EXPECT_THAT(told_by(host.rolls_back()),
              Contains("note: the changes from reapplying generation 1 were rolled back: asked for by root"));
  std::vector<std::string> reasons;
  for (const auto& resource : host.holds().resources) reasons.push_back(resource.reason);
  EXPECT_THAT(reasons, Contains("was rolled back to this value, which stays until the next apply or boot"));
}

const std::string kTakenBackFile = kRecordFolder + "taken-back.json";

/// A document that was applied again, changed a value, and was not confirmed in time.
void one_overdue(RecordHost& host) {
  one_applied(host);
  host.kernel.sysctl.set("net/core/somaxconn", "99");
  ASSERT_EQ(host.commits(256, true).exit, model::Exit::kOk);
  host.now += 1'000'000;
}
std::string settings_of(RecordHost& host) { return host.kernel.sysctl.dump(); }

TEST(CommitRecords, AReloadDoesNotRepeatWhatARollbackCouldNotRecord) {
  RecordHost host;
  one_overdue(host);
  host.kernel.faults.refuse("taken-back.json: write", ENOSPC);
  EXPECT_EQ(host.reloads(256).exit, model::Exit::kUndoIncomplete);
  EXPECT_THAT(settings_of(host), HasSubstr("net/core/somaxconn = 99\n")) << "undone, and not made again";
  host.kernel.faults.clear();
  EXPECT_EQ(host.reloads(256).exit, model::Exit::kPartly);
  EXPECT_THAT(settings_of(host), HasSubstr("net/core/somaxconn = 99\n")) << "left alone until the next apply";
}

TEST(CommitRecords, ATextThatCouldNotBeReadOnceKeepsItsCopy) {
  RecordHost host;
  one_applied(host);
  const auto text = kRecordFolder + "generations/1.json";
  host.kernel.files.unreadable.insert(text);
  EXPECT_EQ(host.holds().exit, model::Exit::kError);
  host.kernel.files.unreadable.clear();
  host.kernel.files.content[text] = "{";
  const auto report = host.holds();
  EXPECT_EQ(report.exit, model::Exit::kOk);
  EXPECT_THAT(told_by(report), Contains(HasSubstr("its copy is used")));
}

TEST(CommitRecords, WithoutTheBootIdNothingWaitingIsRolledBack) {
  RecordHost host;
  one_waiting(host);
  const auto boot = std::exchange(host.kernel.boot_id, "");
  const auto report = host.holds();
  EXPECT_EQ(report.exit, model::Exit::kError);
  EXPECT_THAT(told_by(report), Contains(HasSubstr("boot_id cannot be read; nothing was changed")));
  EXPECT_THAT(settings_of(host), HasSubstr("net/core/somaxconn = 512\n")) << "not taken for a reboot";
  host.kernel.boot_id = boot;
  EXPECT_EQ(host.confirms().exit, model::Exit::kOk);
}

TEST(CommitRecords, ALateConfirmationNamesTheRecordThatCouldNotBeWritten) {
  RecordHost host;
  one_overdue(host);
  host.kernel.faults.refuse("taken-back.json: write", ENOSPC);
  const auto report = host.confirms();
  EXPECT_EQ(report.exit, model::Exit::kUndoIncomplete);
  EXPECT_THAT(told_by(report), Contains(HasSubstr(kTakenBackFile + ": write: " + kFull)));
}

}  // namespace
}  // namespace rdmacfg::core
