// SPDX-License-Identifier: Apache-2.0
// The daemon's main process with a worker of the test's, and no bus.
#include "daemon/controller.hpp"

#include <gmock/gmock.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "base/unique_fd.hpp"
#include "core/pipeline.hpp"
#include "system/linux/linux_host.hpp"
#include "unit/daemon/controller_fixture.hpp"

namespace rdmacfg::daemon {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

const std::string kApply = verb(Job::Verb::kApply), kHold = verb(Job::Verb::kHold),
                  kExpire = verb(Job::Verb::kExpire);

/// The service manager's end of sd_notify(3).
class Manager {
 public:
  explicit Manager(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error("the path is too long");
    path.copy(address.sun_path, path.size());
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot listen to what is told");
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  ~Manager() { ::unsetenv("NOTIFY_SOCKET"); }

  /// All that it was told so far.
  const std::vector<std::string>& told() {
    std::array<char, 4096> text{};
    for (ssize_t size = 0; (size = ::recv(socket_.get(), text.data(), text.size(), 0)) > 0;)
      told_.emplace_back(text.data(), static_cast<std::size_t>(size));
    return told_;
  }
  /// How many runs have ended.
  std::size_t runs() {
    const auto& all = told();
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), "READY=1"));
  }
  std::string status() {
    const auto& all = told();
    const auto at = std::find_if(all.rbegin(), all.rend(),
                                 [](const auto& message) { return message.starts_with("STATUS="); });
    return at == all.rend() ? std::string() : at->substr(7);
  }

 private:
  base::UniqueFd socket_;
  std::vector<std::string> told_;
};

class ControllerTest : public ControllerFixture {};

TEST_F(ControllerTest, AnExpiryThatFailsIsTriedSeldom) {
  // When each try ends, and the next one begins, as the workers have it.
  play(
      "status='{\"active\":1,\"unconfirmed\":{\"generation\":1,\"deadline\":\"then\",\"deadline_ms\":0}}'\n"
      "[ $verb != " +
      kExpire + " ] || sed 's/^\\([0-9]*\\)[.]\\([0-9]*\\) .*/\\1\\2/' /proc/uptime >>\"$here/tries\"");
  controller.start();
  when([this] { return lines_of("/tries").size() == 2; }, [this] { loop.stop(0); });
  EXPECT_EQ(run(), 0);
  const auto tries = lines_of("/tries");
  ASSERT_THAT(tries, SizeIs(2));
  constexpr long long kSecond = 100;  // of proc_uptime(5), which nobody sets
  EXPECT_GE(std::stoll(tries[1]) - std::stoll(tries[0]), kSecond) << "a second later";
}

TEST_F(ControllerTest, KeepsMetricsWhereTheDocumentWantsThem) {
  model::Report report;
  report.resources = {
      {.key = {"ipoib", "g"}, .label = "ib0", .status = model::Status::kDone},
      {.key = {"ipoib", "h"}, .label = "ib1", .status = model::Status::kPending, .reason = "no device"}};
  tree.put("/prom/other.prom", "");
  tree.put("/result",
           fmt::format(R"({{"exit":5,"report":{},"status":{{"active":3,"metrics":"{}","last":{{"number":3,)"
                       R"("when":"2026-11-21T14:03:22Z","rolled_back":false}}}}}})",
                       core::report_json(report).dump(), tree.at("/prom").native()) +
               "\n");
  play("cat \"$here/result\"; exit 0");
  controller.start();
  std::string while_it_runs;
  const auto file = "/prom/rdma-configd.prom";
  when([&] { return std::filesystem::exists(tree.at(file)); },
       [&] {
         while_it_runs = tree.get(file);
         controller.stop();
       });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(
      while_it_runs,
      AllOf(
          HasSubstr("\nrdma_configd_resources{kind=\"ipoib\",status=\"in_sync\"} 1\n"),
          HasSubstr("\nrdma_configd_not_in_sync{kind=\"ipoib\",status=\"pending\",reason=\"no device\"} 1\n"),
          HasSubstr("\nrdma_configd_generation 3\n"), HasSubstr("\nrdma_configd_up 1\n"),
          HasSubstr("\nrdma_configd_last_apply_timestamp_seconds 1795269802\n"),
          HasSubstr("\nrdma_configd_last_apply_failed 0\n")));
  EXPECT_THAT(tree.get(file), HasSubstr("\nrdma_configd_up 0\n")) << "it has stopped";
}

TEST_F(ControllerTest, MetricsOfAPrivateDocumentHaveNoReasons) {
  model::Report report;
  report.resources = {
      {.key = {"ipoib", "h"}, .label = "ib1", .status = model::Status::kLimited, .reason = "wanted 4092"}};
  tree.put("/prom/other.prom", "");
  tree.put("/result",
           fmt::format(R"({{"exit":5,"report":{},"status":{{"active":3,"private":true,"metrics":"{}"}}}})",
                       core::report_json(report).dump(), tree.at("/prom").native()) +
               "\n");
  play("cat \"$here/result\"; exit 0");
  controller.start();
  const auto file = "/prom/rdma-configd.prom";
  when([&] { return std::filesystem::exists(tree.at(file)); }, [&] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(tree.get(file), AllOf(HasSubstr("status=\"limited\",reason=\"hidden"), Not(HasSubstr("4092"))));
}

TEST_F(ControllerTest, NearADeadlineNothingElseIsBegun) {
  model::Report report;
  report.exit = model::Exit::kUndone;
  report.resources = {{.key = {"ipoib", "g"}, .label = "ib0", .status = model::Status::kFailed}};
  const auto text = core::report_json(report).dump();
  tree.put("/taken", R"({"exit":3,"report":)" + text + R"(,"status":{"active":1}})" + "\n");
  tree.put("/waits",
           fmt::format(R"({{"exit":3,"report":{},"status":{{"active":1,"unconfirmed":{{"generation":1,)"
                       R"("deadline":"then","deadline_ms":{}}}}}}})",
                       text, (Loop::now() + 1500ms).count()) +
               "\n");
  play("if [ $verb = " + kExpire + " ]; then cat \"$here/taken\"; else cat \"$here/waits\"; fi; exit 0");
  controller.start();
  when_started(3, [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  const auto done = verbs();
  ASSERT_GE(done.size(), 3U);
  EXPECT_EQ(done[0], kApply);
  EXPECT_EQ(done[1], kExpire) << "what failed is tried again after it";
  EXPECT_EQ(done[2], kHold);
}

TEST_F(ControllerTest, AnApplyWhoseWorkerDiedIsDoneAgain) {
  play(R"([ $(wc -l <"$here/verbs") -gt 2 ] || kill -9 $$)");
  controller.start();
  when_started(3, [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(verbs(), ElementsAre(kApply, kApply, kApply));
}

TEST_F(ControllerTest, AnApplyThatAlwaysKillsItsWorkerGivesWayToWhatIsActive) {
  play("[ \"$verb\" != " + kApply + " ] || kill -9 $$");
  controller.start();
  when_started(6, [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  const auto done = verbs();
  ASSERT_THAT(done, SizeIs(6));
  EXPECT_THAT(std::vector(done.begin(), done.begin() + 5), Each(kApply));
  EXPECT_EQ(done.back(), kHold);
}

TEST_F(ControllerTest, TheFirstRunsLookCloselyUntilOneHas) {
  tree.put("/report", core::report_json(model::Report{}).dump());
  play(
      "[ $(wc -l <\"$here/verbs\") -lt 3 ] || looked=true\n"
      "printf '{\"exit\":0,\"looked\":%s,\"report\":%s,\"status\":{\"active\":1}}\\n' "
      "\"${looked:-false}\" \"$(cat \"$here/report\")\"; exit 0");
  Manager manager(tree.at("/notify").native());
  controller.start();
  // Each reload is a run of its own.
  std::size_t ended = 0;
  std::function<void()> reload = [&] {
    when([&] { return manager.runs() > ended; },
         [&] {
           if (++ended == 4) return controller.stop();
           controller.reload();
           reload();
         });
  };
  reload();
  EXPECT_EQ(run(), 0);
  const auto jobs = asked();
  ASSERT_THAT(jobs, SizeIs(4));
  for (std::size_t n = 0; n < 3; ++n) EXPECT_THAT(jobs[n], HasSubstr(R"("closely":[])")) << n;
  EXPECT_THAT(jobs[3], HasSubstr(R"("closely":null)"));
}

/// The apply ends before it knows of any resource, though no worker died.
class ControllerInVainTest : public ControllerTest {
 protected:
  ControllerInVainTest() {
    model::Report report;
    report.error = base::Error{base::Code::kIo, "reading state.json: Input/output error", 0};
    tree.put("/failed", core::report_json(report).dump());
  }
  /// The results of `verb` the first times; `active` is the ledger's active generation until it succeeds.
  static std::string fails(const std::string& what, int times, int active) {
    return fmt::format(
        "if [ $verb = {} ] && [ $(grep -c '^{}$' \"$here/verbs\") -le {} ]; then\n"
        "printf '{{\"exit\":1,\"report\":%s,\"status\":{{\"active\":{}}}}}\\n' \"$(cat \"$here/failed\")\"\n"
        "exit; fi\n",
        what, what, times, active);
  }
};

TEST_F(ControllerInVainTest, WhereNothingIsActiveTheApplyIsTriedUntilItSucceeds) {
  play(fails(kApply, 7, 0));
  controller.start();
  when_started(8, [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(verbs(), AllOf(SizeIs(8), Each(kApply)));
}

TEST_F(ControllerInVainTest, WhereSomethingIsActiveThatIsHeldAfterAFewTries) {
  play(fails(kApply, 100, 3));
  controller.start();
  when_started(6, [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(verbs(), ElementsAre(kApply, kApply, kApply, kApply, kApply, kHold));
}

TEST_F(ControllerInVainTest, OneThatIsTriedAgainSaysWhatWasAppliedWhenItFellDue) {
  tree.put("/run/applied", "4711\n");
  play("echo \"$verb\" >\"$here/run/applied\"\n" + fails(kApply, 2, 3));
  controller.start();
  when_started(3, [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  const auto jobs = asked();
  ASSERT_THAT(jobs, SizeIs(3));
  EXPECT_THAT(jobs[0], HasSubstr(R"("applied_then":null)"));
  EXPECT_THAT(jobs[1], HasSubstr(R"("applied_then":"4711\n")"));
  EXPECT_THAT(jobs[2], HasSubstr(R"("applied_then":"4711\n")")) << "not what was applied after the first";
}

TEST_F(ControllerInVainTest, WhetherAnythingIsActiveAHoldTells) {
  play("if [ $verb = " + kHold + " ]; then status='{\"active\":0}'; elif [ $(grep -c '^" + kApply +
       "$' \"$here/verbs\") -le 6 ]; then kill -9 $$; fi");
  controller.start();
  when_started(8, [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(verbs(), ElementsAre(kApply, kApply, kApply, kApply, kApply, kHold, kApply, kApply));
}

TEST_F(ControllerInVainTest, AWorkerThatCannotBeStartedKeepsNoHostFromBeingConfigured) {
  play("[ $verb != " + kHold + " ] || status='{\"active\":0}'");
  std::filesystem::rename(tree.at("/worker"), tree.at("/away"));
  Manager manager(tree.at("/notify").native());
  controller.start();
  // After five applies in vain what is active is to be held.
  when([&] { return manager.runs() >= 5; },
       [&] {
         std::filesystem::rename(tree.at("/away"), tree.at("/worker"));
         when(
             [&] {
               (void)manager.told();
               return std::filesystem::exists(tree.at("/verbs")) && verbs().back() == kApply;
             },
             [this] { controller.stop(); });
       });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(verbs(), ElementsAre(kHold, kApply));
}

TEST_F(ControllerTest, ForWhomItWaitsIsSaid) {
  Manager manager(tree.at("/notify").native());
  play(R"(echo '{"progress":[0,0,"process 7 is applying"]}'; until [ -e "$here/go" ]; do sleep 0.02; done)");
  controller.start();
  when([&] { return manager.status() == "process 7 is applying"; },
       [this] {
         tree.put("/go", "");
         controller.stop();
       });
  EXPECT_EQ(run(), 0);
}

TEST_F(ControllerTest, AtItsEndItIsNotReadyAgain) {
  Manager manager(tree.at("/notify").native());
  // The reload waits behind an expiry, and is cancelled.
  play(R"(status='{"active":1,"unconfirmed":{"generation":1,"deadline":"then","deadline_ms":0}}'
[ $verb != )" +
       kExpire + R"( ] || until [ -e "$here/go" ]; do sleep 0.02; done)");
  controller.start();
  when_started(2, [this] {
    controller.reload();
    controller.stop();
    tree.put("/go", "");
  });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(verbs(), ElementsAre(kApply, kExpire));
  const auto told = manager.told();
  const auto stopping = std::find(told.begin(), told.end(), "STOPPING=1");
  ASSERT_NE(stopping, told.end());
  EXPECT_EQ(std::count(told.begin(), stopping, "READY=1"), 1);
  EXPECT_EQ(std::count(stopping, told.end(), "READY=1"), 0);
}

TEST_F(ControllerTest, AtItsEndItWaitsForTheChangeThatRuns) {
  play(R"(until [ -e "$here/go" ]; do sleep 0.02; done; touch "$here/finished")");
  controller.start();
  when_started(1, [this] {
    controller.stop();
    tree.put("/go", "");
  });
  EXPECT_EQ(run(), 0);
  EXPECT_TRUE(std::filesystem::exists(tree.at("/finished")));
}

TEST_F(ControllerTest, WithNothingToDoItEndsAtOnce) {
  play("");
  controller.start();
  when_started(1, [this] { poll = loop.after(500ms, [this] { controller.stop(); }); });
  EXPECT_EQ(run(), 0);
}

TEST_F(ControllerTest, AConfigurationThatIsRefusedIsSaid) {
  Manager manager(tree.at("/notify").native());
  model::Report report;
  report.diagnostics.push_back(
      {model::Severity::kError, {"config.toml", 3, 1}, "[[ipoib]] has no key \"mut\"", "", {}});
  report.exit = model::Exit::kError;
  tree.put("/refused", core::report_json(report).dump());
  play(
      "[ -e \"$here/good\" ] || { printf '{\"exit\":1,\"report\":%s,\"status\":{\"active\":1,"
      "\"document_held\":false}}\\n' \"$(cat \"$here/refused\")\"; exit; }");
  controller.start();
  std::string before, left;
  when([&] { return manager.status().starts_with("generation"); },
       [&] {
         before = manager.status();
         left = tree.get("/run/refused.json");
         tree.put("/good", "");
         controller.reload();
         when([&] { return manager.status() == "generation 1 is active"; }, [this] { controller.stop(); });
       });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(before,
            "generation 1 is active; the configuration is not applied: config.toml:3:1: [[ipoib]] has no key "
            "\"mut\"");
  EXPECT_THAT(left,
              AllOf(HasSubstr(R"("generation":1)"), HasSubstr("config.toml:3:1: [[ipoib]] has no key")));
  EXPECT_FALSE(std::filesystem::exists(tree.at("/run/refused.json"))) << "it is applied now";
}

/// A daemon had refused the configuration when it was killed.
class ControllerRefusedTest : public ControllerTest {
 protected:
  /// @return what it says once it has done what it began with
  std::string status_after(const std::string& boot, const std::string& worker) {
    Manager manager(tree.at("/notify").native());
    tree.put("/run/running", boot + "\n");
    tree.put("/run/refused.json",
             R"({"boot_id":")" + boot + R"(","generation":1,"why":"config.toml:3:1: wrong"})" + "\n");
    play("status='" + worker + "'");
    controller.start();
    std::string said;
    when([&] { return manager.status().starts_with("generation"); },
         [&] {
           said = manager.status();
           left = tree.get("/run/refused.json");
           controller.stop();
         });
    EXPECT_EQ(run(), 0);
    return said;
  }
  std::string left;
};

TEST_F(ControllerRefusedTest, ItIsStillRefusedAfterACrash) {
  EXPECT_EQ(status_after(system::linux_boot_id(), R"({"active":1,"document_judged":false})"),
            "generation 1 is active; the configuration is not applied: config.toml:3:1: wrong");
  EXPECT_THAT(left, HasSubstr("config.toml:3:1: wrong")) << "and after the next one";
}

TEST_F(ControllerRefusedTest, SomebodyHasAppliedAnotherOneMeanwhile) {
  EXPECT_EQ(status_after(system::linux_boot_id(), R"({"active":2,"document_judged":false})"),
            "generation 2 is active");
}

TEST_F(ControllerRefusedTest, AfterABootItIsReadAgain) {
  EXPECT_EQ(status_after("another boot", R"({"active":1,"document_judged":true})"), "generation 1 is active");
}

TEST_F(ControllerTest, AfterACrashTheConfigurationIsNotReadAgain) {
  const auto marker = system::linux_boot_id() + "\n";
  tree.put("/run/running", marker);
  play("");
  controller.start();
  when_started(1, [this] { poll = loop.after(300ms, [this] { controller.stop(); }); });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(asked().front(), HasSubstr(R"("resumes":true)"));
  EXPECT_FALSE(std::filesystem::exists(tree.at("/run/running"))) << "this one came to its end";
}

TEST_F(ControllerTest, AfterABootTheConfigurationIsRead) {
  tree.put("/run/running", "another boot\n");
  play(R"(until [ -e "$here/go" ]; do sleep 0.02; done)");
  controller.start();
  std::string during, then;
  const auto text = [this] { return tree.get("/run/running"); };
  when_started(1, [&] {
    during = text();
    tree.put("/go", "");
    when([&] { return text() != during; },
         [&] {
           then = text();
           controller.stop();
         });
  });
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(asked().front(), HasSubstr(R"("resumes":false)"));
  EXPECT_EQ(during, "another boot\n") << "a crash before it was read is none";
  EXPECT_THAT(then, ::testing::StartsWith(system::linux_boot_id() + "\n"));
}

TEST_F(ControllerTest, WhatBootLeavesIsDoneOnceItIsReady) {
  model::Report report;
  report.resources.push_back({.key = {"initramfs", "image"},
                              .label = "initramfs",
                              .status = model::Status::kPending,
                              .reason = "follows when the rest is done",
                              .follows = true});
  tree.put("/left", core::report_json(report).dump());
  play("[ $verb != " + kApply +
       " ] || { printf '{\"exit\":5,\"report\":%s,\"status\":{\"active\":1}}\\n' \"$(cat \"$here/left\")\"; "
       "exit; }");
  controller.start();
  when_started(2, [this] { poll = loop.after(500ms, [this] { controller.stop(); }); });
  EXPECT_EQ(run(), 0);
  ASSERT_THAT(verbs(), ElementsAre(kApply, kHold));
  EXPECT_THAT(asked()[0], HasSubstr(R"("awaited":true)"));
  EXPECT_THAT(asked()[1], HasSubstr(R"("awaited":false)"));
}

/// A host with drift = "report": one resource that was as wanted, which a hold finds to be otherwise.
class ControllerDriftTest : public ControllerTest {
 protected:
  ControllerDriftTest() {
    model::Report settled, drifted;
    settled.resources.push_back(
        {.key = {"ipoib", "x"}, .label = "x", .status = model::Status::kInSync, .instance = "boot/5"});
    drifted.resources.push_back(
        {.key = {"ipoib", "x"}, .label = "x", .status = model::Status::kFailed, .instance = "boot/5"});
    model::Change change;
    change.key = {"ipoib", "x"};
    change.operation = model::Operation::kUpdate;
    change.fields = {"mtu"};
    drifted.drifted.push_back(change);
    tree.put("/settled", core::report_json(settled).dump());
    tree.put("/drifted", core::report_json(drifted).dump());
  }
  /// Which of the two each verb finds.
  void finds(const std::string& apply, const std::string& hold) {
    play("report=" + hold + "; if [ $verb = " + kApply + " ]; then report=" + apply +
         "; fi\n"
         "printf '{\"exit\":0,\"report\":%s,\"status\":{\"active\":3,\"report_drift\":true}}\\n' "
         "\"$(cat \"$here/$report\")\"; exit");
  }
  /// The record of the daemon before: the kernel object that the resource was on.
  void left(const std::string& boot) const {
    tree.put("/run/settled.json",
             R"({"boot_id":")" + boot + R"(","generation":3,"resources":[["ipoib","x","boot/5"]]})" + "\n");
  }
  void start_and_end() {
    controller.start();
    when_started(1, [this] { poll = loop.after(500ms, [this] { controller.stop(); }); });
    EXPECT_EQ(run(), 0);
  }
};

TEST_F(ControllerDriftTest, AHoldKnowsWhatWasAsWanted) {
  model::Report left;
  left.resources.push_back(
      {.key = {"ipoib", "x"}, .label = "x", .status = model::Status::kInSync, .instance = "boot/5"});
  left.resources.push_back({.key = {"initramfs", "image"},
                            .label = "initramfs",
                            .status = model::Status::kPending,
                            .reason = "follows when the rest is done",
                            .follows = true});
  tree.put("/left", core::report_json(left).dump());
  finds("left", "drifted");
  controller.start();
  when_started(2, [this] { poll = loop.after(500ms, [this] { controller.stop(); }); });
  EXPECT_EQ(run(), 0);
  ASSERT_THAT(verbs(), ElementsAre(kApply, kHold));
  EXPECT_THAT(asked()[1],
              AllOf(HasSubstr(R"("settled":[["ipoib","x","boot/5"]])"), HasSubstr(R"("left_alone":[])")));
  EXPECT_THAT(tree.get("/run/settled.json"), HasSubstr(R"(["ipoib","x","boot/5"])"))
      << "still, as it drifted";
}

TEST_F(ControllerDriftTest, WhatTheDaemonBeforeKnewIsKnownAtAStart) {
  left(system::linux_boot_id());
  finds("drifted", "drifted");
  start_and_end();
  EXPECT_THAT(verbs(), ElementsAre(kApply));
  EXPECT_THAT(asked().front(),
              AllOf(HasSubstr(R"("settled":[["ipoib","x","boot/5"]])"), HasSubstr(R"("settled_at":3)")));
  EXPECT_THAT(tree.get("/run/settled.json"), HasSubstr(R"(["ipoib","x","boot/5"])")) << "for the next one";
}

TEST_F(ControllerDriftTest, AfterABootNothingHasDrifted) {
  left("another boot");
  finds("settled", "settled");
  start_and_end();
  EXPECT_THAT(asked().front(), AllOf(HasSubstr(R"("settled":[])"), HasSubstr(R"("settled_at":0)")));
}

TEST_F(ControllerTest, WithDriftToBeRepairedNoWordIsLeft) {
  tree.put("/run/settled.json", "{}");
  play("");
  controller.start();
  when([this] { return !std::filesystem::exists(tree.at("/run/settled.json")); },
       [this] { controller.stop(); });
  EXPECT_EQ(run(), 0) << "it is still there";
}

TEST(Wakes, ADeviceMayBeAmongLostEventsOfUdev) {
  using system::Event;
  using Sort = Event::Sort;
  EXPECT_EQ(wake_of({Sort::kDevice, "mlx4_0 add"}), Wake::kDevice);
  EXPECT_EQ(wake_of(Event::lost(Event::Queue::kUdev)), Wake::kDevice);
  EXPECT_EQ(wake_of(Event::lost(Event::Queue::kRtnetlink)), Wake::kDrift);
  EXPECT_EQ(wake_of(Event::lost(Event::Queue::kRdmaNetlink)), Wake::kDrift) << "udev tells of devices";
  EXPECT_EQ(wake_of({Sort::kPort, "mlx5_0 port 1: net device eth2"}), Wake::kDrift);
  EXPECT_EQ(wake_of({Sort::kDeviceChange, "mlx4_0 remove"}), Wake::kDrift);
  EXPECT_EQ(wake_of({Sort::kFile, ledger_path()}), Wake::kApply);
  EXPECT_EQ(wake_of({Sort::kDeviceChange, "udev"}), Wake::kDrift) << "a device may have any name";
}

TEST_F(ControllerTest, EventsOfOthersDoNotPutTheAuditOff) {
  if (::unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "no network namespace can be made here";
  const base::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  play(R"(status='{"active":1,"audit_s":1}')");
  controller.start();
  // Interfaces that are none of ours come up and go down all the time.
  bool up = false;
  Loop::Handle busy;
  std::function<void()> toggle = [&] {
    up = !up;
    ifreq request{};
    std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
    request.ifr_flags = up ? IFF_UP : 0;
    EXPECT_EQ(::ioctl(socket.get(), SIOCSIFFLAGS, &request), 0);
    busy = loop.after(50ms, toggle);
  };
  toggle();
  const auto enough = loop.after(60s, [this] { controller.stop(); });
  when_started(3, [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  const auto done = verbs();
  EXPECT_GE(std::count(done.begin(), done.end(), kHold), 2);
}

}  // namespace
}  // namespace rdmacfg::daemon
