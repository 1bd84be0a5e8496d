// SPDX-License-Identifier: Apache-2.0
// Units, jobs, timers and udev at a systemd that is the test's: each promise of system/units.hpp and
// system/timers.hpp.
#include "fakes/bus/systemd.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "bus_fixture.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {
namespace {

using base::Code;
using fakes::bus::error;
using fakes::bus::reply;
using fakes::bus::silence;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr const char* kUnitA = "rdmacfg-test-a.service";
constexpr const char* kUnitB = "rdmacfg-test-b.service";
constexpr const char* kTimed = "rdmacfg-test.service";  ///< started by a timer
constexpr const char* kDeniedByBus = "org.freedesktop.DBus.Error.AccessDenied";

class OnSystemd : public BusFixture {
 protected:
  void SetUp() override {
    BusFixture::SetUp();
    if (IsSkipped()) return;
    systemd.emplace();
    units = make_linux_units(limits());
  }

  void add(const std::string& name, fakes::bus::Systemd::Unit unit = {}) {
    systemd->peer().locked([&] { systemd->units[name] = std::move(unit); });
  }
  void end_jobs_with(const std::string& result, const std::string& state = "running") {
    systemd->peer().locked([&] {
      systemd->job_result = result;
      systemd->job_state = state;
    });
  }
  std::vector<std::string> log() {
    return systemd->peer().locked([&] { return systemd->log; });
  }
  static fakes::bus::Systemd::Unit running(std::uint32_t pid) {
    fakes::bus::Systemd::Unit unit;
    unit.active = "active";
    unit.sub = "running";
    unit.file = "enabled";
    unit.pid = pid;
    return unit;
  }
  std::vector<Unit> observed(const std::vector<std::string>& names) {
    auto all = units->observe_units(names);
    EXPECT_TRUE(all) << all.error().message;
    EXPECT_TRUE(all && *all);
    return all && *all ? **all : std::vector<Unit>{};
  }

  Unit unit_of(const std::string& name) {
    const auto all = observed({name});
    return all.empty() ? Unit{} : all.front();
  }

  std::optional<fakes::bus::Systemd> systemd;
  std::unique_ptr<Units> units;
};

/// Requests to systemd, for tables of ways to fail.
struct UnitRequest {
  const char* member;
  std::function<base::Result<void>(Units& units)> make;
};

template <class T>
base::Result<void> without_value(const base::Result<T>& result) {
  if (!result) return base::fail(result.error());
  return {};
}

std::vector<UnitRequest> unit_requests() {
  return {
      {"ListUnitsByNames",
       [](Units& units) {
         const std::vector<std::string> names{kUnitA};
         return without_value(units.observe_units(names));
       }},
      {"ListUnitsByPatterns",
       [](Units& units) { return without_value(units.observe_instances("rdmacfg-test@.service")); }},
      {"EnableUnitFiles", [](Units& units) { return units.set_enabled(kUnitA, true); }},
      {"DisableUnitFiles", [](Units& units) { return units.set_enabled(kUnitA, false); }},
      {"StartUnit", [](Units& units) { return units.act(UnitAction::kStart, kUnitA); }},
      {"StopUnit", [](Units& units) { return units.act(UnitAction::kStop, kUnitA); }},
      {"RestartUnit", [](Units& units) { return units.act(UnitAction::kRestart, kUnitA); }},
      {"ReloadUnit", [](Units& units) { return units.act(UnitAction::kReload, kUnitA); }},
      {"Subscribe", [](Units& units) { return units.act(UnitAction::kStart, kUnitA); }},
      {"KillUnit", [](Units& units) { return units.kill(kUnitA); }},
      {"Reload", [](Units& units) { return units.reload_manager(); }},
  };
}

TEST_F(OnSystemd, UnitsComeInTheOrderOfTheirNames) {
  auto unit = running(4711);
  unit.needs_reload = true;
  unit.stops_unneeded = true;
  add(kUnitA, unit);
  add(kUnitB);
  systemd->peer().locked([&] { systemd->aliases["rdmacfg-test-alias.service"] = kUnitA; });
  const auto all = observed({kUnitB, "rdmacfg-test-alias.service", "rdmacfg-test-none.service"});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, kUnitB);
  EXPECT_EQ(all[0].active, "inactive");
  EXPECT_EQ(all[0].sub, "dead");
  EXPECT_EQ(all[0].file, "disabled");
  EXPECT_EQ(all[0].main_pid, 0);
  EXPECT_FALSE(all[0].needs_reload);
  EXPECT_EQ(all[1].name, "rdmacfg-test-alias.service") << "as it was asked for";
  EXPECT_EQ(all[1].id, kUnitA);
  EXPECT_EQ(all[1].file, "enabled");
  EXPECT_EQ(all[1].main_pid, 4711);
  EXPECT_TRUE(all[1].needs_reload);
  EXPECT_TRUE(all[1].stops_unneeded);
  EXPECT_FALSE(all[1].ends_by_itself);
  EXPECT_EQ(all[2].load, "not-found");
  EXPECT_FALSE(all[2].there());
}

TEST_F(OnSystemd, AOneshotEndsByItselfUnlessItRemains) {
  auto once = running(0);
  once.type = "oneshot";
  add(kUnitA, once);
  once.remains = true;
  add(kUnitB, once);
  const auto all = observed({kUnitA, kUnitB});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].ends_by_itself);
  EXPECT_FALSE(all[1].ends_by_itself);
}

TEST_F(OnSystemd, PropertiesThatCannotBeReadKeepTheirDefaults) {
  const std::set<std::string> all_of_them{
      "NeedDaemonReload", "StopWhenUnneeded", "Type", "RemainAfterExit", "MainPID", "Names", "DropInPaths"};
  auto unit = running(4711);
  unit.file = "";
  unit.missing = all_of_them;
  add(kUnitA, unit);
  unit.missing.clear();
  unit.wrong_type = all_of_them;
  add(kUnitB, unit);
  for (const auto& seen : observed({kUnitA, kUnitB})) {
    SCOPED_TRACE(seen.name);
    EXPECT_EQ(seen.active, "active") << "what the list says is there";
    EXPECT_EQ(seen.file, "");
    EXPECT_EQ(seen.main_pid, 0);
    EXPECT_FALSE(seen.needs_reload);
    EXPECT_FALSE(seen.stops_unneeded);
    EXPECT_FALSE(seen.ends_by_itself);
  }
}

TEST_F(OnSystemd, InstancesOfATemplateWithAnEscapedName) {
  const std::string stem = R"(rdmacfg\x2dtest@)";
  add(stem + "mlx5_0:1.service", running(11));
  add(stem + R"(dev-disk\x2da.service)", running(12));
  add(stem + "ended.service");
  add("rdmacfg-test@mlx5_0:1.service", running(13));
  add("rdmacfgxx2dtest@mlx5_0:1.service", running(14));
  const auto all = units->observe_instances(stem + ".service");
  ASSERT_TRUE(all && *all);
  std::vector<std::pair<std::string, std::int64_t>> found;
  for (const auto& unit : **all) found.emplace_back(unit.name, unit.main_pid);
  EXPECT_THAT(found, UnorderedElementsAre(std::pair(stem + "mlx5_0:1.service", 11),
                                          std::pair(stem + R"(dev-disk\x2da.service)", 12)));
}

TEST_F(OnSystemd, AThousandInstances) {
  for (std::uint32_t i = 0; i < 1000; ++i)
    add("rdmacfg-test@u" + std::to_string(i) + R"(\x2d.service)", running(i + 1));
  const auto all = units->observe_instances("rdmacfg-test@.service");
  ASSERT_TRUE(all && *all);
  ASSERT_EQ((*all)->size(), 1000U);
  for (const auto& unit : **all)
    EXPECT_EQ(unit.name, "rdmacfg-test@u" + std::to_string(unit.main_pid - 1) + R"(\x2d.service)");
}

TEST_F(OnSystemd, JobsChangeUnits) {
  add(kUnitA);
  ASSERT_TRUE(units->act(UnitAction::kStart, kUnitA));
  EXPECT_EQ(unit_of(kUnitA).active, "active");
  ASSERT_TRUE(units->act(UnitAction::kReload, kUnitA));
  ASSERT_TRUE(units->act(UnitAction::kRestart, kUnitA));
  ASSERT_TRUE(units->act(UnitAction::kStop, kUnitA));
  EXPECT_EQ(unit_of(kUnitA).active, "inactive");
  EXPECT_THAT(
      log(),
      ElementsAre("StartUnit rdmacfg-test-a.service replace", "ReloadUnit rdmacfg-test-a.service replace",
                  "RestartUnit rdmacfg-test-a.service replace", "StopUnit rdmacfg-test-a.service replace"));
  const auto reload = units->act(UnitAction::kReload, kUnitA);
  ASSERT_FALSE(reload);
  EXPECT_EQ(reload.error().code, Code::kUnsupported) << "it is not active";
  const auto none = units->act(UnitAction::kStart, kUnitB);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kNotFound);
}

TEST_F(OnSystemd, AJobsResultDecides) {
  add(kUnitA);
  end_jobs_with("skipped");
  EXPECT_TRUE(units->act(UnitAction::kStart, kUnitA));
  for (const auto* result : {"failed", "canceled", "timeout", "dependency", "assert", "collected"}) {
    SCOPED_TRACE(result);
    end_jobs_with(result);
    const auto done = units->act(UnitAction::kStart, kUnitA);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::kRefused);
    EXPECT_THAT(done.error().message, HasSubstr(std::string("\"") + result + "\""));
    EXPECT_THAT(done.error().message, HasSubstr(kUnitA));
  }
  end_jobs_with("invalid");
  const auto done = units->act(UnitAction::kStart, kUnitA);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kUnsupported);
}

TEST_F(OnSystemd, AJobThatWaitsIsLeftInTheQueue) {
  auto some = limits();
  some.queued = milliseconds(50);
  units = make_linux_units(some);
  add(kUnitA);
  end_jobs_with("", "waiting");
  EXPECT_TRUE(units->act(UnitAction::kStart, kUnitA));
  EXPECT_EQ(unit_of(kUnitA).job, "start");
  systemd->end_job("done");
  EXPECT_EQ(unit_of(kUnitA).job, "");
}

TEST_F(OnSystemd, AJobThatDoesNotEndTimesOut) {
  units = make_linux_units(short_limits());
  add(kUnitA);
  end_jobs_with("");
  const auto done = units->act(UnitAction::kStart, kUnitA);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kTimeout);
  EXPECT_THAT(done.error().message, HasSubstr(kUnitA));
}

TEST_F(OnSystemd, ASystemdThatHangsDuringAJobIsWaitedForOnce) {
  add(kUnitA);
  end_jobs_with("");
  auto& peer = systemd->peer();
  peer.play("Get", silence());
  EXPECT_TRUE(unit::with_growing_limit(kShort, [&](milliseconds time) {
    auto some = short_limits(time);
    some.job = std::chrono::hours(24);  // no test lives to see its end
    const auto before = peer.calls("Get");
    const auto done = make_linux_units(some)->act(UnitAction::kStart, kUnitA);
    return !done && done.error().code == Code::kTimeout && peer.calls("Get") == before + 1;
  }));
}

TEST_F(OnSystemd, TheEndOfAnotherJobIsNotItsEnd) {
  add(kUnitA);
  end_jobs_with("");
  auto done = std::async(std::launch::async, [&] { return units->act(UnitAction::kStart, kUnitA); });
  ASSERT_TRUE(await_call(systemd->peer(), "StartUnit"));
  systemd->peer().run([](sd_bus* connection) {
    (void)sd_bus_emit_signal(connection, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
                             "JobRemoved", "uoss", 900U, "/org/freedesktop/systemd1/job/900", kUnitA, "done");
    (void)sd_bus_emit_signal(connection, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
                             "JobRemoved", "s", "of another type");
  });
  systemd->end_job("failed");
  EXPECT_FALSE(done.get());
}

TEST_F(OnSystemd, OnlySystemdEndsAJob) {
  add(kUnitA);
  end_jobs_with("");
  fakes::bus::Peer stranger("");
  stranger.start();
  const auto job = systemd->peer().locked([&] { return systemd->next_job(); });
  auto done = std::async(std::launch::async, [&] { return units->act(UnitAction::kStart, kUnitA); });
  ASSERT_TRUE(await_call(systemd->peer(), "StartUnit"));
  const auto caller = systemd->peer().caller();
  stranger.run([&](sd_bus* connection) {
    for (const char* to : {static_cast<const char*>(nullptr), caller.c_str()}) {
      sd_bus_message* signal = nullptr;
      ASSERT_GE(sd_bus_message_new_signal(connection, &signal, "/org/freedesktop/systemd1",
                                          "org.freedesktop.systemd1.Manager", "JobRemoved"),
                0);
      (void)sd_bus_message_append(signal, "uoss", 1U, job.c_str(), kUnitA, "done");
      (void)sd_bus_send_to(connection, signal, to, nullptr);
      sd_bus_message_unref(signal);
    }
  });
  stranger.flush();
  systemd->end_job("failed");
  const auto result = done.get();
  ASSERT_FALSE(result) << "another client has said that it is done";
  EXPECT_THAT(result.error().message, HasSubstr("failed"));
}

// systemd.unit(5): each condition has to hold, and one of those with "|".
TEST_F(OnSystemd, TheConditionThatDoesNotHoldIsNamed) {
  struct Row {
    std::vector<fakes::bus::Systemd::Condition> conditions;
    const char* unmet;
  };
  for (const auto& row : {
           Row{{}, ""},
           Row{{{"ConditionPathExists", false, false, "/a", 1}}, ""},
           Row{{{"ConditionPathExists", false, false, "/a", 0}}, ""},
           Row{{{"ConditionPathExists", false, false, "/a", 1},
                {"ConditionPathExists", false, true, "/b", -1}},
               "ConditionPathExists=!/b"},
           Row{{{"ConditionPathExists", true, false, "/a", -1}, {"ConditionHost", true, false, "x", 1}}, ""},
           Row{{{"ConditionPathExists", true, false, "/a", -1}, {"ConditionHost", true, false, "x", -1}},
               "ConditionPathExists=/a"},
           Row{{{"ConditionPathExists", true, false, "/a", -1}, {"ConditionHost", false, false, "x", -1}},
               "ConditionHost=x"},
       }) {
    fakes::bus::Systemd::Unit unit;
    unit.conditions = row.conditions;
    add(kUnitA, unit);
    EXPECT_EQ(units->unmet_condition(kUnitA), row.unmet);
  }
  EXPECT_EQ(units->unmet_condition(kUnitB), "") << "there is none";
  systemd->peer().play("Get", reply("v", "t", std::uint64_t{7}));
  EXPECT_EQ(units->unmet_condition(kUnitA), "") << "of another type";
  systemd.reset();
  EXPECT_EQ(units->unmet_condition(kUnitA), "");
}

TEST_F(OnSystemd, EnablingReloads) {
  add(kUnitA);
  ASSERT_TRUE(units->set_enabled(kUnitA, true));
  EXPECT_EQ(unit_of(kUnitA).file, "enabled");
  ASSERT_TRUE(units->set_enabled(kUnitA, false));
  EXPECT_EQ(unit_of(kUnitA).file, "disabled");
  EXPECT_THAT(log(), ElementsAre("EnableUnitFiles rdmacfg-test-a.service", "Reload",
                                 "DisableUnitFiles rdmacfg-test-a.service", "Reload"));
  const auto none = units->set_enabled(kUnitB, true);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kNotFound);
  fakes::bus::Systemd::Unit fixed;
  fixed.installable = false;
  add(kUnitB, fixed);
  const auto done = units->set_enabled(kUnitB, true);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kUnsupported);
  EXPECT_THAT(done.error().message, HasSubstr("[Install]"));
}

TEST_F(OnSystemd, SignalsAreSentToProcessesThatTakeThem) {
  const auto before = std::signal(SIGUSR1, [](int) {});
  add(kUnitA, running(static_cast<std::uint32_t>(::getpid())));
  EXPECT_TRUE(units->await_handler(kUnitA, SIGUSR1));
  EXPECT_TRUE(units->signal(kUnitA, SIGUSR1));
  EXPECT_TRUE(units->kill(kUnitA));
  EXPECT_THAT(log(), ElementsAre("KillUnit rdmacfg-test-a.service main " + std::to_string(SIGUSR1),
                                 "KillUnit rdmacfg-test-a.service all " + std::to_string(SIGKILL)));
  (void)std::signal(SIGUSR1, before);
}

TEST_F(OnSystemd, AServiceWithoutProcesses) {
  add(kUnitA);
  EXPECT_TRUE(units->kill(kUnitA));
  EXPECT_FALSE(units->signal(kUnitA, SIGUSR1)) << "nobody got it";
  systemd->peer().play("KillUnit", error("org.freedesktop.systemd1.NoSuchProcess", "No process"));
  EXPECT_TRUE(units->kill(kUnitA));
}

TEST_F(OnSystemd, ErrorsAreTold) {
  add(kUnitA, running(1));
  for (const auto& request : unit_requests()) {
    SCOPED_TRACE(request.member);
    units = make_linux_units(limits());
    systemd->peer().play(request.member, error(kDeniedByBus, "not for you"));
    const auto done = request.make(*units);
    systemd->peer().play(request.member, nullptr);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::kDenied);
    EXPECT_THAT(done.error().message, HasSubstr("not for you"));
  }
}

TEST_F(OnSystemd, RepliesOfAnotherTypeAreErrors) {
  add(kUnitA, running(1));
  for (const auto& request : unit_requests()) {
    const std::string member = request.member;
    // Of these the reply is not read.
    if (member == "DisableUnitFiles" || member == "KillUnit" || member == "Reload" || member == "Subscribe")
      continue;
    SCOPED_TRACE(member);
    systemd->peer().play(member, reply("t", std::uint64_t{7}));
    EXPECT_FALSE(request.make(*units));
    systemd->peer().play(member, nullptr);
  }
}

TEST_F(OnSystemd, ManagersThatHangTimeOut) {
  add(kUnitA, running(1));
  for (const auto& request : unit_requests()) {
    SCOPED_TRACE(request.member);
    systemd->peer().play(request.member, silence());
    expect_timeout(systemd->peer(), request.member,
                   [&](const BusLimits& some) { return error_of(request.make(*make_linux_units(some))); });
    systemd->peer().play(request.member, nullptr);
  }
}

// A unit whose state systemd has not told is not a disabled one.
TEST_F(OnSystemd, APropertyWithoutAnAnswerIsNotTakenForNothing) {
  add(kUnitA, running(1));
  systemd->peer().play("GetUnitFileState", silence());
  expect_timeout(systemd->peer(), "GetUnitFileState", [](const BusLimits& some) {
    const std::vector<std::string> names{kUnitA};
    return error_of(make_linux_units(some)->observe_units(names));
  });
}

TEST_F(OnSystemd, ASystemdThatFellSilentIsAskedForASignOfLifeFirst) {
  add(kUnitA, running(1));
  const std::vector<std::string> names{kUnitA};
  auto& peer = systemd->peer();
  for (const auto* member : {"ListUnitsByNames", "Ping"}) peer.play(member, silence());
  const auto start = Silence::Clock::now();
  const bool fell_silent = unit::with_growing_limit(kShort, [&](milliseconds time) {
    auto some = short_limits(time);
    some.silences = std::make_shared<Silences>([start] { return start; });
    units = make_linux_units(some);
    (void)units->observe_units(names);
    return peer.calls("ListUnitsByNames") > 0 && some.silences->systemd.presumed();
  });
  ASSERT_TRUE(fell_silent);
  const auto asked = peer.calls("ListUnitsByNames");
  for (const auto& request : unit_requests()) {
    SCOPED_TRACE(request.member);
    const auto before = peer.calls(request.member), pings = peer.calls("Ping");
    const auto done = request.make(*units);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::kTimeout);
    EXPECT_EQ(peer.calls(request.member), before) << "this would take a whole deadline";
    EXPECT_LE(peer.calls("Ping"), pings + 1);
  }
  EXPECT_EQ(peer.calls("ListUnitsByNames"), asked);
  for (const auto* member : {"ListUnitsByNames", "Ping"}) peer.play(member, nullptr);
  // The time for a sign of life is short, so a loaded machine may need another try.
  EXPECT_TRUE(unit::wait_until([&] { return units->observe_units(names).has_value(); }));
}

// A big host reads its unit files for minutes, and answers again.
TEST_F(OnSystemd, ReadingUnitFilesSlowlyIsNoSilence) {
  add(kUnitA, running(1));
  auto& peer = systemd->peer();
  for (const auto& request : unit_requests()) {
    const std::string member = request.member;
    if (member != "Reload" && member != "EnableUnitFiles" && member != "DisableUnitFiles") continue;
    SCOPED_TRACE(member);
    peer.play(member, silence());
    BusLimits some;
    EXPECT_TRUE(unit::with_growing_limit(kShort, [&](milliseconds time) {
      some = short_limits(time);
      const auto before = peer.calls(member);
      (void)request.make(*make_linux_units(some));
      return peer.calls(member) > before;
    }));
    EXPECT_FALSE(some.silences->systemd.presumed());
    peer.play(member, nullptr);
  }
}

TEST_F(OnSystemd, ReadingUnitFilesHasATimeOfItsOwn) {
  add(kUnitA, running(1));
  // Connecting has the short time, too.
  EXPECT_TRUE(unit::with_growing_limit(kShort, [&](milliseconds time) {
    auto some = short_limits(time);
    some.reload = unit::kPatience;
    systemd->peer().play("Reload", [time](sd_bus_message* call) {
      std::this_thread::sleep_for(2 * time);
      return reply("")(call);
    });
    return make_linux_units(some)->reload_manager().has_value();
  }));
}

// An end of the connection says nothing of whether systemd answers.
TEST_F(OnSystemd, ABusThatGoesIsNoSignOfLife) {
  add(kUnitA, running(1));
  auto some = limits();
  const auto start = Silence::Clock::now();
  some.silences = std::make_shared<Silences>([start] { return start; });
  some.silences->systemd.note();
  systemd->peer().play("Ping", [this](sd_bus_message* /*call*/) {
    bus->stop();
    return 1;
  });
  const std::vector<std::string> names{kUnitA};
  (void)make_linux_units(some)->observe_units(names);
  EXPECT_TRUE(some.silences->systemd.presumed());
  systemd.reset();
}

// The limit of one call is none of several calls that each had an answer.
TEST_F(OnSystemd, SlowAnswersHaveOneBudget) {
  struct Row {
    milliseconds look;
    bool told;
    std::size_t most;  ///< questions about properties
  };
  for (const auto& row : {Row{std::chrono::hours(1), true, 1000}, Row{std::chrono::seconds(25), false, 3}}) {
    auto some = limits();
    some.look = row.look;
    std::atomic<int> passed{0};  // seconds
    const auto start = Silence::Clock::now();
    some.silences =
        std::make_shared<Silences>([&passed, start] { return start + std::chrono::seconds(passed.load()); });
    units = make_linux_units(some);
    add(kUnitA, running(1));
    auto& peer = systemd->peer();
    peer.play("Get", [&passed](sd_bus_message* call) {
      passed += 10;  // each within the 25 s of a call
      return reply("v", "b", 0)(call);
    });
    const auto before = peer.calls("Get");
    const std::vector<std::string> names{kUnitA};
    const auto all = units->observe_units(names);
    peer.play("Get", nullptr);
    EXPECT_LE(peer.calls("Get") - before, row.most);
    EXPECT_EQ(all.has_value(), row.told);
    if (!all) {
      EXPECT_EQ(all.error().code, Code::kTimeout);
      continue;
    }
    ASSERT_TRUE(*all);
    EXPECT_EQ((*all)->front().active, "active");
  }
}

// A slow systemd is not asked for a sign of life, which would come as slowly.
TEST_F(OnSystemd, TheRestOfABudgetTellsOfNoSilence) {
  auto some = limits();
  some.call = some.look = std::chrono::seconds(25);
  std::atomic<int> passed{0};  // milliseconds
  const auto start = Silence::Clock::now();
  some.silences =
      std::make_shared<Silences>([&passed, start] { return start + milliseconds(passed.load()); });
  units = make_linux_units(some);
  add(kUnitA, running(1));
  auto& peer = systemd->peer();
  peer.play("Get", [&passed](sd_bus_message* call) {
    // The first answer leaves little for the next one.
    return passed.exchange(24'950) == 0 ? reply("v", "b", 0)(call) : silence()(call);
  });
  const std::vector<std::string> names{kUnitA};
  const auto all = units->observe_units(names);
  peer.play("Get", nullptr);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, Code::kTimeout);
  EXPECT_FALSE(some.silences->systemd.presumed());
}

TEST_F(OnSystemd, AReplyAfterTheDeadlineIsNotTakenForTheNextOne) {
  units = make_linux_units(short_limits());
  add(kUnitA, running(1));
  systemd->peer().keep("ListUnitsByNames");
  const std::vector<std::string> names{kUnitA};
  EXPECT_FALSE(units->observe_units(names));
  systemd->peer().play("ListUnitsByNames", nullptr);
  systemd->peer().answer_kept(reply("a(ssssssouso)", 0));
  systemd->peer().flush();
  // The limits are short, so a loaded machine may need another try; an empty list is wrong in any case.
  base::Result<std::optional<std::vector<Unit>>> all = base::fail(Code::kTimeout, "");
  for (int i = 0; i < 20 && !all; ++i) all = units->observe_units(names);
  ASSERT_TRUE(all && *all);
  ASSERT_EQ((*all)->size(), 1U);
  EXPECT_EQ((*all)->front().name, kUnitA);
}

TEST_F(OnSystemd, WithoutSystemd) {
  systemd.reset();
  const std::vector<std::string> names{kUnitA};
  const auto all = units->observe_units(names);
  ASSERT_TRUE(all);
  EXPECT_FALSE(all->has_value());
  const auto instances = units->observe_instances("rdmacfg-test@.service");
  ASSERT_TRUE(instances);
  EXPECT_FALSE(instances->has_value());
  const auto act = units->act(UnitAction::kStart, kUnitA);
  ASSERT_FALSE(act);
  EXPECT_EQ(act.error().code, Code::kUnsupported);
  EXPECT_FALSE(units->set_enabled(kUnitA, true));
  EXPECT_FALSE(units->reload_manager());
}

TEST_F(OnSystemd, WhereSystemdWasNotBootedNobodyIsAsked) {
  std::filesystem::remove(folder.at("/run/systemd/system"));
  const std::vector<std::string> names{kUnitA};
  const auto all = units->observe_units(names);
  ASSERT_TRUE(all);
  EXPECT_FALSE(all->has_value());
  EXPECT_EQ(systemd->peer().calls("ListUnitsByNames"), 0U);
  EXPECT_EQ(units->act(UnitAction::kStart, kUnitA).error().code, Code::kUnsupported);
  EXPECT_EQ(units->reload_manager().error().code, Code::kUnsupported);
  EXPECT_EQ(units->kill(kUnitA).error().code, Code::kUnsupported);
  EXPECT_EQ(units->signal(kUnitA, SIGUSR1).error().code, Code::kUnsupported);
  EXPECT_EQ(units->set_enabled(kUnitA, true).error().code, Code::kUnsupported);
}

TEST_F(OnSystemd, ARestartedBusIsReachedAgain) {
  add(kUnitA);
  ASSERT_TRUE(units->act(UnitAction::kStart, kUnitA));
  restart_bus();
  systemd.emplace();
  add(kUnitA, running(5));
  EXPECT_EQ(unit_of(kUnitA).main_pid, 5);
  EXPECT_TRUE(units->act(UnitAction::kStop, kUnitA)) << "its signals are asked for again";
}

TEST_F(OnSystemd, ASystemdThatLeavesInTheMiddleIsAnErrorAndIsFoundAgain) {
  add(kUnitA);
  systemd->peer().leave_at("ListUnitsByNames");
  const std::vector<std::string> names{kUnitA};
  EXPECT_FALSE(units->observe_units(names)) << "not a host without systemd";
  systemd.emplace();
  add(kUnitA, running(5));
  EXPECT_EQ(unit_of(kUnitA).main_pid, 5);
  systemd->peer().leave_at("StartUnit");
  EXPECT_FALSE(units->act(UnitAction::kStart, kUnitA));
}

TEST_F(OnSystemd, ABusThatGoesInTheMiddleOfAJob) {
  add(kUnitA);
  end_jobs_with("");
  auto done = std::async(std::launch::async, [&] { return units->act(UnitAction::kStart, kUnitA); });
  ASSERT_TRUE(await_call(systemd->peer(), "StartUnit"));
  bus->stop();
  EXPECT_FALSE(done.get());
  const std::vector<std::string> names{kUnitA};
  const auto all = units->observe_units(names);
  ASSERT_TRUE(all);
  EXPECT_FALSE(all->has_value()) << "nobody can be reached";
}

TEST_F(OnSystemd, Timers) {
  add(kTimed);
  const auto timers = make_linux_timers(limits());
  const auto armed = [&] {
    return systemd->peer().locked([&] { return systemd->units.contains("rdmacfg-test.timer"); });
  };
  EXPECT_TRUE(timers->disarm("rdmacfg-test")) << "it is not armed";
  ASSERT_TRUE(timers->arm("rdmacfg-test", milliseconds(5000)));
  EXPECT_TRUE(armed());
  ASSERT_TRUE(timers->arm("rdmacfg-test", milliseconds(6000))) << "in place of the one before";
  EXPECT_TRUE(armed());
  ASSERT_TRUE(timers->disarm("rdmacfg-test"));
  EXPECT_FALSE(armed());
}

TEST_F(OnSystemd, ATimerThatIsNotCollectedYetIsWaitedFor) {
  add(kTimed);
  const auto timers = make_linux_timers(limits());
  int refused = 0;
  systemd->peer().play("StartTransientUnit", [&](sd_bus_message* call) {
    if (++refused == 3) systemd->peer().play("StartTransientUnit", nullptr);
    return error("org.freedesktop.systemd1.UnitExists", "it is still there")(call);
  });
  EXPECT_TRUE(timers->arm("rdmacfg-test", milliseconds(5000)));
  EXPECT_EQ(systemd->peer().calls("StartTransientUnit"), 4U);
}

TEST_F(OnSystemd, ATimerWhoseServiceCannotStartIsNotArmed) {
  const auto timers = make_linux_timers(limits());
  const auto refusal = [&] {
    const auto done = timers->arm("rdmacfg-test", milliseconds(5000));
    return done ? std::string() : done.error().message;
  };
  EXPECT_THAT(refusal(), HasSubstr("systemd has no rdmacfg-test.service"));
  fakes::bus::Systemd::Unit unit;
  for (const std::string load : {"masked", "bad-setting"}) {
    unit.load = load;
    add(kTimed, unit);
    EXPECT_THAT(refusal(), HasSubstr("rdmacfg-test.service")) << load;
  }
  EXPECT_EQ(systemd->peer().calls("StartTransientUnit"), 0U);
  add(kTimed);
  systemd->peer().play("ListUnitsByNames", error(kDeniedByBus, "not for you"));
  EXPECT_EQ(refusal(), "") << "nothing is known against it";
}

TEST_F(OnSystemd, TimersThatFail) {
  add(kTimed);
  const auto timers = make_linux_timers(limits());
  systemd->peer().play("StartTransientUnit", error(kDeniedByBus, "not for you"));
  const auto done = timers->arm("rdmacfg-test", milliseconds(5000));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kDenied);
  systemd->peer().play("StopUnit", error(kDeniedByBus, "not for you"));
  EXPECT_FALSE(timers->disarm("rdmacfg-test"));
  systemd.reset();
  EXPECT_FALSE(timers->arm("rdmacfg-test", milliseconds(5000)));
  EXPECT_TRUE(timers->disarm("rdmacfg-test")) << "without systemd none is armed";
  std::filesystem::remove(folder.at("/run/systemd/system"));
  const auto nobody = make_linux_timers(limits());
  EXPECT_EQ(nobody->arm("rdmacfg-test", milliseconds(5000)).error().code, Code::kUnsupported);
  EXPECT_TRUE(nobody->disarm("rdmacfg-test"));
}

TEST_F(OnSystemd, UdevReadsItsRulesAgain) {
  const auto udev = make_linux_udev(limits());
  EXPECT_TRUE(udev->reload_rules()) << "there is no udevd";
  add("systemd-udevd.service");
  EXPECT_TRUE(udev->reload_rules()) << "it is not active";
  EXPECT_THAT(log(), ElementsAre());
  add("systemd-udevd.service", running(9));
  EXPECT_TRUE(udev->reload_rules());
  EXPECT_THAT(log(), ElementsAre("ReloadUnit systemd-udevd.service replace"));
  end_jobs_with("failed");
  EXPECT_FALSE(udev->reload_rules());
}

}  // namespace
}  // namespace rdmacfg::system
