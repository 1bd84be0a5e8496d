// SPDX-License-Identifier: Apache-2.0
// Each promise of system/packages.hpp, at a PackageKit that is the test's.
#include "fakes/bus/packagekit.hpp"

#include <gmock/gmock.h>

#include <array>
#include <future>

#include "bus_fixture.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {
namespace {

using base::Code;
using fakes::bus::error;
using fakes::bus::reply;
using fakes::bus::silence;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::array<std::string, 2> kWanted{"opensm", "perftest"};

class OnPackageKit : public BusFixture {
 protected:
  void SetUp() override {
    BusFixture::SetUp();
    if (IsSkipped()) return;
    kit.emplace();
    set([](auto& state) {
      state.installed = {"perftest"};
      state.available = {"opensm"};
    });
    packages = make_linux_packages(limits());
  }
  template <class Change>
  void set(Change change) {
    kit->peer().locked([&] { change(*kit); });
  }
  std::vector<std::string> log() {
    return kit->peer().locked([&] { return kit->log; });
  }

  std::optional<fakes::bus::PackageKit> kit;
  std::unique_ptr<Packages> packages;
};

TEST_F(OnPackageKit, InstallsWhatIsMissing) {
  EXPECT_TRUE(packages->can_install());
  ASSERT_TRUE(packages->install(kWanted));
  EXPECT_THAT(log(), ElementsAre("InstallPackages opensm;1;amd64;debian"));
  ASSERT_TRUE(packages->install(kWanted));
  EXPECT_EQ(log().size(), 1U) << "all are there";
}

TEST_F(OnPackageKit, FilesOfPackages) {
  folder.put("/program", "");
  EXPECT_TRUE(packages->has(folder.at("/program").native()));
  EXPECT_FALSE(packages->has(folder.at("/other").native()));
}

TEST_F(OnPackageKit, APackageThatNoRepositoryHas) {
  set([](auto& state) { state.available.clear(); });
  const auto done = packages->install(kWanted);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kNotFound);
  EXPECT_THAT(done.error().message, HasSubstr("opensm"));
  EXPECT_THAT(log(), IsEmpty());
}

TEST_F(OnPackageKit, AnInstallationThatFails) {
  set([](auto& state) { state.trouble = "the disk is full\n"; });
  const auto done = packages->install(kWanted);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kIo);
  EXPECT_THAT(done.error().message, HasSubstr("the disk is full"));
}

TEST_F(OnPackageKit, ErrorsAndRepliesOfAnotherType) {
  for (const auto* member : {"CreateTransaction", "Resolve", "InstallPackages"}) {
    SCOPED_TRACE(member);
    kit->peer().play(member, error("org.freedesktop.DBus.Error.AccessDenied", "not for you"));
    const auto done = packages->install(kWanted);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::kDenied);
    kit->peer().play(member, nullptr);
  }
  kit->peer().play("CreateTransaction", reply("t", std::uint64_t{7}));
  EXPECT_FALSE(packages->install(kWanted));
  kit->peer().play("Get", error("org.freedesktop.DBus.Error.AccessDenied", "not for you"));
  EXPECT_FALSE(packages->can_install());
}

TEST_F(OnPackageKit, OneThatDoesNotEndTimesOut) {
  set([](auto& state) { state.finishes = false; });
  packages = make_linux_packages(short_limits());
  const auto done = packages->install(kWanted);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kTimeout);
  for (const auto* member : {"Get", "CreateTransaction", "Resolve"}) kit->peer().play(member, silence());
  EXPECT_FALSE(packages->can_install());
  const auto silent = packages->install(kWanted);
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().code, Code::kTimeout);
}

TEST_F(OnPackageKit, WithoutPackageKit) {
  kit.reset();
  EXPECT_FALSE(packages->can_install());
  const auto done = packages->install(kWanted);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kUnsupported);
  bus->stop();
  EXPECT_FALSE(packages->can_install());
  EXPECT_FALSE(packages->install(kWanted));
}

TEST_F(OnPackageKit, OneThatEndsInTheMiddle) {
  set([](auto& state) { state.finishes = false; });
  auto done = std::async(std::launch::async, [&] { return packages->install(kWanted); });
  ASSERT_TRUE(await_call(kit->peer(), "Resolve"));
  kit->peer().leave();
  const auto result = done.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kIo);
  kit.emplace();
  set([](auto& state) { state.available = {"opensm", "perftest"}; });
  EXPECT_TRUE(packages->install(kWanted)) << "the next one is asked";
}

TEST_F(OnPackageKit, OnlyPackageKitTellsOfATransaction) {
  set([](auto& state) {
    state.finishes = false;
    state.available.clear();
  });
  fakes::bus::Peer stranger("");
  stranger.start();
  auto done = std::async(std::launch::async, [&] { return packages->install(kWanted); });
  ASSERT_TRUE(await_call(kit->peer(), "Resolve"));
  const auto caller = kit->peer().caller();
  const auto path = kit->peer().locked([&] { return kit->transaction(); });
  stranger.run([&](sd_bus* connection) {
    const auto send = [&](const std::string& from, const char* interface, const char* member,
                          const char* types, auto... values) {
      sd_bus_message* signal = nullptr;
      if (sd_bus_message_new_signal(connection, &signal, from.c_str(), interface, member) < 0) return;
      (void)sd_bus_message_append(signal, types, values...);
      (void)sd_bus_send_to(connection, signal, caller.c_str(), nullptr);
      sd_bus_message_unref(signal);
    };
    constexpr const char* kTold = "org.freedesktop.PackageKit.Transaction";
    send(path, kTold, "Package", "uss", 2U, "opensm;0;amd64;evil", "A package");
    send(path, kTold, "ErrorCode", "us", 4U, "of a stranger");
    send(path, kTold, "Finished", "uu", 1U, 7U);
    send("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
         "org.freedesktop.PackageKit", ":1.1", "");
  });
  stranger.flush();
  // PackageKit itself ends it: nothing was found.
  kit->peer().run([&](sd_bus* connection) {
    (void)sd_bus_emit_signal(connection, path.c_str(), "org.freedesktop.PackageKit.Transaction", "Finished",
                             "uu", 1U, 7U);
  });
  const auto result = done.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kNotFound);
  EXPECT_EQ(kit->peer().calls("InstallPackages"), 0U);
}

TEST_F(OnPackageKit, ARestartedBusIsReachedAgain) {
  ASSERT_TRUE(packages->can_install());
  restart_bus();
  kit.emplace();
  EXPECT_TRUE(packages->can_install());
}

}  // namespace
}  // namespace rdmacfg::system
