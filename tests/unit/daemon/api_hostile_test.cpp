// SPDX-License-Identifier: Apache-2.0
// Readers who mean harm, on a bus of the test's own.
#include <gmock/gmock.h>
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
constexpr const char* kManager = "org.rdmaconfigd1.Manager";

/// polkit as one that lets everybody read.
class ReadOnly {
 public:
  ReadOnly()
      : connection_(sdbus::createSystemBusConnection()),
        object_(sdbus::createObject(*connection_, "/org/freedesktop/PolicyKit1/Authority")) {
    using Subject = sdbus::Struct<std::string, std::map<std::string, sdbus::Variant>>;
    using Details = std::map<std::string, std::string>;
    object_->registerMethod("CheckAuthorization")
        .onInterface("org.freedesktop.PolicyKit1.Authority")
        .implementedAs([](const Subject&, const std::string& action, const Details&, const std::uint32_t&,
                          const std::string&) {
          return sdbus::Struct<bool, bool, Details>{action == "org.rdmaconfigd1.read", false, Details{}};
        });
    object_->finishRegistration();
    connection_->requestName("org.freedesktop.PolicyKit1");
    connection_->enterEventLoopAsync();
  }
  ReadOnly(const ReadOnly&) = delete;
  ReadOnly& operator=(const ReadOnly&) = delete;
  ~ReadOnly() { connection_->leaveEventLoop(); }

 private:
  std::unique_ptr<sdbus::IConnection> connection_;
  std::unique_ptr<sdbus::IObject> object_;
};

/// Asks for one look after the other and waits for none, until it is told to end.
class Hostile {
 public:
  explicit Hostile(unsigned uid) : thread_([this, uid] { ask(uid); }) {}
  Hostile(const Hostile&) = delete;
  Hostile& operator=(const Hostile&) = delete;
  ~Hostile() {
    ends_ = true;
    thread_.join();
  }

 private:
  void ask(unsigned uid) {
    // The credentials of this thread alone: the bus takes those of whoever connects.
    if (::syscall(SYS_setresuid, uid, uid, uid) != 0) return;
    try {
      const auto connection = sdbus::createSystemBusConnection();
      const auto manager = sdbus::createProxy(*connection, "org.rdmaconfigd1", "/org/rdmaconfigd1");
      manager->finishRegistration();
      while (!ends_) {
        for (int i = 0; i < 20; ++i)
          manager->callMethodAsync("Show")
              .onInterface(kManager)
              .withTimeout(60s)
              .withArguments(Options{})
              .uponReplyInvoke([](const sdbus::Error*) {});
        for (int i = 0; i < 100; ++i) (void)connection->processPendingRequest();
        std::this_thread::sleep_for(10ms);
      }
    } catch (const sdbus::Error&) {  // the daemon ends
    }
  }

  std::atomic<bool> ends_{false};
  std::thread thread_;
};

struct WithBus {
  system::TempTree folder;
  PrivateBus bus{folder};
};

class ApiHostileTest : protected WithBus, public ControllerFixture {
 protected:
  ApiHostileTest() : ControllerFixture(bus.address()) {}
  void SetUp() override {
    if (!bus.there()) GTEST_SKIP() << "no message bus here";
    if (::getuid() != 0) GTEST_SKIP() << "takes other users";
  }

  template <class... Arguments>
  void call(const char* method, const Arguments&... arguments) {
    proxy->callMethodAsync(method)
        .onInterface(kManager)
        .withTimeout(60s)
        .withArguments(arguments...)
        .uponReplyInvoke([this](const sdbus::Error* error) { ++(error == nullptr ? done : failed); });
  }

  std::unique_ptr<sdbus::IProxy> proxy;
  std::atomic<int> done{0}, failed{0};
};

TEST_F(ApiHostileTest, RootsRequestsGoOnBesideTwoReadersInALoop) {
  // Looks of users never end by themselves.
  play(R"sh(case $job in *'"who":"uid '*) echo >>"$here/hostile"; exec sleep 60;; esac)sh");
  controller.start();
  const ReadOnly polkit;
  std::optional<Hostile> alice, bob;
  const auto on_the_bus = loop.after(1s, [&] {
    proxy = sdbus::createProxy("org.rdmaconfigd1", "/org/rdmaconfigd1");
    proxy->finishRegistration();
    alice.emplace(1000U);
    bob.emplace(1001U);
    when([this] { return lines_of("/hostile").size() == model::limits::kLooks; },
         [&] {
           call("Show", Options{});
           call("Confirm", Options{});
           when([this] { return done == 2; },
                [&] {
                  call("Show", Options{});
                  when([this] { return done == 3; },
                       [&] {
                         EXPECT_EQ(lines_of("/hostile").size(), model::limits::kLooks)
                             << "the users' looks still run";
                         alice.reset();
                         bob.reset();
                         controller.stop();
                       });
                });
         });
  });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(failed, 0);
}

TEST_F(ApiHostileTest, WhoMayOnlyReadChangesNothing) {
  play("");
  controller.start();
  const ReadOnly polkit;
  std::string answer;
  std::thread reader;
  const auto on_the_bus = loop.after(1s, [&] {
    reader = std::thread([&] {
      if (::syscall(SYS_setresuid, 1000, 1000, 1000) != 0) return;
      const auto manager = sdbus::createProxy("org.rdmaconfigd1", "/org/rdmaconfigd1");
      manager->finishRegistration();
      try {
        manager->callMethod("Reload").onInterface(kManager).withArguments(Options{});
      } catch (const sdbus::Error& error) {
        answer = error.getName();
      }
      ++done;
    });
    when([this] { return done == 1; }, [&] { controller.stop(); });
  });
  EXPECT_EQ(run(), 0);
  if (reader.joinable()) reader.join();
  EXPECT_EQ(answer, "org.rdmaconfigd1.Error.AccessDenied");
  EXPECT_EQ(verbs().size(), 1U) << "the apply at the start";
}

}  // namespace
}  // namespace rdmacfg::daemon
