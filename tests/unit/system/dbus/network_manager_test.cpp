// SPDX-License-Identifier: Apache-2.0
// Each promise of system/managers/network_manager.hpp, at a NetworkManager that is the test's.
#include "fakes/bus/network_manager.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cerrno>
#include <utility>

#include "bus_fixture.hpp"
#include "system/linux/linux_host.hpp"
#include "unit/wait_until.hpp"

namespace rdmacfg::system {
namespace {

using base::Code;
using fakes::bus::error;
using fakes::bus::reply;
using fakes::bus::silence;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kUuid = "6f9b1b2a-0000-4000-8000-000000000001";
constexpr const char* kOtherUuid = "6f9b1b2a-0000-4000-8000-000000000002";

class OnNetworkManager : public BusFixture {
 protected:
  void SetUp() override {
    BusFixture::SetUp();
    if (IsSkipped()) return;
    manager.emplace();
    ours = make_linux_network_manager(limits());
  }
  void add(const std::string& uuid, std::uint32_t active = 0, const std::string& interface = "") {
    manager->peer().locked([&] {
      manager->profiles[uuid] = {"/etc/NetworkManager/system-connections/" + uuid + ".nmconnection",
                                 "a profile", active, interface};
      if (!interface.empty()) manager->devices.push_back(interface);
    });
  }
  template <class Change>
  void set(Change change) {
    manager->peer().locked([&] { change(*manager); });
  }
  std::vector<std::string> log() {
    return manager->peer().locked([&] { return manager->log; });
  }

  std::optional<fakes::bus::NetworkManager> manager;
  std::unique_ptr<NetworkManager> ours;
};

struct NmRequest {
  const char* member;
  std::function<base::Result<void>(NetworkManager& manager)> make;
};

std::vector<NmRequest> nm_requests() {
  static const std::array<std::string, 1> kFiles{"/etc/NetworkManager/system-connections/a.nmconnection"};
  static const std::array<std::string, 1> kInterfaces{"ib0"};
  const auto checkpoint = [](NetworkManager& manager) -> base::Result<void> {
    const auto made = manager.create_checkpoint(kInterfaces, seconds(60));
    if (!made) return base::fail(made.error());
    return {};
  };
  const std::string there = "/org/freedesktop/NetworkManager/Checkpoint/1";
  return {
      {"GetManagedObjects",
       [](NetworkManager& manager) -> base::Result<void> {
         const auto state = manager.observe();
         if (!state) return base::fail(state.error());
         return {};
       }},
      {"LoadConnections", [](NetworkManager& manager) { return manager.load(kFiles); }},
      {"GetConnectionByUuid", [](NetworkManager& manager) { return manager.remove(kUuid); }},
      {"Delete", [](NetworkManager& manager) { return manager.remove(kUuid); }},
      {"GetDeviceByIpIface",
       [](NetworkManager& manager) { return manager.activate(kUuid, "ib0", milliseconds(300)); }},
      {"ActivateConnection",
       [](NetworkManager& manager) { return manager.activate(kUuid, "ib0", milliseconds(300)); }},
      {"DeactivateConnection", [](NetworkManager& manager) { return manager.deactivate(kUuid); }},
      {"Get", [](NetworkManager& manager) { return manager.remove(kUuid); }},
      {"Get", [](NetworkManager& manager) { return manager.deactivate(kUuid); }},
      {"Get", [](NetworkManager& manager) { return manager.activate(kUuid, "ib0", milliseconds(300)); }},
      {"Reapply", [](NetworkManager& manager) { return manager.reapply("ib0"); }},
      {"Reload", [](NetworkManager& manager) { return manager.reread(); }},
      {"GetDeviceByIpIface", checkpoint},
      {"CheckpointCreate", checkpoint},
      {"CheckpointAdjustRollbackTimeout",
       [there](NetworkManager& manager) { return manager.extend_checkpoint(there, seconds(60)); }},
      {"CheckpointDestroy", [there](NetworkManager& manager) { return manager.destroy_checkpoint(there); }},
      {"CheckpointRollback", [there](NetworkManager& manager) { return manager.rollback(there); }},
  };
}

TEST_F(OnNetworkManager, WhatThereIs) {
  add(kUuid, 2, "ib0");
  add(kOtherUuid, 1, "ib0.8001");
  set([](auto& state) {
    state.profiles["in-memory"] = {};
    state.unmanaged.emplace_back("ib0.8001");
  });
  const auto state = ours->observe();
  ASSERT_TRUE(state && *state);
  EXPECT_EQ((*state)->version, "1.42.4");
  EXPECT_THAT((*state)->files, ::testing::UnorderedElementsAre(HasSubstr(kUuid), HasSubstr(kOtherUuid)));
  ASSERT_EQ((*state)->active.size(), 2U);
  for (const auto& connection : (*state)->active) {
    EXPECT_EQ(connection.activated, connection.uuid == kUuid) << "the other one is on its way up";
    EXPECT_EQ(connection.id, "a profile");
  }
  ASSERT_EQ((*state)->devices.size(), 2U);
  for (const auto& device : (*state)->devices) {
    EXPECT_EQ(device.managed, device.interface == "ib0");
    EXPECT_EQ(device.active, device.interface == "ib0" ? kUuid : kOtherUuid);
  }
}

TEST_F(OnNetworkManager, AThousandProfiles) {
  for (int i = 0; i < 1000; ++i) add("uuid-" + std::to_string(i), 2, "ib0." + std::to_string(i));
  const auto state = ours->observe();
  ASSERT_TRUE(state && *state);
  EXPECT_EQ((*state)->files.size(), 1000U);
  EXPECT_EQ((*state)->active.size(), 1000U);
  ASSERT_EQ((*state)->devices.size(), 1000U);
  for (const auto& device : (*state)->devices) EXPECT_EQ(device.active, "uuid-" + device.interface.substr(4));
}

TEST_F(OnNetworkManager, Loading) {
  set([](auto& state) { state.loads["/a.nmconnection"] = kUuid; });
  const std::array<std::string, 1> good{"/a.nmconnection"};
  EXPECT_TRUE(ours->load(good));
  const std::array<std::string, 2> bad{"/a.nmconnection", "/bad.nmconnection"};
  const auto done = ours->load(bad);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kRefused);
  EXPECT_THAT(done.error().message, HasSubstr("/bad.nmconnection"));
  EXPECT_THAT(done.error().message, ::testing::Not(HasSubstr("/a.nmconnection")));
}

TEST_F(OnNetworkManager, Removing) {
  add(kUuid, 2, "ib0");
  EXPECT_TRUE(ours->remove(kUuid));
  EXPECT_TRUE(ours->remove(kUuid)) << "it is not there";
  EXPECT_THAT(log(), ElementsAre(std::string("Delete ") + kUuid));
  ours = make_linux_network_manager(short_limits());
  add(kUuid, 2, "ib0");
  set([](auto& state) { state.goes_down = false; });
  const auto done = ours->remove(kUuid);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kTimeout);
}

TEST_F(OnNetworkManager, ActivatingAndDeactivating) {
  add(kUuid);
  set([](auto& state) { state.devices.emplace_back("ib0"); });
  ASSERT_TRUE(ours->activate(kUuid, "ib0", seconds(60)));
  EXPECT_TRUE(ours->deactivate(kUuid));
  EXPECT_TRUE(ours->deactivate(kUuid)) << "it is not active";
  ASSERT_TRUE(ours->activate(kUuid, "", seconds(60))) << "it finds the interface";
  EXPECT_THAT(log(), ElementsAre(std::string("ActivateConnection ") + kUuid + " ib0",
                                 std::string("DeactivateConnection ") + kUuid,
                                 std::string("ActivateConnection ") + kUuid + " "));
  const auto none = ours->activate(kOtherUuid, "ib0", seconds(60));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kNotFound);
  EXPECT_FALSE(ours->activate(kUuid, "ib7", seconds(60))) << "there is no such device";
}

TEST_F(OnNetworkManager, TheProfileOfAnInterface) {
  add(kUuid, 2, "ib0");
  set([](auto& state) { state.devices.emplace_back("ib1"); });
  struct Case {
    const char* interface;
    std::string profile;
  };
  for (const auto& known : {Case{"ib0", kUuid}, Case{"ib1", ""}, Case{"ib7", ""}}) {
    SCOPED_TRACE(known.interface);
    const auto profile = ours->active_on(known.interface);
    ASSERT_TRUE(profile);
    EXPECT_EQ(*profile, known.profile);
  }
  EXPECT_EQ(manager->peer().calls("GetManagedObjects"), 0U);
  for (const auto* member : {"GetDeviceByIpIface", "Get"}) {
    SCOPED_TRACE(member);
    manager->peer().play(member, error("org.freedesktop.DBus.Error.AccessDenied", "not for you"));
    const auto profile = ours->active_on("ib0");
    manager->peer().play(member, nullptr);
    ASSERT_FALSE(profile);
    EXPECT_EQ(profile.error().code, Code::kDenied);
  }
  manager.reset();
  const auto none = ours->active_on("ib0");
  ASSERT_TRUE(none) << "NetworkManager does not run";
  EXPECT_EQ(*none, "");
}

// All objects of a host with hundreds of interfaces are hundreds of kilobytes: a run reads them once, and
// what it does to one interface after the other asks about that one.
TEST_F(OnNetworkManager, ManyInterfacesAreReadOnce) {
  constexpr int kInterfaces = 100;
  const auto uuid = [](int i) { return "uuid-" + std::to_string(i); };
  const auto interface = [](int i) { return "ib0." + std::to_string(i); };
  for (int i = 0; i < kInterfaces; ++i) add(uuid(i), 2, interface(i));
  const auto state = ours->observe();
  ASSERT_TRUE(state && *state);
  for (int i = 0; i < kInterfaces; ++i) {
    ASSERT_TRUE(ours->deactivate(uuid(i)));
    ASSERT_TRUE(ours->activate(uuid(i), interface(i), seconds(60)));
    const auto profile = ours->active_on(interface(i));
    ASSERT_TRUE(profile);
    EXPECT_EQ(*profile, uuid(i));
    ASSERT_TRUE(ours->remove(uuid(i)));
  }
  EXPECT_EQ(manager->peer().locked([&] { return manager->profiles.size(); }), 0U);
  EXPECT_EQ(manager->peer().calls("GetManagedObjects"), 1U);
}

TEST_F(OnNetworkManager, WithoutAReadingManyInterfacesAreReadOnceToo) {
  for (int i = 0; i < 100; ++i) add("uuid-" + std::to_string(i), 2, "ib0." + std::to_string(i));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(ours->deactivate("uuid-" + std::to_string(i)));
  EXPECT_EQ(log().size(), 100U);
  EXPECT_EQ(manager->peer().calls("GetManagedObjects"), 1U);
}

TEST_F(OnNetworkManager, ConnectionsOfOneThatWasRestartedAreAskedForAgain) {
  // The same path, since it counts from the beginning, has another profile.
  add(kUuid, 2, "ib0");
  ASSERT_TRUE(ours->observe());
  const auto path = fakes::bus::NetworkManager::active_path(kUuid);
  manager.reset();
  manager.emplace();
  add(kOtherUuid, 2, "ib0");
  manager->peer().play("Get", [&](sd_bus_message* call) {
    const char *of = nullptr, *name = nullptr;
    if (sd_bus_message_read(call, "ss", &of, &name) < 0) return -EINVAL;
    if (std::string(name) == "ActiveConnections")
      return sd_bus_reply_method_return(call, "v", "ao", 1, path.c_str());
    return sd_bus_reply_method_return(call, "v", "s", kOtherUuid);
  });
  EXPECT_TRUE(ours->deactivate(kUuid)) << "it is not up any more";
  EXPECT_THAT(log(), IsEmpty());
}

TEST_F(OnNetworkManager, AnActivationThatFails) {
  add(kUuid);
  struct Case {
    std::uint32_t state;
    Code code;
  };
  for (const auto& row : {Case{1, Code::kTimeout}, Case{3, Code::kRefused}, Case{4, Code::kRefused}}) {
    SCOPED_TRACE(row.state);
    set([&](auto& state) { state.activates_to = row.state; });
    const auto done = ours->activate(kUuid, "", milliseconds(50));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, row.code);
    EXPECT_THAT(done.error().message, HasSubstr(kUuid));
  }
}

TEST_F(OnNetworkManager, Reapplying) {
  set([](auto& state) { state.devices.emplace_back("ib0"); });
  EXPECT_TRUE(ours->reapply("ib0"));
  EXPECT_THAT(log(), ElementsAre("Reapply ib0"));
  EXPECT_FALSE(ours->reapply("ib7"));
  manager->peer().play("Reapply",
                       error("org.freedesktop.NetworkManager.Device.IncompatibleConnection", "mtu"));
  const auto done = ours->reapply("ib0");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kUnsupported);
}

TEST_F(OnNetworkManager, WaitingForRelease) {
  set([](auto& state) { state.devices.emplace_back("ib0"); });
  const std::array<std::string, 1> interfaces{"ib0"};
  ours->wait_for_release(interfaces, milliseconds(1));
  set([](auto& state) { state.unmanaged.emplace_back("ib0"); });
  const auto before = manager->peer().calls("GetManagedObjects");
  ours->wait_for_release(interfaces, seconds(60));
  EXPECT_EQ(manager->peer().calls("GetManagedObjects"), before + 1) << "it is released at once";
  // While it is held only its own object is asked.
  manager->peer().play("Get", [&](sd_bus_message* call) {
    return sd_bus_reply_method_return(call, "v", "b", manager->peer().calls("Get") < 5 ? 1 : 0);
  });
  set([](auto& state) { state.unmanaged.clear(); });
  ours->wait_for_release(interfaces, seconds(60));
  EXPECT_EQ(manager->peer().calls("GetManagedObjects"), before + 2);
  EXPECT_EQ(manager->peer().calls("Get"), 5U);
  manager->peer().play("Get", nullptr);
  manager.reset();
  ours->wait_for_release(interfaces, seconds(60));  // nobody holds it
}

TEST_F(OnNetworkManager, ItsConfigurationIsReadAgain) {
  EXPECT_TRUE(ours->is_running());
  EXPECT_TRUE(ours->reread());
  EXPECT_THAT(log(), ElementsAre("Reload 1")) << "of all that can be read again only the files";
  set([](auto& state) { state.reloads = false; });
  EXPECT_TRUE(ours->reread()) << "of a version before 1.22";
  manager.reset();
  EXPECT_FALSE(ours->is_running());
  EXPECT_FALSE(ours->reread());
}

TEST_F(OnNetworkManager, WaitingUntilAProfileMayComeUp) {
  set([](auto& state) { state.devices.emplace_back("ib0"); });
  const std::array<std::string, 2> interfaces{"ib7", "ib0"};
  manager->peer().play("Get", [&](sd_bus_message* call) {
    return sd_bus_reply_method_return(call, "v", "u", manager->peer().calls("Get") < 5 ? 20U : 30U);
  });
  ours->wait_for_ready(interfaces, seconds(60));
  EXPECT_EQ(manager->peer().calls("Get"), 5U);
  ours->wait_for_ready(interfaces, milliseconds(1));
  EXPECT_EQ(manager->peer().calls("Get"), 6U) << "it is ready at once";
}

TEST_F(OnNetworkManager, OneThatHangsIsWaitedForOnce) {
  set([](auto& state) { state.devices = {"ib0", "ib1", "ib2"}; });
  const std::array<std::string, 3> interfaces{"ib0", "ib1", "ib2"};
  auto& peer = manager->peer();
  for (const auto* member : {"GetDeviceByIpIface", "Get"}) {
    SCOPED_TRACE(member);
    peer.play(member, silence());
    // On a loaded machine the bus itself may miss the first limits.
    EXPECT_TRUE(unit::with_growing_limit(kShort, [&](milliseconds time) {
      const auto before = peer.calls(member);
      make_linux_network_manager(short_limits(time))->wait_for_ready(interfaces, std::chrono::hours(1));
      EXPECT_LE(peer.calls(member), before + 1) << "each question takes its whole deadline";
      return peer.calls(member) > before;
    }));
    peer.play(member, nullptr);
  }
}

/// As each request finds it.
void prepare_nm(fakes::bus::NetworkManager& manager) {
  manager.peer().locked([&] {
    manager.profiles[kUuid] = {"/a.nmconnection", "a profile", 2, "ib0"};
    manager.devices = {"ib0"};
    manager.checkpoints["/org/freedesktop/NetworkManager/Checkpoint/1"] = 60;
  });
}

// The bus answers: without a memory of the manager each request would wait for its whole deadline.
TEST_F(OnNetworkManager, OneThatFellSilentIsAskedForASignOfLifeFirst) {
  prepare_nm(*manager);
  auto& peer = manager->peer();
  for (const auto* member : {"GetManagedObjects", "Get"}) peer.play(member, silence());
  const auto start = Silence::Clock::now();
  BusLimits some;
  ASSERT_TRUE(unit::with_growing_limit(kShort, [&](milliseconds time) {
    some = short_limits(time);
    some.silences = std::make_shared<Silences>([start] { return start; });
    (void)make_linux_network_manager(some)->observe();
    return some.silences->behind("org.freedesktop.NetworkManager").presumed();
  }));
  some.call = some.down = std::chrono::hours(24);  // no test lives to see the end of it
  for (const auto& request : nm_requests()) {
    SCOPED_TRACE(request.member);
    const auto before = peer.calls(request.member);
    const auto done = request.make(*make_linux_network_manager(some));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::kTimeout) << done.error().message;
    if (std::string(request.member) != "Get") {
      EXPECT_EQ(peer.calls(request.member), before);
    }
  }
  for (const auto* member : {"GetManagedObjects", "Get"}) peer.play(member, nullptr);
  // The time for a sign of life is short, so a loaded machine may need another try.
  const auto again = make_linux_network_manager(some);
  EXPECT_TRUE(unit::wait_until([&] { return again->observe().has_value(); }));
  EXPECT_FALSE(some.silences->behind("org.freedesktop.NetworkManager").presumed());
}

TEST_F(OnNetworkManager, Checkpoints) {
  set([](auto& state) { state.devices = {"ib0", "ib1"}; });
  const std::array<std::string, 3> interfaces{"ib0", "ib7", "ib1"};
  const auto made = ours->create_checkpoint(interfaces, seconds(60));
  ASSERT_TRUE(made);
  EXPECT_THAT(log(), ElementsAre("CheckpointCreate ib0 ib1")) << "it does not know ib7";
  EXPECT_TRUE(ours->extend_checkpoint(*made, seconds(90)));
  EXPECT_EQ(manager->peer().locked([&] { return manager->checkpoints[*made]; }), 90U);
  EXPECT_TRUE(ours->destroy_checkpoint(*made));
  EXPECT_FALSE(ours->destroy_checkpoint(*made));
  EXPECT_FALSE(ours->extend_checkpoint(*made, seconds(90))) << "NetworkManager has gone back to it";
  EXPECT_FALSE(ours->rollback(*made));
  const auto second = ours->create_checkpoint(interfaces, seconds(60));
  ASSERT_TRUE(second);
  EXPECT_TRUE(ours->rollback(*second));
  set([](auto& state) { state.adjusts = false; });
  EXPECT_TRUE(ours->extend_checkpoint(*second, seconds(90))) << "of a version before 1.12";
}

TEST_F(OnNetworkManager, WithoutADeviceThereIsNoCheckpoint) {
  const std::array<std::string, 1> interfaces{"ib7"};
  const auto made = ours->create_checkpoint(interfaces, seconds(60));
  ASSERT_TRUE(made);
  EXPECT_EQ(*made, "");
  EXPECT_TRUE(ours->extend_checkpoint(*made, seconds(60)));
  EXPECT_TRUE(ours->destroy_checkpoint(*made));
  EXPECT_TRUE(ours->rollback(*made));
  EXPECT_THAT(log(), IsEmpty()) << "one without devices would be of all of them";
}

TEST_F(OnNetworkManager, ErrorsAreTold) {
  for (const auto& request : nm_requests()) {
    SCOPED_TRACE(request.member);
    prepare_nm(*manager);
    manager->peer().play(request.member, error("org.freedesktop.DBus.Error.AccessDenied", "not for you"));
    const auto done = request.make(*ours);
    manager->peer().play(request.member, nullptr);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::kDenied);
    EXPECT_THAT(done.error().message, HasSubstr("not for you"));
  }
}

TEST_F(OnNetworkManager, RepliesOfAnotherTypeAreErrors) {
  for (const auto& request : nm_requests()) {
    const std::string member = request.member;
    // Of these the reply is not read.
    if (member == "Delete" || member == "DeactivateConnection" || member == "Reapply" || member == "Reload" ||
        member == "CheckpointAdjustRollbackTimeout" || member == "CheckpointDestroy" ||
        member == "CheckpointRollback")
      continue;
    SCOPED_TRACE(member);
    prepare_nm(*manager);
    manager->peer().play(member, reply("t", std::uint64_t{7}));
    EXPECT_FALSE(request.make(*ours));
    manager->peer().play(member, nullptr);
  }
}

TEST_F(OnNetworkManager, PropertiesOfAnotherTypeAreLeftOut) {
  manager->peer().play(
      "GetManagedObjects",
      reply("a{oa{sa{sv}}}", 2, "/org/freedesktop/NetworkManager", 1, "org.freedesktop.NetworkManager", 1,
            "Version", "u", 1U, "/org/freedesktop/NetworkManager/Devices/1", 1,
            "org.freedesktop.NetworkManager.Device", 2, "Interface", "s", "ib0", "Managed", "s", "yes"));
  const auto state = ours->observe();
  ASSERT_TRUE(state && *state);
  EXPECT_EQ((*state)->version, "");
  ASSERT_EQ((*state)->devices.size(), 1U);
  EXPECT_EQ((*state)->devices.front().interface, "ib0");
  EXPECT_FALSE((*state)->devices.front().managed);
  EXPECT_EQ((*state)->devices.front().active, "");
}

TEST_F(OnNetworkManager, OneThatHangsTimesOut) {
  for (const auto& request : nm_requests()) {
    SCOPED_TRACE(request.member);
    expect_timeout(manager->peer(), request.member, [&](const BusLimits& some) {
      prepare_nm(*manager);
      manager->peer().play(request.member, silence());
      const auto done = request.make(*make_linux_network_manager(some));
      manager->peer().play(request.member, nullptr);
      return error_of(done);
    });
  }
}

TEST_F(OnNetworkManager, OneThatDoesNotRun) {
  manager.reset();
  const auto state = ours->observe();
  ASSERT_TRUE(state);
  EXPECT_FALSE(state->has_value());
  for (const auto& request : nm_requests()) {
    if (std::string(request.member) == "GetManagedObjects") continue;
    SCOPED_TRACE(request.member);
    EXPECT_FALSE(request.make(*ours));
  }
}

// Else an apply would take it for one that does not run, and succeed without having told it anything.
TEST_F(OnNetworkManager, ABusThatDoesNotAnswerSaysNothingOfIt) {
  if (::getenv("RDMACFG_TEST_BUS") != nullptr) GTEST_SKIP() << "of several processes";
  // A loaded machine may need longer than the first limit while the bus answers.
  ASSERT_TRUE(unit::with_growing_limit(kShort, [this](milliseconds time) {
    ours = make_linux_network_manager(short_limits(time));
    return static_cast<bool>(ours->observe());
  }));
  bus->freeze(true);
  const auto state = ours->observe();
  const bool running = ours->is_running();
  bus->freeze(false);
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, Code::kTimeout);
  EXPECT_TRUE(running);
  EXPECT_TRUE(unit::wait_until([this] { return static_cast<bool>(ours->observe()); })) << "it answers again";
  bus.reset();
  const auto without = ours->observe();
  ASSERT_TRUE(without) << "without a bus there is no manager";
  EXPECT_FALSE(without->has_value());
}

TEST_F(OnNetworkManager, OneThatLeavesInTheMiddle) {
  prepare_nm(*manager);
  manager->peer().leave_at("GetManagedObjects");
  EXPECT_FALSE(ours->observe());
  const auto gone = ours->observe();
  ASSERT_TRUE(gone);
  EXPECT_FALSE(gone->has_value());
  manager.emplace();
  const auto back = ours->observe();
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->has_value());
}

TEST_F(OnNetworkManager, ARestartedBusIsReachedAgain) {
  ASSERT_TRUE(ours->observe());
  restart_bus();
  manager.emplace();
  prepare_nm(*manager);
  EXPECT_TRUE(ours->reapply("ib0")) << "also by one that does not look who is there first";
  restart_bus();
  manager.emplace();
  const auto state = ours->observe();
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->has_value());
}

}  // namespace
}  // namespace rdmacfg::system
