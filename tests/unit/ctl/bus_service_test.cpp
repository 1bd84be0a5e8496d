// SPDX-License-Identifier: Apache-2.0
// rdma-configctl's end of the bus, with a daemon that does what the test wants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <map>
#include <thread>

#include "ctl/service.hpp"
#include "fakes/bus/peer.hpp"
#include "store/report_json.hpp"
#include "system/linux/dbus/dbus.hpp"
#include "unit/daemon/private_bus.hpp"
#include "unit/wait_until.hpp"

namespace rdmacfg::ctl {
namespace {

using model::Exit;
using system::dbus::make_error;
using system::dbus::Reply;
using testing::HasSubstr;
using Options = std::map<std::string, sdbus::Variant>;

constexpr const char* kName = "org.rdmaconfigd1";
constexpr const char* kManager = "org.rdmaconfigd1.Manager";
constexpr std::uint32_t kJob = 7;

class FakeDaemon {
 public:
  enum class Plays { kWell, kDies, kDiesBeforeItAnswers, kTellsNothing, kDenies, kLeaves, kHangs, kWorks };

  explicit FakeDaemon(Plays plays, int exit = 0) : object_(connection_, "/org/rdmaconfigd1", kManager) {
    object_.method("Confirm", {}, {}, [this, plays, exit](const Reply<std::uint32_t>& reply, const Options&) {
      caller = reply.sender();
      if (plays == Plays::kDenies)
        return reply.fail(make_error("org.rdmaconfigd1.Error.AccessDenied", "not authorized"));
      if (plays == Plays::kDiesBeforeItAnswers)
        return reply.fail(make_error("org.freedesktop.DBus.Error.NoReply", "it has gone"));
      reply.send(kJob);
      ++confirmed;
      if (plays == Plays::kWorks) return;
      if (plays == Plays::kDies) return connection_.release_name(kName);
      object_.emit("Finished", kJob, std::int32_t{exit});
      if (plays == Plays::kLeaves) connection_.release_name(kName);
    });
    object_.method(
        "Result", {}, {},
        [this, plays](const Reply<std::string>& reply, const std::uint32_t& job, const Options& options) {
          const auto at = options.find("interactive");
          interactive = at != options.end() && at->second.get<bool>();
          if (plays == Plays::kTellsNothing || job != kJob)
            throw make_error("org.rdmaconfigd1.Error.AccessDenied", "not authorized");
          model::Report report;
          report.notes.emplace_back("as it was");
          reply.send(core::report_json(report).dump());
        });
    object_.signal<std::uint32_t, std::int32_t>("Finished", {"job", "exit"});
    object_.publish();
    connection_.request_name(kName);
    if (plays != Plays::kHangs) goes_on();
  }
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;
  ~FakeDaemon() { connection_.stop_thread(); }

  void goes_on() { connection_.start_thread(); }
  void ends_job() { object_.emit("Finished", kJob, std::int32_t{0}); }

  std::string caller;  ///< of Confirm
  bool interactive = false;
  std::atomic<int> confirmed{0};  ///< times that Confirm has got the number of a job

 private:
  system::dbus::Connection connection_;
  system::dbus::Object object_;
};

class BusService : public testing::Test {
 protected:
  void SetUp() override {
    if (!bus.there()) GTEST_SKIP() << "no dbus-daemon here";
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.address().c_str(), 1);
  }
  static base::Result<model::Report> confirm(std::chrono::milliseconds patience = std::chrono::seconds(20)) {
    const auto service = connect_to_service(patience);
    if (!service) return base::fail(base::Code::kNotFound, "no service");
    return service->confirm({});
  }
  system::TempTree folder;
  daemon::PrivateBus bus{folder};
};

TEST_F(BusService, HasTheReportOfTheJob) {
  FakeDaemon daemon(FakeDaemon::Plays::kWell);
  const auto report = confirm();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(model::note_texts(report->notes), testing::ElementsAre("as it was"));
  EXPECT_TRUE(daemon.interactive) << "who typed a password for the job may type one for its result";
}

TEST_F(BusService, TheReportIsAskedOfTheDaemonThatDidTheJobAndOfNoOther) {
  const FakeDaemon daemon(FakeDaemon::Plays::kLeaves);
  const auto report = confirm();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->error) << "by its name another one would be started";
  EXPECT_THAT(model::note_texts(report->notes), testing::ElementsAre("as it was"));
}

TEST_F(BusService, AJobWhoseDaemonDiedIsNotOneThatChangedNothing) {
  const FakeDaemon daemon(FakeDaemon::Plays::kDies);
  const auto report = confirm();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->exit, Exit::kUndoIncomplete);
  ASSERT_TRUE(report->error);
  EXPECT_THAT(report->error->message,
              testing::AllOf(HasSubstr("the outcome is not known"), HasSubstr("rdma-configctl diff")));
}

TEST_F(BusService, NorIsOneThatMayHaveBegun) {
  const FakeDaemon daemon(FakeDaemon::Plays::kDiesBeforeItAnswers);
  const auto report = confirm();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->exit, Exit::kUndoIncomplete);
}

TEST_F(BusService, NorIsOneWhoseBusHasGone) {
  const FakeDaemon daemon(FakeDaemon::Plays::kWorks);
  std::thread end([&] {
    EXPECT_TRUE(unit::wait_until([&] { return daemon.confirmed > 0; }));
    bus.stop();
  });
  const auto report = confirm();
  end.join();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->exit, Exit::kUndoIncomplete);
  ASSERT_TRUE(report->error);
  EXPECT_THAT(report->error->message, HasSubstr("the outcome is not known"));
}

TEST_F(BusService, OnlyTheDaemonAndTheBusAreBelieved) {
  FakeDaemon daemon(FakeDaemon::Plays::kWorks);
  fakes::bus::Peer stranger("");
  stranger.start();
  std::thread liar([&] {
    EXPECT_TRUE(unit::wait_until([&] { return daemon.confirmed > 0; }));
    stranger.run([&](sd_bus* connection) {
      const auto lie = [&](const char* path, const char* interface, const char* member, const char* types,
                           auto... values) {
        sd_bus_message* signal = nullptr;
        if (sd_bus_message_new_signal(connection, &signal, path, interface, member) < 0) return;
        (void)sd_bus_message_append(signal, types, values...);
        (void)sd_bus_send_to(connection, signal, daemon.caller.c_str(), nullptr);
        sd_bus_message_unref(signal);
      };
      lie("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss", kName, ":1.0", "");
      lie("/org/rdmaconfigd1", kManager, "Finished", "ui", kJob, 0);
    });
    stranger.flush();
    daemon.ends_job();
  });
  const auto report = confirm();
  liar.join();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->error);
  EXPECT_THAT(model::note_texts(report->notes), testing::ElementsAre("as it was"));
  EXPECT_EQ(stranger.calls("Result"), 0U);
}

TEST_F(BusService, OneThatHangsIsAskedNothing) {
  FakeDaemon daemon(FakeDaemon::Plays::kHangs);
  const auto report = confirm(std::chrono::milliseconds(300));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, base::Code::kTimeout);
  EXPECT_THAT(report.error().message, testing::AllOf(HasSubstr("no request was sent"), HasSubstr("--local")));
  daemon.goes_on();
  // It answers after whatever came before.
  system::dbus::Connection connection;
  system::dbus::Peer itself(connection, kName, "/org/rdmaconfigd1");
  itself.call("org.freedesktop.DBus.Peer", "Ping", unit::kPatience);
  EXPECT_EQ(daemon.confirmed, 0) << "nor later, when nobody expects it";
}

TEST_F(BusService, WithoutAReportTheExitStatusIsTheJobs) {
  for (const auto exit : {Exit::kOk, Exit::kUndone, Exit::kPartly}) {
    const FakeDaemon daemon(FakeDaemon::Plays::kTellsNothing, static_cast<int>(exit));
    const auto report = confirm();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->exit, exit);
    ASSERT_TRUE(report->error);
    EXPECT_THAT(report->error->message, HasSubstr("not authorized"));
  }
}

TEST_F(BusService, WhatWasDeniedHasNotBegun) {
  const FakeDaemon daemon(FakeDaemon::Plays::kDenies);
  const auto report = confirm();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, base::Code::kDenied);
}

}  // namespace
}  // namespace rdmacfg::ctl
