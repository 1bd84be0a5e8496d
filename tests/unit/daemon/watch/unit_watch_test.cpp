// SPDX-License-Identifier: Apache-2.0
// Units of a systemd that is the test's.
#include "daemon/watch/unit_watch.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "fakes/bus/peer.hpp"
#include "model/limits.hpp"
#include "system/linux/dbus/dbus.hpp"
#include "unit/daemon/private_bus.hpp"

namespace rdmacfg::daemon {
namespace {

using system::dbus::Reply;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
constexpr const char* kManager = "org.freedesktop.systemd1.Manager";
constexpr const char* kUnits = "/org/freedesktop/systemd1/unit/";

/// A signal without contents for one client alone.
void emit_to(sd_bus* connection, const std::string& client, const std::string& path, const char* interface,
             const char* member) {
  sd_bus_message* signal = nullptr;
  if (sd_bus_message_new_signal(connection, &signal, path.c_str(), interface, member) < 0) return;
  EXPECT_GE(sd_bus_send_to(connection, signal, client.c_str(), nullptr), 0);
  sd_bus_message_unref(signal);
}

class UnitWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!bus->there()) GTEST_SKIP() << "no dbus-daemon here";
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", bus->address().c_str(), 1);
    theirs.emplace();
    ours.emplace();
    manager.emplace(*theirs, "/org/freedesktop/systemd1", kManager);
    // The launcher of dbus-broker subscribes, too.
    manager->method("Subscribe", {}, {},
                    [this, us = std::string(ours->handle().getUniqueName())](const Reply<>& reply) {
                      if (reply.sender() == us) ++subscribed;
                      if (!refuses.empty()) throw system::dbus::make_error(refuses, "not now");
                      reply.send();
                    });
    manager->method("LoadUnit", {}, {},
                    [this](const Reply<sdbus::ObjectPath>& reply, const std::string& unit) {
                      if (is_slow) {
                        unanswered.push_back(reply);
                        return;
                      }
                      if (unit != "alias.service")
                        throw system::dbus::make_error("org.freedesktop.systemd1.NoSuchUnit", unit);
                      reply.send(sdbus::ObjectPath(std::string(kUnits) + "real_2eservice"));
                    });
    manager->signal("UnitFilesChanged", {});
    manager->publish();
    theirs->request_name("org.freedesktop.systemd1");
    watch.emplace(*ours, [this](const std::string& what) { told.push_back(what); });
  }

  /// The bus hands on messages in order: with its answer one has all that it was sent before.
  static void ask_the_bus(system::dbus::Connection& connection) {
    system::dbus::Peer bus(connection, "org.freedesktop.DBus", "/org/freedesktop/DBus");
    (void)bus.call<std::string>("org.freedesktop.DBus", "GetId", std::chrono::seconds(60));
  }
  /// Lets both ends say and hear what there is.
  void settle() {
    bool heard = true;
    for (int round = 0; heard && round < 1000; ++round) {
      for (auto* end : {&*ours, &*theirs, &*ours}) ask_the_bus(*end);
      heard = false;
      while (theirs->process() || ours->process()) heard = true;
    }
  }

  void changes(const std::string& object) {
    auto& unit = objects[object];
    if (!unit) {
      unit =
          std::make_unique<system::dbus::Object>(*theirs, kUnits + object, "org.freedesktop.systemd1.Unit");
      unit->property("ActiveState", [] { return std::string("inactive"); });
      unit->publish();
    }
    unit->emit_changed({"ActiveState"});
    settle();
  }

  system::TempTree folder;
  std::optional<PrivateBus> bus{std::in_place, folder};
  int subscribed = 0;
  std::string refuses;   ///< error of Subscribe; empty without one
  bool is_slow = false;  ///< systemd answers LoadUnit only when the test does
  std::vector<std::string> told;
  std::optional<system::dbus::Connection> theirs, ours;
  std::vector<Reply<sdbus::ObjectPath>> unanswered;  ///< they end before their connection
  std::optional<system::dbus::Object> manager;
  std::map<std::string, std::unique_ptr<system::dbus::Object>> objects;
  std::optional<UnitWatch> watch;
};

TEST_F(UnitWatchTest, OnlyUnitsAskedFor) {
  watch->watch({});
  settle();
  EXPECT_EQ(subscribed, 0) << "nothing is asked of systemd for nothing";
  watch->watch({"opensm@0x1.service"});
  watch->watch({"opensm@0x1.service", "iwpmd.service"});
  settle();
  EXPECT_EQ(subscribed, 1);
  changes("opensm_400x1_2eservice");
  EXPECT_THAT(told, ElementsAre("opensm@0x1.service"));
  changes("sshd_2eservice");
  EXPECT_EQ(told.size(), 1U);
  changes("iwpmd_2eservice");
  EXPECT_EQ(told.size(), 2U);
  watch->watch({"3_a-b.service"});
  settle();
  changes("_33_5fa_2db_2eservice");
  EXPECT_EQ(told.size(), 3U) << "a digit in front, and an underscore";
}

TEST_F(UnitWatchTest, ASystemdThatDoesNotSendSignalsIsAskedAgain) {
  struct Case {
    const char* error;
    int calls;
  };
  for (const auto& row : {Case{"org.freedesktop.DBus.Error.NoReply", 2},
                          Case{"org.freedesktop.systemd1.AlreadySubscribed", 1}}) {
    SCOPED_TRACE(row.error);
    watch.emplace(*ours, [this](const std::string& what) { told.push_back(what); });
    subscribed = 0;
    refuses = row.error;
    watch->watch({"iwpmd.service"});
    settle();
    refuses.clear();
    for (int i = 0; i < 2; ++i) {
      watch->watch({"iwpmd.service"});
      settle();
    }
    EXPECT_EQ(subscribed, row.calls);
  }
}

TEST_F(UnitWatchTest, AnAliasIsTheUnitThatItStandsFor) {
  watch->watch({"alias.service"});
  settle();
  changes("real_2eservice");
  EXPECT_THAT(told, ElementsAre("alias.service"));
}

TEST_F(UnitWatchTest, AnAliasOutlivesTheOtherNameOfItsUnit) {
  watch->watch({"alias.service", "real.service"});
  settle();
  watch->watch({"alias.service"});
  settle();
  changes("real_2eservice");
  EXPECT_THAT(told, ElementsAre("alias.service"));
}

TEST_F(UnitWatchTest, MoreUnitsThanTheBusAllowsMatches) {
  std::set<std::string> units;
  for (int i = 0; i < 600; ++i) units.insert("u" + std::to_string(i) + ".service");
  watch->watch(units);
  for (int i = 0; i < 20; ++i) settle();
  EXPECT_EQ(watch->watched(), 600U);
  changes("u599_2eservice");
  EXPECT_THAT(told, ElementsAre("u599.service"));
}

TEST_F(UnitWatchTest, NoMoreThanAFewCallsAwaitTheirAnswers) {
  using model::limits::kUnitQuestions;
  is_slow = true;
  std::set<std::string> units;
  const auto add_one = [&] { units.insert("u" + std::to_string(units.size()) + ".service"); };
  while (units.size() < kUnitQuestions) add_one();
  watch->watch(units);
  settle();
  EXPECT_EQ(unanswered.size(), kUnitQuestions) << "at the limit all are asked";
  add_one();
  add_one();
  watch->watch(units);
  settle();
  EXPECT_EQ(unanswered.size(), kUnitQuestions) << "beyond it they wait";
  unanswered.front().send(sdbus::ObjectPath(std::string(kUnits) + "real_2eservice"));
  settle();
  EXPECT_EQ(unanswered.size(), kUnitQuestions + 1) << "each answer lets one go on";
  unanswered.back().fail(system::dbus::make_error("org.freedesktop.systemd1.NoSuchUnit", "none"));
  settle();
  EXPECT_EQ(unanswered.size(), kUnitQuestions + 2) << "and so does each error";
  EXPECT_EQ(watch->watched(), units.size() + 1);
}

TEST_F(UnitWatchTest, UnitsThatAreNotWantedAnyMoreAreDropped) {
  for (int i = 0; i < 1000; ++i) watch->watch({"u" + std::to_string(i) + ".service"});
  settle();
  EXPECT_EQ(watch->watched(), 1U);
  changes("u0_2eservice");
  EXPECT_THAT(told, IsEmpty());
  watch->watch({});
  settle();
  changes("u999_2eservice");
  EXPECT_THAT(told, IsEmpty());
  watch->watch({"u999.service"});
  settle();
  changes("u999_2eservice");
  EXPECT_THAT(told, ElementsAre("u999.service"));
}

TEST_F(UnitWatchTest, WhatIsThrownInACallbackEndsNothing) {
  watch.emplace(*ours, [this](const std::string& what) {
    told.push_back(what);
    throw std::runtime_error("a bug");
  });
  watch->watch({"iwpmd.service"});
  settle();
  changes("iwpmd_2eservice");
  changes("iwpmd_2eservice");
  EXPECT_EQ(told.size(), 2U);
}

TEST_F(UnitWatchTest, ABusThatRefusesMatchesEndsNothing) {
  watch.emplace(*ours, [this](const std::string& what) { told.push_back(what); });
  bus.reset();  // every call fails from now on
  watch->watch({"iwpmd.service"});
}

TEST_F(UnitWatchTest, WhatIsEnabledOrDisabled) {
  watch->watch({"iwpmd.service"});
  settle();
  manager->emit("UnitFilesChanged");
  settle();
  EXPECT_THAT(told, ElementsAre("unit files"));
}

TEST_F(UnitWatchTest, SignalsOfOtherClientsAreNotHeard) {
  watch->watch({"iwpmd.service"});
  settle();
  const std::string us(ours->handle().getUniqueName());
  const auto send = [&](fakes::bus::Peer& peer) {
    peer.run([&](sd_bus* connection) {
      const auto units = std::string(kUnits) + "iwpmd_2eservice";
      emit_to(connection, us, units, "org.freedesktop.DBus.Properties", "PropertiesChanged");
      emit_to(connection, us, "/org/freedesktop/systemd1", kManager, "UnitFilesChanged");
    });
    peer.flush();
    settle();
  };
  fakes::bus::Peer stranger("");
  stranger.start();
  send(stranger);
  EXPECT_THAT(told, IsEmpty());
  // One that has the name is heard, also when it has another connection since: daemon-reexec.
  theirs->release_name("org.freedesktop.systemd1");
  fakes::bus::Peer again("org.freedesktop.systemd1");
  again.start();
  send(again);
  EXPECT_THAT(told, ElementsAre("iwpmd.service", "unit files"));
}

}  // namespace
}  // namespace rdmacfg::daemon
