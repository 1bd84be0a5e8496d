// SPDX-License-Identifier: Apache-2.0
// Who may read how a job went.
#include <gtest/gtest.h>
#include <sdbus-c++/sdbus-c++.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "unit/daemon/controller_fixture.hpp"
#include "unit/daemon/private_bus.hpp"

namespace rdmacfg::daemon {
namespace {

using namespace std::chrono_literals;
using Options = std::map<std::string, sdbus::Variant>;

/// polkit as one that lets everybody apply, and nobody read.
class ApplyOnly {
 public:
  ApplyOnly()
      : connection_(sdbus::createSystemBusConnection()),
        object_(sdbus::createObject(*connection_, "/org/freedesktop/PolicyKit1/Authority")) {
    using Subject = sdbus::Struct<std::string, std::map<std::string, sdbus::Variant>>;
    using Details = std::map<std::string, std::string>;
    object_->registerMethod("CheckAuthorization")
        .onInterface("org.freedesktop.PolicyKit1.Authority")
        .implementedAs([](const Subject&, const std::string& action, const Details&, const std::uint32_t&,
                          const std::string&) {
          return sdbus::Struct<bool, bool, Details>{action == "org.rdmaconfigd1.apply", false, Details{}};
        });
    object_->finishRegistration();
    connection_->requestName("org.freedesktop.PolicyKit1");
    connection_->enterEventLoopAsync();
  }
  ApplyOnly(const ApplyOnly&) = delete;
  ApplyOnly& operator=(const ApplyOnly&) = delete;
  ~ApplyOnly() { connection_->leaveEventLoop(); }

 private:
  std::unique_ptr<sdbus::IConnection> connection_;
  std::unique_ptr<sdbus::IObject> object_;
};

/// What `Result` of job `id` answers a user: "ok", or the error's name. With 0 he asks for a job before.
std::string result_for(unsigned uid, std::uint32_t& id) {
  std::string answer;
  const bool first = id == 0;
  const auto ask = [&] {
    // The credentials of this thread alone: the bus takes those of whoever connects.
    if (::syscall(SYS_setresuid, uid, uid, uid) != 0) return;
    try {
      auto connection = sdbus::createSystemBusConnection();
      auto manager = sdbus::createProxy(*connection, "org.rdmaconfigd1", "/org/rdmaconfigd1");
      manager->finishRegistration();
      constexpr const char* kDaemonInterface = "org.rdmaconfigd1.Manager";
      if (first)
        manager->callMethod("Confirm")
            .onInterface(kDaemonInterface)
            .withArguments(Options{})
            .storeResultsTo(id);
      for (int i = 0; i < 100; ++i) {
        try {
          std::string text;
          manager->callMethod("Result")
              .onInterface(kDaemonInterface)
              .withArguments(id, Options{})
              .storeResultsTo(text);
          answer = "ok";
          return;
        } catch (const sdbus::Error& error) {
          answer = error.getName();
          if (!first) return;
          std::this_thread::sleep_for(50ms);  // it has not ended yet
        }
      }
    } catch (const sdbus::Error& error) {
      answer = error.getName();
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
  const ApplyOnly polkit;
  controller.start();
  std::string own, others;
  std::atomic<bool> asked = false;
  std::thread clients;
  const auto on_the_bus = loop.after(1s, [&] {
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
    constexpr const char* kDaemon = "org.rdmaconfigd1.Manager";
    const auto client = sdbus::createProxy("org.rdmaconfigd1", "/org/rdmaconfigd1");
    std::atomic<std::uint32_t> finished{0};
    client->uponSignal("Finished")
        .onInterface(kDaemon)
        .call([&](const std::uint32_t& id, const std::int32_t&) { finished = id; });
    client->finishRegistration();
    std::chrono::milliseconds since{0};
    Loop::Handle asks;
    const auto on_the_bus = loop.after(1s, [&] {
      client->callMethodAsync("Rollback")
          .onInterface(kDaemon)
          .withArguments(std::uint64_t{1}, Options{})
          .uponReplyInvoke([](const sdbus::Error*, const std::uint32_t&) {});
      when([this] { return std::filesystem::exists(tree.at("/begun")); },
           [&] {
             controller.stop();
             tree.put("/go", "");
             when([&] { return finished != 0; },
                  [&] {
                    since = Loop::now();
                    if (!patience) return;
                    asks = loop.after(*patience, [&] {
                      client->callMethodAsync("Result")
                          .onInterface(kManager)
                          .withArguments(finished.load(), Options{})
                          .uponReplyInvoke([&](const sdbus::Error* error, const std::string& text) {
                            answer = error == nullptr ? text : error->getName();
                          });
                    });
                  });
           });
    });
    EXPECT_EQ(run(), 0);
    const auto took = Loop::now() - since;
    std::this_thread::sleep_for(200ms);  // what came last is still being read
    return took;
  }
  std::string answer;
};

TEST_F(ApiLastResultTest, ADaemonThatEndsLetsWhoWaitsForAJobHaveItsResult) {
  EXPECT_LT(lasts(500ms), 1500ms) << "and goes then";
  EXPECT_EQ(answer, core::report_json(model::Report{}).dump());
}

TEST_F(ApiLastResultTest, ItWaitsForNobodyForLong) {
  EXPECT_LT(lasts(std::nullopt), Jobs::kFetch + 1s);
  EXPECT_EQ(answer, "");
}

}  // namespace
}  // namespace rdmacfg::daemon
