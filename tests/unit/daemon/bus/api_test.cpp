// SPDX-License-Identifier: Apache-2.0
// The D-Bus interface on a bus of the test's own.
#include "daemon/bus/api.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "base/unique_fd.hpp"
#include "fakes/bus/peer.hpp"
#include "unit/daemon/bus_client.hpp"
#include "unit/daemon/controller_fixture.hpp"
#include "unit/daemon/private_bus.hpp"

namespace rdmacfg::daemon {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;
using Options = std::map<std::string, sdbus::Variant>;
using Documents = std::vector<sdbus::Struct<std::string, std::string>>;

using Bus = PrivateBus;

struct WithAddress {
  system::TempTree folder;
};

struct ApiWithBus : WithAddress {
  std::optional<Bus> bus{std::in_place, folder};
};

class ApiTest : protected ApiWithBus, public ControllerFixture {
 protected:
  ApiTest() : ControllerFixture(bus->address()) {}
  void SetUp() override {
    if (!bus->there()) GTEST_SKIP() << "no dbus-daemon here";
    if (::getuid() != 0) GTEST_SKIP() << "who is not root is asked for by polkit, which is not there";
  }

  /// Calls a method; answers are counted.
  template <class... Arguments>
  void call(const char* method, const Arguments&... arguments) {
    if (!client) client.emplace();
    (*client)->call_async(
        BusClient::kManager, method, 60s,
        [this](const sdbus::Error* error) {
          if (error == nullptr) {
            ++done;
          } else {
            ++(error->getName().ends_with("LimitsExceeded") ? refused : failed);
          }
        },
        arguments...);
  }

  std::optional<BusClient> client;
  Loop::Handle again;
  std::atomic<int> done{0}, refused{0}, failed{0};
};

constexpr const char* kWaits = R"(until [ -e "$here/go" ]; do sleep 0.02; done)";

constexpr int kCalls = 30;
constexpr int kRoom =
    static_cast<int>(model::limits::kQueue + model::limits::kLooks + model::limits::kRootLooks);

TEST_F(ApiTest, LooksFillTheirQueueAndNoOther) {
  play("[ \"$verb\" != " + verb(Job::Verb::kShow) + " ] || " + kWaits);
  controller.start();
  const auto confirm = [this] {
    call("Confirm", Options{});
    when([this] { return done == 1; },
         [this] {
           tree.put("/go", "");
           when([this] { return done == kRoom + 1; }, [this] { controller.stop(); });
         });
  };
  // One after the other: of one client few are asked about at once. When the ping behind a call is answered,
  // the bus has said whose call that was.
  std::atomic<int> pings{0};
  std::function<void(int)> ask = [&](int calls) {
    if (calls == kCalls) return when([this] { return refused == kCalls - kRoom; }, confirm);
    call("Show", Options{});
    (*client)->call_async("org.freedesktop.DBus.Peer", "Ping", 60s, [&](const sdbus::Error*) { ++pings; });
    when([&pings, calls] { return pings > calls; }, [&ask, calls] { ask(calls + 1); });
  };
  when(is_on_the_bus, [&] { ask(0); });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(failed, 0);
}

TEST_F(ApiTest, ABusThatGoesAndComesBackEndsNothing) {
  play("[ \"$verb\" != " + verb(Job::Verb::kRollBack) + " ] || { touch \"$here/begun\"; " + kWaits +
       "; touch \"$here/ended\"; }");
  controller.start();
  when(is_on_the_bus, [&] {
    call("Rollback", std::uint64_t{1}, Options{});
    when([this] { return done == 1 && std::filesystem::exists(tree.at("/begun")); },
         [this] {
           client.reset();  // its own thread would throw
           bus.emplace(folder);
           tree.put("/go", "");  // the job ends without its client
           when([this] { return std::filesystem::exists(tree.at("/ended")) && is_on_the_bus(); },
                [this] {
                  call("Show", Options{});
                  when([this] { return done == 2; }, [this] { controller.stop(); });
                });
         });
  });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(failed, 0);
}

TEST_F(ApiTest, TheDaemonEndsWithAClientsJobAndTakesNoOther) {
  play("[ \"$verb\" != " + verb(Job::Verb::kRollBack) + " ] || { touch \"$here/begun\"; " + kWaits + "; }");
  controller.start();
  when(is_on_the_bus, [&] {
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
  const auto times = [this](const std::string& wanted) {
    const auto asked = verbs();
    return std::count(asked.begin(), asked.end(), wanted);
  };
  // The second apply is the reload. It waits, and dies.
  play("if [ $verb = " + apply + " ] && [ $(grep -c '^" + apply + "$' \"$here/verbs\") -eq 2 ]; then " +
       kWaits + "; kill -9 $$; fi; [ $verb != " + back + " ] || sleep 0.5");
  controller.start();
  when(is_on_the_bus, [&] {
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

TEST_F(ApiTest, AManagerThatComesToTheBusWakesAndNobodyElseDoes) {
  play("");
  controller.start();
  system::dbus::Connection connection;
  when(is_on_the_bus, [&] {
    connection.request_name("org.example.Other");
    again = loop.after(500ms, [&] {
      EXPECT_EQ(verbs().size(), 1U) << "the apply at the start; all is as wanted";
      connection.request_name("org.freedesktop.resolve1");
      when_started(2, [&] {
        connection.release_name("org.freedesktop.resolve1");
        again = loop.after(1s, [this] { controller.stop(); });
      });
    });
  });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(verbs(), (std::vector{verb(Job::Verb::kApply), verb(Job::Verb::kHold)}));
}

TEST_F(ApiTest, AProfileThatNetworkManagerHasBroughtUpOrDownWakes) {
  play("");
  fakes::bus::Peer manager("org.freedesktop.NetworkManager"), stranger("");
  manager.start();
  stranger.start();
  const auto tells = [](fakes::bus::Peer& peer, std::uint32_t state, const char* to) {
    peer.run([&](sd_bus* connection) {
      sd_bus_message* signal = nullptr;
      if (sd_bus_message_new_signal(connection, &signal, "/org/freedesktop/NetworkManager/ActiveConnection/1",
                                    "org.freedesktop.NetworkManager.Connection.Active", "StateChanged") < 0)
        return;
      (void)sd_bus_message_append(signal, "uu", state, 0U);
      (void)sd_bus_send_to(connection, signal, to, nullptr);
      sd_bus_message_unref(signal);
    });
    peer.flush();
  };
  controller.start();
  when(is_on_the_bus, [&] {
    tells(stranger, 2, "org.rdmaconfigd1");
    tells(manager, 1, nullptr);
    again = loop.after(500ms, [&] {
      EXPECT_EQ(verbs().size(), 1U) << "it is on its way up, and another client has said that it is up";
      tells(manager, 2, nullptr);
      when_started(2, [&] {
        tells(manager, 4, nullptr);
        when_started(3, [this] { controller.stop(); });
      });
    });
  });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(verbs(), (std::vector{verb(Job::Verb::kApply), verb(Job::Verb::kHold), verb(Job::Verb::kHold)}));
}

TEST_F(ApiTest, WhatWaitedForSomebodyOnTheBusIsLookedAtWhenTheBusIsReached) {
  model::Report waits;
  model::ResourceReport resource;
  resource.key = {"dns", "00:02:c9:03:00:31:78:f2"};
  resource.status = model::Status::kPending;
  waits.resources.push_back(resource);
  tree.put("/waits", core::report_json(waits).dump());
  play(
      "if [ $verb = " + verb(Job::Verb::kApply) +
      R"sh( ]; then printf '{"exit":5,"report":%s,"status":%s}\n' "$(cat "$here/waits")" "$status"; exit; fi)sh");
  controller.start();
  when_started(2, [this] { controller.stop(); });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(verbs(), (std::vector{verb(Job::Verb::kApply), verb(Job::Verb::kHold)}));
}

/// Where nothing listens until the test wants it to.
class LateBusTest : private WithAddress, public ControllerFixture {
 protected:
  LateBusTest() : ControllerFixture("unix:path=" + folder.at("/socket").native()) {}
  using WithAddress::folder;
};

TEST_F(LateBusTest, ABusThatComesLaterIsReachedAndWakesOnce) {
  play("");
  controller.start();
  std::optional<Bus> bus;
  const auto comes = loop.after(500ms, [&] { bus.emplace(folder); });
  when_started(2, [this] { poll = loop.after(1s, [this] { controller.stop(); }); });
  EXPECT_EQ(run(), 0);
  if (!bus->there()) GTEST_SKIP() << "no dbus-daemon here";
  EXPECT_EQ(verbs(), (std::vector{verb(Job::Verb::kApply), verb(Job::Verb::kHold)}));
}

TEST_F(LateBusTest, ABusThatIsNotThereIsAskedForMoreAndMoreSeldom) {
  const base::UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = folder.at("/socket").native();
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  std::atomic<int> tries{0};
  std::thread hangs_up([&] {
    for (;;) {
      const base::UniqueFd client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) return;
      ++tries;
    }
  });
  play("");
  controller.start();
  const auto end = loop.after(5s, [&] { when([&] { return tries >= 3; }, [this] { controller.stop(); }); });
  EXPECT_EQ(run(), 0);
  (void)::shutdown(listener.get(), SHUT_RDWR);
  hangs_up.join();
  EXPECT_GE(tries, 3);
  EXPECT_LE(tries, 8)
      << "at once, after 1 s and after 3 s, each time to see that the bus answers and then to stay";
}

TEST_F(ApiTest, ALookEndsWhenItsClientLeavesTheBus) {
  play("[ \"$verb\" != " + verb(Job::Verb::kShow) +
       " ] || { echo $$ >>\"$here/looks\"; while [ -e \"$0\" ]; do sleep 0.02; done; }");
  controller.start();
  std::optional<BusClient> his;
  const auto looks = [this] { return lines_of("/looks").size(); };
  when(is_on_the_bus, [&] {
    his.emplace();
    // One runs in each slot, and others wait.
    for (int i = 0; i < 4; ++i)
      (*his)->call_async(
          BusClient::kManager, "Show", 60s, [](const sdbus::Error*) {}, Options{});
    when([&] { return looks() == model::limits::kLooks + model::limits::kRootLooks; },
         [&] {
           his.reset();
           // Only when all of his have ended there is a slot again.
           call("Show", Options{});
           when([&] { return looks() == model::limits::kLooks + model::limits::kRootLooks + 1; },
                [&] {
                  const auto ended = [this] {
                    auto pids = lines_of("/looks");
                    pids.pop_back();
                    return std::all_of(pids.begin(), pids.end(),
                                       [](const auto& pid) { return ::kill(std::stoi(pid), 0) != 0; });
                  };
                  when(ended, [this] { controller.stop(); });
                });
         });
  });
  EXPECT_EQ(run(), 0) << "a look that nobody waits for runs on";
}

TEST_F(ApiTest, ALookGoesOnWhenAnotherClientSaysThatItsClientHasLeft) {
  play("[ \"$verb\" != " + verb(Job::Verb::kShow) + " ] || { touch \"$here/begun\"; " + kWaits + "; }");
  controller.start();
  fakes::bus::Peer stranger("");
  stranger.start();
  when(is_on_the_bus, [&] {
    call("Show", Options{});
    when([this] { return std::filesystem::exists(tree.at("/begun")); },
         [&] {
           const std::string name(client->connection().handle().getUniqueName());
           stranger.run([&](sd_bus* connection) {
             sd_bus_message* signal = nullptr;
             if (sd_bus_message_new_signal(connection, &signal, "/org/freedesktop/DBus",
                                           "org.freedesktop.DBus", "NameOwnerChanged") < 0)
               return;
             (void)sd_bus_message_append(signal, "sss", name.c_str(), name.c_str(), "");
             (void)sd_bus_send_to(connection, signal, "org.rdmaconfigd1", nullptr);
             sd_bus_message_unref(signal);
           });
           stranger.flush();
           again = loop.after(500ms, [this] {
             tree.put("/go", "");
             when([this] { return done + failed == 1; }, [this] { controller.stop(); });
           });
         });
  });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(done, 1);
}

TEST_F(ApiTest, WhatIsTooLargeIsRefusedAtOnce) {
  play("");
  controller.start();
  when(is_on_the_bus, [&] {
    call("Show", Options{{"who", sdbus::Variant(std::string(1 << 20, 'x'))}});
    call("Diff", Documents{{"a", std::string(model::limits::kDocumentBytes + 1, 'x')}}, Options{});
    call("Apply", Documents{}, Options{{"expect", sdbus::Variant(std::string(1 << 20, 'x'))}});
    when([this] { return refused + done + failed == 3; }, [this] { controller.stop(); });
  });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(refused, 3);
}

TEST_F(ApiTest, DocumentsAreTakenUpToTheLimits) {
  using model::limits::kDocumentBytes, model::limits::kDocumentFiles;
  // Names count, too.
  const auto of = [](std::size_t files, std::size_t bytes) {
    Documents out;
    for (std::size_t i = 0; i < files; ++i) out.emplace_back("f", "");
    std::get<1>(out.front()) = std::string(bytes - files, '#');
    return out;
  };
  play("");
  controller.start();
  when(is_on_the_bus, [&] {
    call("Diff", of(1, kDocumentBytes), Options{});
    call("Diff", of(kDocumentFiles, kDocumentFiles), Options{});
    when([this] { return done + failed + refused == 2; },
         [&] {
           EXPECT_EQ(refused, 0);
           call("Diff", of(1, kDocumentBytes + 1), Options{});
           call("Diff", of(kDocumentFiles + 1, kDocumentFiles + 1), Options{});
           when([this] { return done + failed + refused == 4; }, [this] { controller.stop(); });
         });
  });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(refused, 2);
}

TEST_F(ApiTest, WhatIsRefusedAtOnceHasItsLineInTheJournal) {
  if (::access("/run/systemd/journal/socket", F_OK) == 0) GTEST_SKIP() << "there is a journal, which gets it";
  play("");
  controller.start();
  when(is_on_the_bus, [this] {
    call("Show", Options{{"who", sdbus::Variant(std::string(1 << 20, 'x'))}});
    call("Diff", Documents{{"a", std::string(model::limits::kDocumentBytes + 1, 'x')}}, Options{});
    call("Apply", Documents{{"a", std::string(model::limits::kDocumentBytes + 1, 'x')}}, Options{});
    when([this] { return refused == 3; },
         [this] {
           // The bus names its client after those of the others.
           call("Cancel", std::uint32_t{4711}, Options{});
           when([this] { return done + failed == 1; }, [this] { controller.stop(); });
         });
  });
  ::testing::internal::CaptureStderr();
  const int status = run();
  const auto said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(status, 0);
  for (const auto* line : {": Show refused: the options are too large",
                           ": Diff refused: the document has more", ": Apply refused: the document has more"})
    EXPECT_THAT(said, HasSubstr(line));
}

/// The rest of a turn of the loop is handled in the next ones, also when nothing more comes.
TEST_F(ApiTest, EveryMessageOfAFloodIsAnswered) {
  // Several turns' worth; dbus-daemon lets one connection wait for 128 answers.
  constexpr int kFlood = 3 * static_cast<int>(model::limits::kBusMessages) + 1;
  play("");
  controller.start();
  when(is_on_the_bus, [this] {
    client.emplace();
    for (int i = 0; i < kFlood; ++i) {
      (*client)->call_async("org.freedesktop.DBus.Peer", "Ping", 60s,
                            [this](const sdbus::Error* error) { ++(error == nullptr ? done : failed); });
    }
    // All of them have come to the daemon, whose loop waits for this.
    system::dbus::Peer itself(client->connection(), "org.freedesktop.DBus", "/org/freedesktop/DBus");
    (void)itself.call<std::string>("org.freedesktop.DBus", "GetId", 60s);
    when([this] { return done + failed == kFlood; }, [this] { controller.stop(); });
  });
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace rdmacfg::daemon
