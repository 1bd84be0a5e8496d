// SPDX-License-Identifier: Apache-2.0
// Each question about a caller has one answer, whatever polkit and the bus do.
#include "daemon/bus/authority.hpp"

#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fakes/bus/peer.hpp"
#include "system/linux/dbus/dbus.hpp"
#include "unit/daemon/private_bus.hpp"
#include "unit/wait_until.hpp"

namespace rdmacfg::daemon {
namespace {

using fakes::bus::error;
using fakes::bus::reply;
using fakes::bus::silence;

constexpr const char* kChecks = "CheckAuthorization";
constexpr unsigned kNobodysUid = 65534;

/// An answer of polkit: is authorized, is a challenge, details.
fakes::bus::Answer verdict(bool yes) { return reply("(bba{ss})", yes ? 1 : 0, 0, 0); }

class AuthorityTest : public ::testing::Test {
 protected:
  using Answer = Authority::Answer;
  using Interaction = Authority::Interaction;

  void SetUp() override {
    if (!bus->there()) GTEST_SKIP() << "no dbus-daemon here";
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", bus->address().c_str(), 1);
    // A thread of its own may be another user, without a process of its own: root is not asked about.
    std::string wrong;
    std::thread([&] {
      if (::getuid() == 0) (void)::syscall(SYS_setresuid, kNobodysUid, kNobodysUid, kNobodysUid);
      try {
        user.emplace("");
      } catch (const std::exception& error) {
        wrong = error.what();
      }
    }).join();
    ASSERT_EQ(wrong, "");
    user->start();
    user->run([this](sd_bus* connection) {
      const char* own = nullptr;
      if (sd_bus_get_unique_name(connection, &own) >= 0) name = own;
    });
    polkit.emplace("org.freedesktop.PolicyKit1");
    polkit->on(kChecks, verdict(true));
    polkit->start();
    ours.emplace();
    ask_within(std::chrono::seconds(25));
  }

  void ask_within(std::chrono::milliseconds deadline) {
    authority.emplace(*ours, AuthorityDeadlines{.answer = deadline, .password = deadline});
  }

  void ask(const std::string& sender, Interaction interaction = Interaction::kNone,
           const Authority::MayAnyway& may_anyway = nullptr) {
    authority->check(
        sender, "org.rdmaconfigd1.apply", interaction,
        [this](Answer answer, const Caller& caller) {
          answers.push_back(answer);
          last = caller;
        },
        may_anyway);
  }

  /// Hears what there is. @return false when the bus has gone
  bool hear() {
    try {
      while (ours->process()) {
      }
      return true;
    } catch (const sdbus::Error&) {
      return false;
    }
  }
  /// The bus hands on messages in order: with its answer there is all that it was given before.
  void hear_all() {
    system::dbus::Peer itself(*ours, "org.freedesktop.DBus", "/org/freedesktop/DBus");
    (void)itself.call<std::string>("org.freedesktop.DBus", "GetId", std::chrono::seconds(60));
    EXPECT_TRUE(hear());
  }
  /// Hears what there is until polkit was asked so often.
  void await_questions(std::size_t number) {
    (void)unit::wait_until([&] { return polkit->calls(kChecks) >= number || !hear(); });
    ASSERT_EQ(polkit->calls(kChecks), number);
  }
  /// Hears what there is, until there are so many answers. @return the last one
  Answer answer(std::size_t number) {
    (void)unit::wait_until([&] { return answers.size() >= number || !hear(); });
    EXPECT_EQ(answers.size(), number);
    return answers.empty() ? Answer::kBusy : answers.back();
  }
  Answer asked(const std::string& sender) {
    const auto number = answers.size() + 1;
    ask(sender);
    return answer(number);
  }

  system::TempTree folder;
  std::optional<PrivateBus> bus{std::in_place, folder};
  std::optional<fakes::bus::Peer> user, polkit;
  std::string name;  ///< of the user's connection
  std::vector<Answer> answers;
  Caller last;
  std::optional<system::dbus::Connection> ours;
  std::optional<Authority> authority;
};

TEST_F(AuthorityTest, PolkitDecides) {
  EXPECT_EQ(asked(name), Answer::kYes);
  EXPECT_EQ(last.name, name);
  EXPECT_EQ(last.uid, ::getuid() == 0 ? kNobodysUid : ::getuid());
  polkit->play(kChecks, verdict(false));
  EXPECT_EQ(asked(name), Answer::kNo);
}

/// Of a request that was refused before: a flood of them asks the bus little, and each has its line.
TEST_F(AuthorityTest, WhoWasRefusedIsNamedWithoutPolkit) {
  constexpr std::size_t kFlood = 1000;
  std::vector<Caller> named;
  const auto identify = [&] {
    authority->identify(name, [&named](const Caller& caller) { named.push_back(caller); });
  };
  for (std::size_t i = 0; i < kFlood; ++i) identify();
  EXPECT_EQ(named.size(), kFlood - model::limits::kQuestionsOfUser) << "the rest waits for the bus";
  EXPECT_EQ(named.front().uid, kNobodysUid) << "nobody has been asked";
  (void)unit::wait_until([&] { return named.size() == kFlood || !hear(); });
  ASSERT_EQ(named.size(), kFlood);
  EXPECT_EQ(named.back().name, name);
  EXPECT_EQ(named.back().uid, ::getuid() == 0 ? kNobodysUid : ::getuid());
  EXPECT_EQ(polkit->calls(kChecks), 0U);
  EXPECT_EQ(asked(name), Answer::kYes) << "it takes no place of other questions";
}

TEST_F(AuthorityTest, AnyFailureToAskMeansNoAndTakesNoPlace) {
  const std::vector<std::pair<const char*, fakes::bus::Answer>> cases{
      {"an error", error("org.freedesktop.PolicyKit1.Error.Failed", "no")},
      {"a text", reply("s", "yes")},
      {"a boolean", reply("b", 1)},
      {"no value", reply(nullptr)},
      {"another order", reply("(a{ss}bb)", 0, 1, 1)},
  };
  for (const auto& [what, played] : cases) {
    SCOPED_TRACE(what);
    polkit->play(kChecks, played);
    // More often than a user may ask at once.
    for (std::size_t i = 0; i < model::limits::kQuestionsOfUser + 2; ++i) EXPECT_EQ(asked(name), Answer::kNo);
  }
  polkit.reset();
  for (std::size_t i = 0; i < model::limits::kQuestionsOfUser + 2; ++i) EXPECT_EQ(asked(name), Answer::kNo);
}

TEST_F(AuthorityTest, APolkitThatHangsMeansNo) {
  ask_within(std::chrono::milliseconds(300));
  polkit->play(kChecks, silence());
  for (const auto interaction : {Interaction::kNone, Interaction::kAllowed}) {
    ask(name, interaction);
    EXPECT_EQ(answer(answers.size() + 1), Answer::kNo);
  }
}

TEST_F(AuthorityTest, AYesAfterTheDeadlineIsNotHeard) {
  polkit->keep(kChecks);
  // The bus has to say who asks before polkit is asked.
  EXPECT_TRUE(
      unit::with_growing_limit(std::chrono::milliseconds(300), [this](std::chrono::milliseconds deadline) {
        ask_within(deadline);
        answers.clear();
        EXPECT_EQ(asked(name), Answer::kNo);
        polkit->flush();
        return polkit->calls(kChecks) > 0;
      }));
  polkit->answer_kept(verdict(true));
  polkit->flush();
  hear_all();
  EXPECT_EQ(answers.size(), 1U) << "each question has one answer";
}

TEST_F(AuthorityTest, NothingIsToldAfterItsEnd) {
  polkit->keep(kChecks);
  ask(name);
  ASSERT_NO_FATAL_FAILURE(await_questions(1));
  authority.reset();
  polkit->answer_kept(verdict(true));
  polkit->flush();
  hear_all();
  EXPECT_TRUE(answers.empty());
}

TEST_F(AuthorityTest, APolkitThatLeavesInTheMiddleMeansNo) {
  polkit->leave_at(kChecks);
  EXPECT_EQ(asked(name), Answer::kNo);
}

TEST_F(AuthorityTest, ManyQuestionsOfOneUserAreTooMany) {
  polkit->keep(kChecks);
  for (std::size_t i = 0; i < model::limits::kQuestionsOfUser; ++i) {
    ask(name);
    ASSERT_NO_FATAL_FAILURE(await_questions(i + 1));
  }
  EXPECT_EQ(asked(name), Answer::kBusy);
  polkit->answer_kept(verdict(true));
  EXPECT_EQ(answer(model::limits::kQuestionsOfUser + 1), Answer::kYes);
  polkit->play(kChecks, nullptr);
  EXPECT_EQ(asked(name), Answer::kYes) << "each answer frees a place";
}

TEST_F(AuthorityTest, ClientsThatNobodyKnows) {
  EXPECT_EQ(asked(":1.99999"), Answer::kNo) << "it has left";
  EXPECT_EQ(asked(""), Answer::kNo);
  EXPECT_EQ(polkit->calls(kChecks), 0U);
  EXPECT_FALSE(authority->is_root(":1.99999"));
}

TEST_F(AuthorityTest, UsersWhoNeedNoPermission) {
  polkit->play(kChecks, verdict(false));
  std::uint32_t of = 0;
  ask(name, Interaction::kNone, [&](const Caller& caller) {
    of = caller.uid;
    return true;
  });
  EXPECT_EQ(answer(1), Answer::kYes);
  EXPECT_EQ(of, last.uid);
  EXPECT_EQ(polkit->calls(kChecks), 0U);
  EXPECT_FALSE(authority->is_root(name));
  EXPECT_EQ(authority->is_root(ours->handle().getUniqueName()), ::getuid() == 0);
}

TEST_F(AuthorityTest, AfterTheBusHasGoneEachAnswerIsNo) {
  ASSERT_EQ(asked(name), Answer::kYes);
  bus->stop();
  EXPECT_TRUE(unit::wait_until([this] { return !hear(); }));
  // More than there are places in all.
  for (std::size_t i = 0; i < model::limits::kQuestions + 2; ++i) {
    ask(name);
    ASSERT_EQ(answers.size(), i + 2);
    EXPECT_EQ(answers.back(), Answer::kNo);
  }
}

}  // namespace
}  // namespace rdmacfg::daemon
