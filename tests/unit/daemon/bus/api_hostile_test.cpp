// SPDX-License-Identifier: Apache-2.0
// Readers who mean harm, on a bus of the test's own.
#include <gmock/gmock.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "unit/daemon/bus_client.hpp"
#include "unit/daemon/controller_fixture.hpp"
#include "unit/daemon/private_bus.hpp"

namespace rdmacfg::daemon {
namespace {

using namespace std::chrono_literals;
using Options = std::map<std::string, sdbus::Variant>;
constexpr const char* kRead = "org.rdmaconfigd1.read";
// Users that every system has: dbus-daemon 1.16 refuses one whom no database knows.
constexpr unsigned kDaemonUser = 1, kBinUser = 2;

/// The credentials of this thread alone: the bus takes those of whoever connects.
void become(unsigned uid) {
  if (::syscall(SYS_setresuid, uid, uid, uid) != 0)
    throw std::system_error(errno, std::generic_category(), "setresuid");
}

/// A bus may throw out who wants too much, and goes with the test. Why something did not come is seen by it.
void gave_up(unsigned uid, const std::exception& error) {
  std::fprintf(stderr, "the client of user %u has ended: %s\n", uid, error.what());
}

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
    try {
      become(uid);
      system::dbus::Connection connection;
      system::dbus::Peer manager(connection, "org.rdmaconfigd1", "/org/rdmaconfigd1");
      while (!ends_) {
        for (int i = 0; i < 20; ++i)
          manager.call_async(
              BusClient::kManager, "Show", 60s, [](const sdbus::Error*) {}, Options{});
        for (int i = 0; i < 100; ++i) (void)connection.process();
        std::this_thread::sleep_for(10ms);
      }
    } catch (const std::exception& error) {
      gave_up(uid, error);
    }
  }

  std::atomic<bool> ends_{false};
  std::thread thread_;
};

/// One that thinks for ever, as behind a dialog that nobody answers.
class SilentPolkit {
 public:
  SilentPolkit()
      : object_(connection_, "/org/freedesktop/PolicyKit1/Authority",
                "org.freedesktop.PolicyKit1.Authority") {
    using Subject = sdbus::Struct<std::string, Options>;
    using Details = std::map<std::string, std::string>;
    using Verdict = sdbus::Struct<bool, bool, Details>;
    object_.method("CheckAuthorization", {}, {},
                   [this](const system::dbus::Reply<Verdict>&, const Subject&, const std::string&,
                          const Details&, const std::uint32_t&, const std::string&) { ++asked; });
    object_.publish();
    connection_.request_name("org.freedesktop.PolicyKit1");
    connection_.start_thread();
  }
  SilentPolkit(const SilentPolkit&) = delete;
  SilentPolkit& operator=(const SilentPolkit&) = delete;
  ~SilentPolkit() { connection_.stop_thread(); }

  std::atomic<std::size_t> asked{0};

 private:
  system::dbus::Connection connection_;
  system::dbus::Object object_;
};

/// Users that this system knows, without root.
std::vector<unsigned> some_users(std::size_t most) {
  std::vector<unsigned> users;
  for (unsigned uid = 1; uid < 200 && users.size() < most; ++uid)
    if (::getpwuid(uid) != nullptr) users.push_back(uid);
  return users;
}

/// A user with as many connections as it may have questions, each of which asks for a look and waits.
class Crowd {
 public:
  Crowd(unsigned uid, const std::atomic<bool>& over) : thread_([uid, &over] { connect(uid, over); }) {}
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd() { thread_.join(); }

 private:
  static void connect(unsigned uid, const std::atomic<bool>& over) {
    try {
      become(uid);
      std::vector<std::unique_ptr<BusClient>> clients;
      for (std::size_t i = 0; i < model::limits::kQuestionsOfUser; ++i) {
        clients.push_back(std::make_unique<BusClient>());
        (*clients.back())
            ->call_async(
                BusClient::kManager, "Show", 60s, [](const sdbus::Error*) {}, Options{});
      }
      while (!over) std::this_thread::sleep_for(10ms);
    } catch (const std::exception& error) {
      gave_up(uid, error);
    }
  }
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
    (*client)->call_async(
        BusClient::kManager, method, 60s,
        [this](const sdbus::Error* error) { ++(error == nullptr ? done : failed); }, arguments...);
  }

  std::optional<BusClient> client;
  std::atomic<int> done{0}, failed{0};
};

TEST_F(ApiHostileTest, RootsRequestsGoOnBesideTwoReadersInALoop) {
  // Looks of users never end by themselves.
  play(R"sh(case $job in *'"who":"uid '*) echo >>"$here/hostile"; exec sleep 60;; esac)sh");
  controller.start();
  const FakePolkit polkit(kRead);
  std::optional<Hostile> alice, bob;
  when(is_on_the_bus, [&] {
    client.emplace();
    alice.emplace(kDaemonUser);
    bob.emplace(kBinUser);
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
  EXPECT_EQ(run(), 0) << done << " calls were answered, of users' looks there are "
                      << lines_of("/hostile").size();
  EXPECT_EQ(failed, 0);
}

TEST_F(ApiHostileTest, RootIsHeardBesideUsersWhoFillEveryTable) {
  const auto users = some_users(model::limits::kLeavingClients / model::limits::kQuestionsOfUser);
  if (users.size() * model::limits::kQuestionsOfUser < model::limits::kLeavingClients)
    GTEST_SKIP() << "too few users";
  play("");
  controller.start();
  SilentPolkit polkit;
  std::atomic<bool> over{false};
  std::vector<std::unique_ptr<Crowd>> crowds;
  when(is_on_the_bus, [&] {
    for (const auto uid : users) crowds.push_back(std::make_unique<Crowd>(uid, over));
    when([&] { return polkit.asked == model::limits::kLeavingClients; },
         [&] {
           client.emplace();
           call("Show", Options{});
           when([this] { return done + failed == 1; }, [&] { controller.stop(); });
         });
  });
  EXPECT_EQ(run(), 0) << polkit.asked << " questions have come to polkit, " << failed << " calls failed";
  over = true;
  EXPECT_EQ(done, 1);
  EXPECT_EQ(polkit.asked, model::limits::kLeavingClients);
}

TEST_F(ApiHostileTest, WhoMayOnlyReadChangesNothing) {
  play("");
  controller.start();
  const FakePolkit polkit(kRead);
  std::string answer;
  std::thread reader;
  when(is_on_the_bus, [&] {
    reader = std::thread([&] {
      try {
        become(kDaemonUser);
        BusClient manager;
        manager->call(BusClient::kManager, "Reload", 0s, Options{});
      } catch (const sdbus::Error& error) {
        answer = error.getName();
      } catch (const std::exception& error) {
        answer = error.what();
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
