// SPDX-License-Identifier: Apache-2.0
// The D-Bus interface on a bus of the test's own.
#include "daemon/api.hpp"

#include <gmock/gmock.h>
#include <sdbus-c++/sdbus-c++.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "unit/daemon/controller_fixture.hpp"

extern char** environ;

namespace rdmacfg::daemon {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;
using Options = std::map<std::string, sdbus::Variant>;
using Documents = std::vector<sdbus::Struct<std::string, std::string>>;

/// A message bus that lets everybody do everything.
class Bus {
 public:
  Bus() {
    tree_.put("/bus.conf",
              "<busconfig><type>custom</type><listen>" + address() +
                  "</listen><policy context=\"default\"><allow user=\"*\"/><allow own=\"*\"/>"
                  "<allow send_destination=\"*\"/><allow receive_sender=\"*\"/></policy></busconfig>");
    std::string program = "dbus-daemon", conf = "--config-file=" + tree_.at("/bus.conf").native(),
                nofork = "--nofork";
    std::array<char*, 4> argv{program.data(), conf.data(), nofork.data(), nullptr};
    if (::posix_spawnp(&pid_, program.c_str(), nullptr, nullptr, argv.data(), environ) != 0) pid_ = -1;
    for (int i = 0; pid_ > 0 && i < 500 && !std::filesystem::exists(tree_.at("/socket")); ++i)
      std::this_thread::sleep_for(10ms);
  }
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;
  ~Bus() {
    if (pid_ <= 0) return;
    (void)::kill(pid_, SIGKILL);
    (void)::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] std::string address() const { return "unix:path=" + tree_.at("/socket").native(); }
  [[nodiscard]] bool there() const { return pid_ > 0 && std::filesystem::exists(tree_.at("/socket")); }

 private:
  system::TempTree tree_;
  int pid_ = -1;
};

struct WithBus {
  Bus bus;
};

class ApiTest : private WithBus, public ControllerFixture {
 protected:
  ApiTest() : ControllerFixture(bus.address()) {}
  void SetUp() override {
    if (!bus.there()) GTEST_SKIP() << "no dbus-daemon here";
    if (::getuid() != 0) GTEST_SKIP() << "who is not root is asked for by polkit, which is not there";
  }

  /// Calls a method; what comes back is counted.
  template <class... Arguments>
  void call(const char* method, const Arguments&... arguments) {
    if (!proxy) {
      proxy = sdbus::createProxy("org.rdmaconfigd1", "/org/rdmaconfigd1");
      proxy->finishRegistration();
    }
    proxy->callMethodAsync(method)
        .onInterface("org.rdmaconfigd1.Manager")
        .withTimeout(60s)
        .withArguments(arguments...)
        .uponReplyInvoke([this](const sdbus::Error* error) {
          if (error == nullptr) {
            ++done;
          } else {
            ++(error->getName().ends_with("LimitsExceeded") ? refused : failed);
          }
        });
  }

  std::unique_ptr<sdbus::IProxy> proxy;
  std::atomic<int> done{0}, refused{0}, failed{0};
};

constexpr const char* kWaits = R"(until [ -e "$here/go" ]; do sleep 0.02; done)";

constexpr int kCalls = 30;
constexpr int kRoom = static_cast<int>(Jobs::kQueue + Jobs::kLooks);

TEST_F(ApiTest, LooksFillTheirQueueAndNoOther) {
  play("[ \"$verb\" != " + verb(Job::Verb::kShow) + " ] || " + kWaits);
  controller.start();
  // One after the other: of one client few are asked about at once.
  std::vector<Loop::Handle> calls;
  for (int i = 0; i < kCalls; ++i)
    calls.push_back(loop.after(1s + i * 20ms, [this] { call("Show", Options{}); }));
  when([this] { return refused == kCalls - kRoom; },
       [this] {
         call("Confirm", Options{});
         when([this] { return done == 1; },
              [this] {
                tree.put("/go", "");
                when([this] { return done == kRoom + 1; }, [this] { controller.stop(); });
              });
       });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(failed, 0);
}

TEST_F(ApiTest, TheDaemonEndsWithAClientsJobAndTakesNoOther) {
  play("[ \"$verb\" != " + verb(Job::Verb::kRollBack) + " ] || { touch \"$here/begun\"; " + kWaits + "; }");
  controller.start();
  const auto on_the_bus = loop.after(1s, [&] {
    call("Rollback", std::uint64_t{1}, Options{});
    when([this] { return std::filesystem::exists(tree.at("/begun")); },
         [this] {
           call("Confirm", Options{});  // waits
           when([this] { return done == 2; },
                [this] {
                  controller.stop();
                  call("Show", Options{});
                  when([this] { return refused == 1; }, [this] { tree.put("/go", ""); });
                });
         });
  });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(failed, 0);
  const auto asked = verbs();
  EXPECT_EQ(std::count(asked.begin(), asked.end(), verb(Job::Verb::kConfirm)), 0) << "it was cancelled";
}

TEST_F(ApiTest, WhatAClientHasDoneIsNotOverwrittenByAReloadThatIsRetried) {
  const auto apply = verb(Job::Verb::kApply), back = verb(Job::Verb::kRollBack);
  const auto times = [this](const std::string& one) {
    const auto asked = verbs();
    return std::count(asked.begin(), asked.end(), one);
  };
  // The second apply is the reload. It waits, and dies.
  play("if [ $verb = " + apply + " ] && [ $(grep -c '^" + apply + "$' \"$here/verbs\") -eq 2 ]; then " +
       kWaits + "; kill -9 $$; fi; [ $verb != " + back + " ] || sleep 0.5");
  controller.start();
  const auto on_the_bus = loop.after(1s, [&] {
    controller.reload();
    when([&] { return times(apply) == 2; },
         [&] {
           call("Rollback", std::uint64_t{1}, Options{});
           when([this] { return done == 1; },
                [&] {
                  tree.put("/go", "");
                  when([&] { return times(back) == 1 && verbs().back() != back; },
                       [this] { controller.stop(); });
                });
         });
  });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(failed, 0);
  const auto asked = verbs();
  ASSERT_GE(asked.size(), 3U);
  EXPECT_EQ(asked[asked.size() - 3], apply) << "the reload";
  EXPECT_EQ(asked[asked.size() - 2], back);
  EXPECT_EQ(asked.back(), verb(Job::Verb::kHold)) << "what was rolled back to is held";
}

TEST_F(ApiTest, WhatIsTooLargeIsRefusedAtOnce) {
  play("");
  controller.start();
  const auto on_the_bus = loop.after(1s, [&] {
    call("Show", Options{{"who", sdbus::Variant(std::vector<std::uint8_t>(1 << 20))}});
    call("Diff", Documents{{"a", std::string(Api::kDocumentBytes + 1, 'x')}}, Options{});
    call("Apply", Documents{}, Options{{"expect", sdbus::Variant(std::string(1 << 20, 'x'))}});
    when([this] { return refused + done + failed == 3; }, [this] { controller.stop(); });
  });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(refused, 3);
}

}  // namespace
}  // namespace rdmacfg::daemon
