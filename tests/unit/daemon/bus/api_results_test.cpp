// SPDX-License-Identifier: Apache-2.0
// Access to a job's result.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <thread>

#include "unit/daemon/bus_client.hpp"
#include "unit/daemon/controller_fixture.hpp"
#include "unit/daemon/private_bus.hpp"
#include "unit/wait_until.hpp"

namespace rdmacfg::daemon {
namespace {

using namespace std::chrono_literals;
using Options = std::map<std::string, sdbus::Variant>;

/// The answer of `Result` of job `id` for a user: "ok", or the error's name. With 0 he asks for a job before.
std::string result_for(unsigned uid, std::uint32_t& id) {
  std::string answer;
  const bool first = id == 0;
  const auto ask = [&] {
    // The credentials of this thread alone: the bus takes those of whoever connects.
    if (::syscall(SYS_setresuid, uid, uid, uid) != 0) {
      answer = "setresuid";
      return;
    }
    try {
      system::dbus::Connection connection;
      system::dbus::Peer manager(connection, "org.rdmaconfigd1", "/org/rdmaconfigd1");
      constexpr const char* kDaemon = BusClient::kManager;
      if (first) id = manager.call<std::uint32_t>(kDaemon, "Confirm", 0s, Options{});
      (void)unit::wait_until([&] {
        try {
          (void)manager.call<std::string>(kDaemon, "Result", 0s, id, Options{});
          answer = "ok";
          return true;
        } catch (const sdbus::Error& error) {
          answer = error.getName();
          return !first;  // his own has not ended yet
        }
      });
    } catch (const std::exception& error) {
      answer = error.what();
    }
  };
  std::thread(ask).join();
  return answer;
}

struct ApiResultsWithBus {
  system::TempTree folder;
  PrivateBus bus{folder};
};

class ApiResultsTest : private ApiResultsWithBus, public ControllerFixture {
 protected:
  ApiResultsTest() : ControllerFixture(bus.address()) {}
  void SetUp() override {
    if (!bus.there()) GTEST_SKIP() << "no dbus-daemon here";
    if (::getuid() != 0) GTEST_SKIP() << "takes root: it asks as several users";
  }
};

TEST_F(ApiResultsTest, WhoAskedForAJobReadsItsResultAndNobodyElse) {
  constexpr unsigned kAlice = 1, kBob = 2;  // users that every system has: the bus looks them up
  play("");
  const FakePolkit polkit("org.rdmaconfigd1.apply");
  controller.start();
  std::string own, others;
  std::atomic<bool> asked = false;
  std::thread clients;
  when(is_on_the_bus, [&] {
    clients = std::thread([&] {
      std::uint32_t id = 0;
      own = result_for(kAlice, id);
      others = result_for(kBob, id);
      asked = true;
    });
    when([&] { return asked.load(); }, [this] { controller.stop(); });
  });
  EXPECT_EQ(run(), 0);
  if (clients.joinable()) clients.join();
  EXPECT_EQ(own, "ok");
  EXPECT_EQ(others, "org.rdmaconfigd1.Error.AccessDenied");
}

/// A client of a daemon that is told to end while it works for the client.
class ApiLastResultTest : public ApiResultsTest {
 protected:
  /// How long the daemon is there after the job's end. The client asks for the result after `patience`.
  std::chrono::milliseconds lasts(std::optional<std::chrono::milliseconds> patience) {
    play("[ \"$verb\" != " + verb(Job::Verb::kRollBack) +
         R"( ] || { touch "$here/begun"; until [ -e "$here/go" ]; do sleep 0.02; done; })");
    controller.start();
    constexpr const char* kDaemon = BusClient::kManager;
    std::atomic<std::uint32_t> finished{0};
    BusClient client;
    const auto match = client.connection().match(
        "type='signal',interface='org.rdmaconfigd1.Manager',member='Finished'", [&](sdbus::Message& message) {
          std::uint32_t id = 0;
          message >> id;
          finished = id;
        });
    std::chrono::milliseconds since{0};
    Loop::Handle asks;
    when(is_on_the_bus, [&] {
      client->call_async(
          kDaemon, "Rollback", 0s, [](const sdbus::Error*) {}, std::uint64_t{1}, Options{});
      when([this] { return std::filesystem::exists(tree.at("/begun")); },
           [&] {
             controller.stop();
             tree.put("/go", "");
             when([&] { return finished != 0; },
                  [&] {
                    since = Loop::now();
                    if (!patience) return;
                    asks = loop.after(*patience, [&] {
                      client->call_async<std::string>(
                          kDaemon, "Result", 0s,
                          [&](const sdbus::Error* error, const std::string& text) {
                            if (error == nullptr) {
                              answer = text;
                            } else {
                              answer = error->getName();
                            }
                            answered = true;
                          },
                          finished.load(), Options{});
                    });
                  });
           });
    });
    EXPECT_EQ(run(), 0);
    const auto took = Loop::now() - since;
    // The client's thread may still read the last answer.
    if (patience) {
      EXPECT_TRUE(unit::wait_until([this] { return answered.load(); }));
    }
    return took;
  }
  std::string answer;
  std::atomic<bool> answered{false};
};

TEST_F(ApiLastResultTest, ADaemonThatEndsLetsWhoWaitsForAJobHaveItsResult) {
  EXPECT_LT(lasts(500ms), Jobs::kFetch - 1s) << "and goes then";
  EXPECT_EQ(answer, core::report_json(model::Report{}).dump());
}

TEST_F(ApiLastResultTest, ItWaitsForNobodyForLong) {
  EXPECT_LT(lasts(std::nullopt), Jobs::kFetch + 30s);
  EXPECT_EQ(answer, "");
}

}  // namespace
}  // namespace rdmacfg::daemon
