// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/jobs.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <stdexcept>

#include "base/sanitizers.hpp"
#include "store/report_json.hpp"
#include "unit/system/temp_tree.hpp"

namespace rdmacfg::daemon {
namespace {

namespace limits = model::limits;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr std::uint32_t kAlice = 1000, kBob = 1001;

/// Stands in for the worker program. A job's task is in its "what".
constexpr std::string_view kWorker = R"(#!/bin/sh
trap '' USR2
here=${{0%/*}}
echo "$*" >>"$here/arguments"
job=$(cat)
of() {{ case $job in *'"what":"'$1'"'*) true;; *) false;; esac; }}
result() {{ printf '{{"exit":0,"report":%s,"status":{{"active":7}}}}\n' '{}'; }}
if of waits; then touch "$here/waiting"; until [ -e "$here/go" ] || ! [ -e "$0" ]; do sleep 0.02; done; fi
if of stuck; then (echo x >>"$here/stuck"; until [ -e "$here/go" ] || ! [ -e "$0" ]; do sleep 0.02; done); fi
if of progress; then echo '{{"progress":[1,3,"one"]}}'; printf '{{"progr'; sleep 0.05; echo 'ess":[3,3,"three"]}}'; fi
if of dies; then kill -9 $$; fi
if of silent; then exit 0; fi
if of unsaid; then result | sed 's/"exit":0,"report"/"report"/'; exit; fi
if of garbage; then echo 'no JSON'; exit 0; fi
if of fails; then exit 1; fi
if of undoes; then trap 'result; exit' USR1; touch "$here/ready"; while [ -e "$0" ]; do sleep 0.02; done; fi
if of unbegun; then trap 'printf "{{\"exit\":1,\"cancelled\":true,\"report\":{{}},\"status\":{{\"active\":7}}}}\n"; exit' USR2; touch "$here/ready"; while [ -e "$0" ]; do sleep 0.02; done; fi
if of early; then trap - USR2; touch "$here/ready"; while [ -e "$0" ]; do sleep 0.02; done; fi
if of long; then printf '{{"exit":0,"report":'; cat "$here/report"; echo ',"status":{{"active":7}}}}'; exit; fi
if of whole; then cat "$here/report" >&3; result; exit; fi
if of deaf; then trap '' USR1; touch "$here/ready"; while [ -e "$0" ]; do sleep 0.02; done; fi
if of obstinate; then touch "$here/ready"; while [ -e "$0" ]; do sleep 0.02; done; fi
result
)";

class JobsTest : public ::testing::Test {
 protected:
  JobsTest() {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, nullptr);
    tree.put("/worker", fmt::format(kWorker, core::report_json(model::Report{}).dump()));
    ::chmod(tree.at("/worker").c_str(), 0755);
    jobs.begins = [this](const Job& job) { began.push_back(job.what); };
  }

  std::uint32_t add(const std::string& what, Job::Verb verb = Job::Verb::kApply,
                    std::optional<std::uint32_t> uid = {}) {
    Job job;
    job.verb = verb;
    job.what = what;
    job.uid = uid;
    ++open;
    const auto id = jobs.add(std::move(job), [this](const Job& over, const Outcome& outcome) {
      ended.push_back(over.what);
      outcomes[over.what] = outcome;
      if (--open == 0) loop.stop(0);
    });
    if (id == 0) --open;
    return id;
  }
  void run() {
    const auto too_long = loop.after(180s, [this] {
      ADD_FAILURE() << "begun: " << ::testing::PrintToString(began)
                    << ", ended: " << ::testing::PrintToString(ended);
      loop.stop(1);
    });
    if (open > 0) {
      EXPECT_EQ(loop.run(), 0) << "not all jobs came to their end";
    }
  }
  /// Calls `then` as soon as `ready`.
  void when(std::function<bool()> ready, std::function<void()> then) {
    polls.push_back(loop.after(10ms, [this, ready = std::move(ready), then = std::move(then)] {
      if (ready()) return then();
      when(ready, then);
    }));
  }
  /// As soon as the worker has made the file.
  void when(const std::string& file, std::function<void()> then) {
    when([this, file] { return std::filesystem::exists(tree.at(file)); }, std::move(then));
  }
  /// As soon as a worker has said with what arguments it was started: the file is there before its text is.
  void when_started(std::function<void()> then) {
    when([this] { return tree.get("/arguments").ends_with('\n'); }, std::move(then));
  }
  /// A change that takes too long. A loaded machine starts its worker so slowly that the deadline passes
  /// before the worker is ready for a signal; then another change with a longer deadline follows. Ends the
  /// loop.
  void overrun(const std::string& what, std::chrono::milliseconds deadline) {
    jobs.deadlines.change = deadline;
    Job job;
    job.verb = Job::Verb::kApply;
    job.what = what;
    job.uid = kAlice;
    ++open;
    (void)jobs.add(std::move(job), [this, what, deadline](const Job&, const Outcome& outcome) {
      --open;
      if (deadline < 20s && !std::filesystem::exists(tree.at("/ready"))) return overrun(what, 2 * deadline);
      outcomes[what] = outcome;
      loop.stop(0);
    });
  }

  system::TempTree tree;
  Loop loop;
  Jobs jobs{loop, tree.at("/worker").native()};
  std::vector<Loop::Handle> polls;
  std::vector<std::string> began, ended;
  std::map<std::string, Outcome> outcomes;
  int open = 0;
};

TEST_F(JobsTest, HasItsResultFromTheWorker) {
  const auto id = add("plain", Job::Verb::kApply, kAlice);
  EXPECT_NE(id, 0U);
  EXPECT_FALSE(jobs.result(id));
  run();
  EXPECT_EQ(tree.get("/arguments"), "--worker\n");
  EXPECT_FALSE(outcomes["plain"].report.error);
  EXPECT_EQ(outcomes["plain"].status.at("active"), 7);
  ASSERT_TRUE(jobs.result(id));
  EXPECT_EQ(*jobs.result(id), outcomes["plain"].whole.read());
  EXPECT_TRUE(jobs.idle());
}

TEST_F(JobsTest, AnExpiryHasTheWorkerThatWasStartedAheadOfIt) {
  jobs.prepare_expiry();
  jobs.prepare_expiry();
  when_started([this] {
    add("other");
    add("plain", Job::Verb::kExpire);
    --open;
  });
  open = 1;  // until they are added
  run();
  EXPECT_EQ(outcomes["plain"].status.at("active"), 7);
  EXPECT_EQ(outcomes["other"].status.at("active"), 7);
  EXPECT_EQ(tree.get("/arguments"), "--worker\n--worker\n") << "one for each";
}

TEST_F(JobsTest, AnExpiryWhoseWorkerIsGoneGetsAnother) {
  jobs.prepare_expiry();
  when_started([this] {
    jobs.dismiss_expiry();
    add("plain", Job::Verb::kExpire);
    --open;
  });
  open = 1;
  run();
  EXPECT_EQ(outcomes["plain"].status.at("active"), 7);
  EXPECT_EQ(tree.get("/arguments"), "--worker\n--worker\n");
}

TEST_F(JobsTest, ProgressIsHandedOnAsItComes) {
  std::vector<std::string> seen;
  jobs.progress = [&](std::uint32_t, std::uint64_t done, std::uint64_t total, const std::string& what) {
    seen.push_back(fmt::format("{}/{} {}", done, total, what));
  };
  add("progress");
  run();
  EXPECT_THAT(seen, ElementsAre("1/3 one", "3/3 three"));
  EXPECT_FALSE(outcomes["progress"].report.error);
}

TEST_F(JobsTest, AWorkerThatDiesOrTalksNonsenseIsAnError) {
  for (const std::string what : {"dies", "silent", "garbage", "fails"}) add(what);
  run();
  ASSERT_TRUE(outcomes["dies"].report.error);
  EXPECT_THAT(outcomes["dies"].report.error->message, HasSubstr("killed by signal 9"));
  for (const std::string what : {"silent", "garbage", "fails"}) {
    ASSERT_TRUE(outcomes[what].report.error) << what;
    EXPECT_THAT(outcomes[what].report.error->message, HasSubstr("without a result"));
    EXPECT_EQ(outcomes[what].report.exit, model::Exit::kUndoIncomplete) << "it may have changed something";
    EXPECT_TRUE(outcomes[what].lost);
  }
  EXPECT_EQ(outcomes["dies"].report.exit, model::Exit::kUndoIncomplete);
  EXPECT_THAT(outcomes["dies"].report.error->message, HasSubstr("may have been changing the host"));
}

TEST_F(JobsTest, AResultWithoutAnExitStatusIsNoSuccess) {
  add("unsaid");
  run();
  EXPECT_TRUE(outcomes["unsaid"].lost);
  EXPECT_EQ(outcomes["unsaid"].report.exit, model::Exit::kUndoIncomplete);
}

TEST_F(JobsTest, WhatBecomesOfWhatADeadWorkerHadBegunIsSaid) {
  std::vector<std::string> said;
  const auto die = [&](Job::Verb verb, std::int64_t confirm_s, bool by_itself) {
    Job job;
    job.verb = verb;
    job.what = "dies";
    job.confirm_s = confirm_s;
    job.by_itself = by_itself;
    ++open;
    (void)jobs.add(std::move(job), [&](const Job&, const Outcome& outcome) {
      said.push_back(outcome.report.error->message);
      if (--open == 0) loop.stop(0);
    });
  };
  die(Job::Verb::kApply, 0, false);
  die(Job::Verb::kApply, 60, false);
  die(Job::Verb::kApply, 0, true);
  die(Job::Verb::kRollBack, 0, false);
  die(Job::Verb::kHold, 0, false);
  run();
  EXPECT_THAT(said, ElementsAre(HasSubstr("the next repair restores the active generation; apply again"),
                                HasSubstr("its changes are rolled back"),
                                HasSubstr("the next run continues from there"), HasSubstr("roll back again"),
                                HasSubstr("the next repair continues from there")));
}

TEST_F(JobsTest, ALookThatDiesHasChangedNothing) {
  add("dies", Job::Verb::kDiff);
  run();
  EXPECT_EQ(outcomes["dies"].report.exit, model::Exit::kError);
  EXPECT_TRUE(outcomes["dies"].lost);
}

TEST_F(JobsTest, AProgramThatCannotBeStartedIsAnErrorToo) {
  std::filesystem::remove(tree.at("/worker"));
  const auto id = add("plain", Job::Verb::kApply, kAlice);
  EXPECT_TRUE(ended.empty()) << "the caller does not know the number yet";
  run();
  ASSERT_TRUE(outcomes["plain"].report.error);
  EXPECT_THAT(outcomes["plain"].report.error->message, HasSubstr("could not be started"));
  EXPECT_EQ(outcomes["plain"].report.exit, model::Exit::kError) << "nothing was changed";
  EXPECT_TRUE(jobs.result(id));
  EXPECT_TRUE(jobs.idle());
}

TEST_F(JobsTest, AJobWhoseBeginningFailsIsOver) {
  jobs.begins = [this](const Job& job) {
    began.push_back(job.what);
    if (job.what == "first") throw std::runtime_error("no memory");
  };
  const auto id = add("first", Job::Verb::kApply, kAlice);
  EXPECT_NE(id, 0U);
  EXPECT_TRUE(ended.empty()) << "the caller does not know the number yet";
  add("plain");
  run();
  ASSERT_TRUE(outcomes["first"].report.error);
  EXPECT_THAT(outcomes["first"].report.error->message, HasSubstr("could not be started: no memory"));
  EXPECT_EQ(outcomes["first"].report.exit, model::Exit::kError) << "nothing was changed";
  EXPECT_TRUE(jobs.result(id));
  EXPECT_FALSE(outcomes["plain"].report.error) << "the next one runs";
  EXPECT_TRUE(jobs.idle());
  EXPECT_FALSE(jobs.busy());
}

TEST_F(JobsTest, AWorkerThatCannotBeWaitedForIsEnded) {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  // systemd 252 refuses to watch a process then, as each does where the kernel refuses.
  ::sigprocmask(SIG_UNBLOCK, &child, nullptr);
  jobs.prepare_expiry();
  add("unwatched");
  ::sigprocmask(SIG_BLOCK, &child, nullptr);
  add("plain");
  add("expiry", Job::Verb::kExpire);
  run();
  if (!outcomes["unwatched"].report.error) GTEST_SKIP() << "this systemd watches it all the same";
  EXPECT_THAT(outcomes["unwatched"].report.error->message, HasSubstr("could not be watched"));
  EXPECT_TRUE(outcomes["unwatched"].lost) << "it may have begun";
  EXPECT_EQ(outcomes["unwatched"].report.exit, model::Exit::kUndoIncomplete);
  EXPECT_FALSE(outcomes["plain"].report.error) << "the next one runs";
  EXPECT_FALSE(outcomes["expiry"].report.error) << "without the worker that was to be loaded ahead";
  EXPECT_TRUE(jobs.idle());
}

TEST_F(JobsTest, OneThatChangesAtATimeAndInTheirOrder) {
  add("waits");
  add("second");
  add("third");
  EXPECT_TRUE(jobs.busy());
  EXPECT_THAT(began, ElementsAre("waits"));
  tree.put("/go", "");
  run();
  EXPECT_THAT(ended, ElementsAre("waits", "second", "third"));
  EXPECT_FALSE(jobs.busy());
}

TEST_F(JobsTest, LooksRunBesideAChange) {
  add("waits");
  add("look", Job::Verb::kDiff);
  // The look ends while the change waits for the file that is made only then.
  std::function<void()> then = [this, &then] {
    if (ended.empty()) {
      polls.push_back(loop.after(10ms, then));
    } else {
      tree.put("/go", "");
    }
  };
  then();
  run();
  EXPECT_THAT(ended, ElementsAre("look", "waits"));
}

TEST_F(JobsTest, TheQueueOfOneUserIsBounded) {
  add("waits");
  for (std::size_t i = 0; i < limits::kQueueOfUser; ++i)
    EXPECT_NE(add("queued", Job::Verb::kApply, kAlice), 0U);
  EXPECT_EQ(add("one too many", Job::Verb::kApply, kAlice), 0U);
  EXPECT_NE(add("another's", Job::Verb::kApply, kBob), 0U);
  tree.put("/go", "");
  run();
  EXPECT_EQ(ended.size(), limits::kQueueOfUser + 2);
}

TEST_F(JobsTest, LooksOfClientsKeepNobodyFromChanging) {
  constexpr std::uint32_t kRoot = 0, kFirstUser = 1000;
  for (std::size_t i = 0; i < limits::kLooks + limits::kRootLooks; ++i) add("waits", Job::Verb::kShow);
  add("waits");
  std::size_t taken = 0;
  for (std::uint32_t uid = kFirstUser; uid < kFirstUser + 10; ++uid) {
    for (std::size_t i = 0; i < limits::kQueueOfUser; ++i) {
      if (add("look", Job::Verb::kShow, uid) != 0) ++taken;
    }
  }
  EXPECT_EQ(taken, limits::kQueue);
  EXPECT_NE(add("root's look", Job::Verb::kShow, kRoot), 0U);
  EXPECT_NE(add("confirm", Job::Verb::kConfirm, kRoot), 0U);
  EXPECT_NE(add("apply", Job::Verb::kApply, kFirstUser), 0U);
  EXPECT_NE(add("hold", Job::Verb::kHold), 0U) << "the daemon's own";
  EXPECT_NE(add("own look", Job::Verb::kShow), 0U);
  tree.put("/go", "");
  run();
  EXPECT_TRUE(outcomes.contains("hold") && outcomes.contains("confirm") && outcomes.contains("own look"));
}

TEST_F(JobsTest, RootsLookRunsBesideThoseThatHang) {
  constexpr std::uint32_t kRoot = 0;
  add("obstinate", Job::Verb::kShow, kAlice);
  add("obstinate", Job::Verb::kShow, kBob);
  for (std::uint32_t uid = kBob + 1; uid < kBob + 5; ++uid) add("look", Job::Verb::kShow, uid);
  add("root's", Job::Verb::kShow, kRoot);
  std::function<void()> then = [this, &then] {
    if (ended.empty()) {
      polls.push_back(loop.after(10ms, then));
    } else {
      loop.stop(2);
    }
  };
  then();
  EXPECT_EQ(loop.run(), 2);
  EXPECT_THAT(ended, ElementsAre("root's"));
  EXPECT_THAT(began, ElementsAre("obstinate", "obstinate", "root's"));
}

TEST_F(JobsTest, OneUserDoesNotTakeTheSlotsOfOthers) {
  constexpr std::uint32_t kCarol = 1002;
  add("waits", Job::Verb::kShow, kAlice);
  for (int i = 0; i < 3; ++i) add("alice's", Job::Verb::kShow, kAlice);
  EXPECT_THAT(began, ElementsAre("waits"));
  add("waits", Job::Verb::kShow, kBob);
  add("bob's", Job::Verb::kShow, kBob);
  add("carol's", Job::Verb::kShow, kCarol);
  EXPECT_EQ(began.size(), 2U);
  tree.put("/go", "");
  run();
  ASSERT_EQ(began.size(), 7U);
  EXPECT_EQ(began[2], "carol's") << "who had none yet is next, however many of others came before";
}

TEST_F(JobsTest, ALookThatTakesTooLongIsKilled) {
  jobs.deadlines.look = 200ms;
  add("deaf", Job::Verb::kDiff, kAlice);
  run();
  ASSERT_TRUE(outcomes["deaf"].report.error);
  EXPECT_THAT(outcomes["deaf"].report.error->message, HasSubstr("took longer than"));
  EXPECT_EQ(outcomes["deaf"].report.exit, model::Exit::kError);
  EXPECT_THAT(outcomes["deaf"].whole.read(), HasSubstr("took longer than")) << "its client is told";
}

TEST_F(JobsTest, AChangeThatTakesTooLongIsCancelled) {
  overrun("undoes", 200ms);
  run();
  EXPECT_FALSE(outcomes["undoes"].lost);
  EXPECT_EQ(outcomes["undoes"].status.at("active"), 7) << "it said itself what became of it";
}

TEST_F(JobsTest, AChangeThatDoesNotUndoInTimeIsKilled) {
  jobs.deadlines.undo = 200ms;
  overrun("deaf", 100ms);
  run();
  EXPECT_TRUE(outcomes["deaf"].lost);
  EXPECT_EQ(outcomes["deaf"].report.exit, model::Exit::kUndoIncomplete);
  EXPECT_FALSE(jobs.busy()) << "the next one may begin";
}

TEST_F(JobsTest, ALookThatIsCancelledEndsAtOnce) {
  const auto id = add("deaf", Job::Verb::kShow, kAlice);
  when("/ready", [this, id] { EXPECT_TRUE(jobs.cancel(id)); });
  run();
  EXPECT_TRUE(outcomes["deaf"].cancelled);
}

TEST_F(JobsTest, AWholeReportIsKeptAsBytesAndNotRead) {
  const std::string text(limits::kReportBytes + 5, 'x');  // no JSON
  tree.put("/report", text);
  const auto id = add("whole", Job::Verb::kApply, kAlice);
  run();
  EXPECT_FALSE(outcomes["whole"].report.error) << "the summary is what is parsed";
  EXPECT_EQ(outcomes["whole"].whole.size(), limits::kReportBytes);
  EXPECT_EQ(jobs.result(id), text.substr(0, limits::kReportBytes));
}

TEST_F(JobsTest, AWorkerThatSaysTooMuchIsEnded) {
  tree.put("/report", std::string(2 * limits::kSummaryBytes, 'x'));
  add("long", Job::Verb::kShow, kAlice);
  run();
  EXPECT_TRUE(outcomes["long"].lost);
}

/// A report with which the line of the worker "long" has so many bytes.
std::string report_for_line_of(std::size_t bytes) {
  model::Report report;
  report.notes.emplace_back();
  const auto frame = std::string_view(R"({"exit":0,"report":,"status":{"active":7}})").size() +
                     core::report_json(report).dump().size();
  report.notes.back().text.assign(bytes - frame, 'x');
  return core::report_json(report).dump();
}

TEST_F(JobsTest, ALineOfKSummaryBytesIsRead) {
  tree.put("/report", report_for_line_of(limits::kSummaryBytes));
  add("long", Job::Verb::kApply, kAlice);
  run();
  EXPECT_FALSE(outcomes["long"].lost);
  EXPECT_EQ(outcomes["long"].report.notes.size(), 1U);
}

TEST_F(JobsTest, AByteMoreIsNot) {
  tree.put("/report", report_for_line_of(limits::kSummaryBytes + 1));
  add("long", Job::Verb::kApply, kAlice);
  run();
  EXPECT_TRUE(outcomes["long"].lost);
}

TEST_F(JobsTest, AtTheEndAChangeIsFinishedAndNothingElse) {
  bool idle = false;
  jobs.on_idle = [&] { idle = true; };
  add("undoes", Job::Verb::kShow, kAlice);  // a look that never ends by itself
  add("waits", Job::Verb::kApply, kAlice);
  add("second", Job::Verb::kApply, kAlice);
  add("own", Job::Verb::kHold);
  // The change has begun as soon as its worker has taken notice of the signal by which it would be cancelled.
  const auto both_work = [this] {
    return std::filesystem::exists(tree.at("/ready")) && std::filesystem::exists(tree.at("/waiting"));
  };
  when(both_work, [this, &idle] {
    jobs.close();
    EXPECT_THAT(ended, ElementsAre("second", "own"));
    EXPECT_EQ(add("late"), 0U);
    EXPECT_EQ(add("late look", Job::Verb::kShow, 0), 0U);
    EXPECT_FALSE(idle);
    tree.put("/go", "");
  });
  run();
  EXPECT_TRUE(idle);
  EXPECT_FALSE(outcomes["waits"].report.error) << "it was left to its end";
  EXPECT_TRUE(outcomes["undoes"].report.error);
  EXPECT_EQ(ended.size(), 4U);
}

TEST_F(JobsTest, AtTheEndACallbackThatThrowsKeepsNobodyElseFromHisEnd) {
  add("undoes");
  Job job;
  job.verb = Job::Verb::kApply;
  EXPECT_NE(jobs.add(job, [](const Job&, const Outcome&) { throw std::runtime_error("the bus has gone"); }),
            0U);
  add("second", Job::Verb::kApply, kAlice);
  when("/ready", [this] {
    EXPECT_NO_THROW(jobs.close());
    EXPECT_THAT(ended, ElementsAre("second"));
    std::filesystem::remove(tree.at("/worker"));  // the loop of the first one ends with it
  });
  run();
  EXPECT_TRUE(jobs.idle());
}

TEST_F(JobsTest, AtTheEndAChangeThatHasNotBegunIsCancelled) {
  const auto id = add("unbegun", Job::Verb::kApply, kAlice);
  when("/ready", [this] { jobs.close(); });
  run();
  EXPECT_TRUE(outcomes["unbegun"].cancelled);
  EXPECT_FALSE(outcomes["unbegun"].lost);
  EXPECT_EQ(outcomes["unbegun"].report.exit, model::Exit::kError) << "nothing was changed";
  ASSERT_TRUE(jobs.result(id));
  EXPECT_THAT(*jobs.result(id), HasSubstr("cancelled"));
  EXPECT_EQ(outcomes["unbegun"].status.at("active"), 7);
}

TEST_F(JobsTest, AtTheEndAWorkerThatHasNotEvenStartedIsCancelled) {
  add("early");
  when("/ready", [this] { jobs.close(); });
  run();
  EXPECT_TRUE(outcomes["early"].cancelled);
}

TEST_F(JobsTest, AResultIsWaitedForUntilItIsFetched) {
  EXPECT_EQ(jobs.unfetched(), 0ms);
  const auto id = add("plain", Job::Verb::kApply, kAlice);
  add("own");
  run();
  EXPECT_GT(jobs.unfetched(), 0ms);
  EXPECT_LE(jobs.unfetched(), Jobs::kFetch);
  int idle = 0;
  jobs.on_idle = [&] { ++idle; };
  jobs.fetched(id);
  EXPECT_EQ(jobs.unfetched(), 0ms) << "for the daemon's own nobody asks";
  EXPECT_EQ(idle, 0);
  jobs.close();
  jobs.fetched(id);
  EXPECT_EQ(idle, 1) << "the daemon that was told to end may go now";
}

TEST_F(JobsTest, LongResultsPushOthersOut) {
  tree.put("/report", std::string(limits::kReportBytes, 'x'));
  std::vector<std::uint32_t> ids;
  for (std::size_t i = 0; i <= limits::kResultBytes / limits::kReportBytes; ++i)
    ids.push_back(add("whole", Job::Verb::kApply, kAlice));
  run();
  EXPECT_FALSE(jobs.result(ids.front()));
  for (auto id = ids.begin() + 1; id != ids.end(); ++id)
    EXPECT_TRUE(jobs.result(*id)) << "together these have as much as is kept";
}

/// Bytes of this process that are in memory.
std::size_t resident() {
  std::ifstream in("/proc/self/statm");
  std::size_t size = 0, pages = 0;
  in >> size >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST_F(JobsTest, WhatReadingALongReportTookIsGivenBack) {
  if constexpr (base::kSanitized) GTEST_SKIP() << "the sanitizer keeps memory that was freed";
  model::Report report;
  for (int i = 0; i < 1000; ++i) {
    model::ResourceReport resource;
    resource.key = {"pkey", fmt::format("00:02:c9:03:00:31:78:f2/{:04x}", i)};
    resource.label = fmt::format("ib0.{:04x}", i);
    for (const std::string name : {"mode", "mtu", "umcast", "state"})
      resource.attributes.push_back(
          {name, std::int64_t{i}, std::int64_t{i}, model::Location{"config.toml", i, 1}});
    report.resources.push_back(std::move(resource));
  }
  const auto text = core::report_json(report).dump();
  tree.put("/report", text);
  report = {};
  std::vector<std::unique_ptr<std::string>> kept;  // as a daemon keeps this and that of each run
  const auto before = resident();
  for (int i = 0; i < 3; ++i) {
    Job job;
    job.verb = Job::Verb::kHold;
    job.what = "long";
    ++open;
    (void)jobs.add(std::move(job), [&](const Job&, const Outcome& outcome) {
      EXPECT_EQ(outcome.report.resources.size(), 1000U);
      kept.push_back(std::make_unique<std::string>(100, 'x'));
      if (--open == 0) loop.stop(0);
    });
  }
  run();
  EXPECT_LT(resident(), before + text.size()) << "of a report of " << text.size() << " bytes";
}

TEST_F(JobsTest, AWaitingJobIsCancelledWithoutAWorker) {
  add("waits");
  const auto id = add("second", Job::Verb::kApply, kAlice);
  EXPECT_TRUE(jobs.cancel(id));
  EXPECT_THAT(ended, ElementsAre("second"));
  EXPECT_THAT(outcomes["second"].report.error->message, HasSubstr("cancelled"));
  EXPECT_TRUE(jobs.result(id));
  tree.put("/go", "");
  run();
  EXPECT_THAT(began, ElementsAre("waits"));
}

TEST_F(JobsTest, ARunningOneSaysItselfWhatBecameOfIt) {
  const auto id = add("undoes");
  when("/ready", [this, id] { EXPECT_TRUE(jobs.cancel(id)); });
  run();
  EXPECT_FALSE(outcomes["undoes"].report.error);
  EXPECT_FALSE(outcomes["undoes"].lost);
  EXPECT_EQ(outcomes["undoes"].status.at("active"), 7);
}

TEST_F(JobsTest, ARunningOneThatHadBegunNothingIsCancelled) {
  const auto id = add("obstinate");
  when("/ready", [this, id] { EXPECT_TRUE(jobs.cancel(id)); });
  run();
  EXPECT_THAT(outcomes["obstinate"].report.error->message, HasSubstr("cancelled"));
}

TEST_F(JobsTest, NoSuchJob) {
  EXPECT_FALSE(jobs.cancel(1));
  const auto id = add("plain");
  run();
  EXPECT_FALSE(jobs.cancel(id));
  EXPECT_FALSE(jobs.cancel(id + 1));
}

TEST_F(JobsTest, WhoseAResultIsIsKnown) {
  const auto id = add("plain", Job::Verb::kApply, kAlice), own = add("own");
  run();
  EXPECT_TRUE(jobs.asked_by(id, kAlice, ":1.5"));
  EXPECT_FALSE(jobs.asked_by(id, kBob, ":1.5"));
  EXPECT_FALSE(jobs.asked_by(own, kAlice, ":1.5")) << "the daemon's";
  EXPECT_FALSE(jobs.asked_by(own + 1, kAlice, ":1.5"));
}

/// With DynamicUser= of systemd the next service may have the user ID of one that has ended.
TEST_F(JobsTest, AResultIsNotThatOfALaterUserWithTheId) {
  add("waits", Job::Verb::kApply, kBob);
  Job job;
  job.verb = Job::Verb::kApply;
  job.uid = kAlice;
  job.client = ":1.5";
  const auto id = jobs.add(std::move(job), [](const Job&, const Outcome&) {});
  const auto before = Loop::now();
  EXPECT_TRUE(jobs.cancel(id));
  const auto after = Loop::now();
  EXPECT_TRUE(jobs.asked_by(id, kAlice, ":1.6", before)) << "another connection of the user";
  EXPECT_FALSE(jobs.asked_by(id, kAlice, ":1.6", after + Jobs::kOfUser));
  EXPECT_FALSE(jobs.asked_by(id, kAlice, "", after + Jobs::kOfUser));
  EXPECT_TRUE(jobs.asked_by(id, kAlice, ":1.5", after + Jobs::kOfUser)) << "who has asked";
  EXPECT_FALSE(jobs.asked_by(id, kBob, ":1.5", before));
  tree.put("/go", "");
  run();
}

TEST_F(JobsTest, OnlyTheLastResultsAreKept) {
  std::vector<std::uint32_t> ids;  // one at work and as many as may wait, of as many users
  for (std::uint32_t i = 0; i < limits::kResults + 1; ++i)
    ids.push_back(add("plain", Job::Verb::kApply, kBob + i));
  ASSERT_THAT(ids, testing::Each(testing::Ne(0U)));
  // A look's report is the answer to it.
  for (std::size_t i = 0; i < limits::kResults; ++i) add("plain", Job::Verb::kShow);
  run();
  EXPECT_FALSE(jobs.result(ids[0]));
  EXPECT_TRUE(jobs.result(ids[1]));
}

/// Like a query that waits for a dead server: another process holds its pipe open.
TEST_F(JobsTest, KilledQueriesThatDoNotEndTakeNoSlot) {
  constexpr std::uint32_t kRoot = 0;
  jobs.deadlines.look = 1h;
  std::size_t stuck = 0;
  std::function<void()> next = [&] {
    if (stuck == limits::kStuckLooks) {
      add("plain", Job::Verb::kShow, kRoot);
      EXPECT_EQ(began.back(), "stuck") << "it waits";
      tree.put("/go", "");
      return;
    }
    const auto id = add("stuck", Job::Verb::kShow, kRoot);
    ASSERT_EQ(began.size(), ++stuck) << "it does not wait";
    when([this, &stuck] { return tree.get("/stuck").size() == 2 * stuck; },
         [this, id, &next] {
           EXPECT_TRUE(jobs.cancel(id));
           next();
         });
  };
  next();
  run();
  EXPECT_THAT(ended, ::testing::Contains("plain"));
}

TEST_F(JobsTest, ALookThatWaitsIsStartedAsSoonAsAnotherIsKilled) {
  constexpr std::uint32_t kRoot = 0;
  constexpr auto kSlots = limits::kLooks + limits::kRootLooks;
  jobs.deadlines.look = 1h;
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < kSlots; ++i) id = add("stuck", Job::Verb::kShow, kRoot);
  add("plain", Job::Verb::kShow, kRoot);
  EXPECT_EQ(began.size(), kSlots) << "it waits";
  // The cancelled one does not end before the other: the file lets it go.
  when([this] { return tree.get("/stuck").size() == 2 * kSlots; },
       [this, id] { EXPECT_TRUE(jobs.cancel(id)); });
  when([this] { return !ended.empty(); }, [this] { tree.put("/go", ""); });
  run();
  ASSERT_FALSE(ended.empty());
  EXPECT_EQ(ended.front(), "plain");
}

/// Otherwise the client of an apply would not learn the result.
TEST_F(JobsTest, AUserCannotDisplaceResultsOfOthers) {
  add("waits", Job::Verb::kApply, kBob);  // the others wait for it
  const auto id = add("other", Job::Verb::kApply, kAlice);
  EXPECT_TRUE(jobs.cancel(id));
  std::vector<std::uint32_t> bobs;
  for (std::size_t i = 0; i < 2 * limits::kResults; ++i) {
    bobs.push_back(add("other", Job::Verb::kApply, kBob));
    EXPECT_TRUE(jobs.cancel(bobs.back()));
  }
  EXPECT_TRUE(jobs.result(id));
  EXPECT_TRUE(jobs.result(bobs.back()));
  EXPECT_FALSE(jobs.result(bobs.front()));
  tree.put("/go", "");
  run();
}

TEST_F(JobsTest, TheDaemonsOwnJobsPushNoResultOut) {
  const auto id = add("plain", Job::Verb::kApply, kAlice), own = add("own");
  for (std::size_t i = 0; i < limits::kResults; ++i) add("own", Job::Verb::kHold);
  run();
  EXPECT_TRUE(jobs.result(id));
  EXPECT_FALSE(jobs.result(own));
}

TEST_F(JobsTest, TheResultThatHasBeenThereLongestGoesFirst) {
  // The oldest job ends after all the others, which are cancelled.
  const auto id = add("waits", Job::Verb::kApply, kAlice);
  std::vector<std::uint32_t> others;
  for (std::size_t i = 0; i < limits::kResults; ++i) {
    others.push_back(add("other", Job::Verb::kApply, kBob));
    EXPECT_TRUE(jobs.cancel(others.back()));
  }
  tree.put("/go", "");
  run();
  EXPECT_TRUE(jobs.result(id));
  EXPECT_FALSE(jobs.result(others[0]));
  EXPECT_TRUE(jobs.result(others[1]));
}

}  // namespace
}  // namespace rdmacfg::daemon
