// SPDX-License-Identifier: Apache-2.0
// Calls that the daemon refuses, and what it says of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "unit/daemon/bus_client.hpp"
#include "unit/daemon/controller_fixture.hpp"
#include "unit/daemon/private_bus.hpp"
#include "unit/wait_until.hpp"

namespace rdmacfg::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;
using Options = std::map<std::string, sdbus::Variant>;
using Documents = std::vector<sdbus::Struct<std::string, std::string>>;

/// The end of a call: "ok", or the error's name without its beginning, and its message.
std::string end_of_call(const std::function<void(system::dbus::Peer& manager)>& call) {
  try {
    system::dbus::Connection connection;
    system::dbus::Peer manager(connection, "org.rdmaconfigd1", "/org/rdmaconfigd1");
    call(manager);
    return "ok";
  } catch (const sdbus::Error& error) {
    const std::string name = error.getName();
    return name.substr(name.rfind('.') + 1) + ": " + error.getMessage();
  } catch (const std::exception& error) {
    return error.what();
  }
}

struct ApiMistakesWithBus {
  system::TempTree folder;
  PrivateBus bus{folder};
};

class ApiMistakesTest : private ApiMistakesWithBus, public ControllerFixture {
 protected:
  static constexpr const char* kDaemon = BusClient::kManager;

  ApiMistakesTest() : ControllerFixture(bus.address()) {}
  void SetUp() override {
    if (!bus.there()) GTEST_SKIP() << "no dbus-daemon here";
    if (::getuid() != 0) GTEST_SKIP() << "takes root: it asks as several users";
  }

  /// Runs the daemon until `client`, in a thread of its own, has ended.
  void while_running(const std::function<void()>& client) {
    controller.start();
    std::atomic<bool> ended{false};
    std::thread thread;
    when(is_on_the_bus, [&] {
      thread = std::thread([&] {
        client();
        ended = true;
      });
      when([&] { return ended.load(); }, [this] { controller.stop(); });
    });
    EXPECT_EQ(run(), 0);
    if (thread.joinable()) thread.join();
  }
};

TEST_F(ApiMistakesTest, AreNamed) {
  play("");
  std::vector<std::string> ends;
  const auto add = [&](const std::function<void(system::dbus::Peer&)>& call) {
    ends.push_back(end_of_call(call));
  };
  while_running([&] {
    add([](auto& manager) {
      (void)manager.template call<std::string>(kDaemon, "Validate", 0s, Documents{}, Options{});
    });
    add([](auto& manager) {
      (void)manager.template call<std::string>(kDaemon, "Result", 0s, std::uint32_t{4711}, Options{});
    });
    add([](auto& manager) { manager.call(kDaemon, "Cancel", 0s, std::uint32_t{4711}, Options{}); });
    add([](auto& manager) {
      const Options options{{"retry", sdbus::Variant(true)}};
      (void)manager.template call<std::uint32_t>(kDaemon, "Confirm", 0s, options);
    });
    add([](auto& manager) {
      const Options options{{"confirm", sdbus::Variant(std::uint64_t{86401})}};
      (void)manager.template call<std::uint32_t>(kDaemon, "Apply", 0s, Documents{}, options);
    });
    add([](auto& manager) {
      const Options options{{"who", sdbus::Variant(std::string(100'000, 'x'))}};
      (void)manager.template call<std::string>(kDaemon, "Show", 0s, options);
    });
  });
  EXPECT_THAT(ends, ElementsAre("InvalidArgs: there is no document to validate",
                                "NotFound: there is no result for job 4711", "NotFound: there is no job 4711",
                                "InvalidArgs: unknown option retry",
                                "InvalidArgs: confirm must be at most 86400 seconds",
                                "LimitsExceeded: the options are too large"));
  EXPECT_THAT(asked(), testing::Not(testing::Contains(testing::HasSubstr("4711"))));
}

/// sd-bus answers these calls itself; none of our methods sees them.
TEST_F(ApiMistakesTest, CallsThatNoMethodTakesAreLogged) {
  play("");
  std::vector<std::string> ends;
  ::testing::internal::CaptureStderr();
  while_running([&] {
    (void)end_of_call([&](system::dbus::Peer& manager) {
      const auto add = [&](const std::function<void()>& call) {
        try {
          call();
          ends.emplace_back("ok");
        } catch (const sdbus::Error& error) {
          const std::string name = error.getName();
          ends.push_back(name.substr(name.rfind('.') + 1));
        }
      };
      add([&] { manager.call(kDaemon, "Show", 0s, std::uint32_t{1}); });
      add([&] { manager.call(kDaemon, "Destroy", 0s, std::uint32_t{1}); });
      add([&] {
        (void)manager.call<std::map<std::string, sdbus::Variant>>("org.freedesktop.DBus.Properties", "GetAll",
                                                                  0s, std::string(kDaemon));
      });
      // The bus tells whose calls they are in this order: the lines of those before are written then.
      add([&] { (void)manager.call<std::string>(kDaemon, "Result", 0s, std::uint32_t{4711}, Options{}); });
    });
  });
  const auto said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(ends, ElementsAre("InvalidArgs", "UnknownMethod", "ok", "NotFound"));
  if (said.find("Result refused: there is no result for job 4711") == std::string::npos)
    GTEST_SKIP() << "there is a journal, which got it";
  for (const auto* method : {"Show", "Destroy"})
    EXPECT_THAT(said, HasSubstr(fmt::format(": {} refused: no method takes these arguments\n", method)));
  for (const auto* method : {"GetAll", "Result"})
    EXPECT_THAT(said, Not(HasSubstr(fmt::format("{} refused: no method", method))));
}

TEST_F(ApiMistakesTest, AJobIsEndedByWhoAskedForItOrRoot) {
  play("[ \"$verb\" != " + verb(Job::Verb::kRollBack) +
       R"( ] || { until [ -e "$here/go" ]; do sleep 0.02; done; touch "$here/ended"; })");
  const FakePolkit polkit("org.rdmaconfigd1.apply");
  std::uint32_t id = 0;
  std::string others;
  while_running([&] {
    (void)end_of_call([&](system::dbus::Peer& manager) {
      id = manager.call<std::uint32_t>(kDaemon, "Rollback", 0s, std::uint64_t{1}, Options{});
    });
    constexpr unsigned kAlice = 1;  // a user that every system has: the bus looks it up
    // The credentials of this thread alone: the bus takes those of whoever connects.
    std::thread([&] {
      if (::syscall(SYS_setresuid, kAlice, kAlice, kAlice) != 0) return;
      others = end_of_call(
          [&](system::dbus::Peer& manager) { manager.call(kDaemon, "Cancel", 0s, id, Options{}); });
    }).join();
    tree.put("/go", "");
    (void)unit::wait_until([this] { return std::filesystem::exists(tree.at("/ended")); });
  });
  EXPECT_NE(id, 0U);
  EXPECT_EQ(others, fmt::format("AccessDenied: job {} is not yours, so only root may cancel it", id));
  EXPECT_TRUE(std::filesystem::exists(tree.at("/ended"))) << "it went on";
}

}  // namespace
}  // namespace rdmacfg::daemon
