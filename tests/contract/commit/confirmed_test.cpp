// SPDX-License-Identifier: Apache-2.0
// Every scenario once more with an apply that nobody confirms: the former state comes back, whenever and
// however the time runs out.
#include <random>

#include "contract/commit_host.hpp"

namespace rdmacfg::contract {
namespace {

class Confirmed : public Contract {};

TEST_P(Confirmed, WithoutAWordTheStateBeforeComesBack) {
  Host host(GetParam());
  const auto before = host.dump();
  const auto report = host.commit(GetParam().documents.back(), kWithin);
  ASSERT_TRUE(applied(report)) << text_of(report);
  EXPECT_TRUE(host.kernel().timers.armed.contains(core::kRollbackTimer));
  EXPECT_TRUE(host.expire().notes.empty()) << "it is not over yet";
  host.pass(kWithin);
  const auto back = host.expire();
  EXPECT_TRUE(applied(back)) << text_of(back);
  EXPECT_EQ(difference(host.dump(), before), "");
  EXPECT_FALSE(host.ledger().unconfirmed);
  EXPECT_FALSE(host.kernel().timers.armed.contains(core::kRollbackTimer));
  EXPECT_EQ(host.expire().exit, Exit::kOk) << "a second time is nothing";
}

TEST_P(Confirmed, ARollbackNeedNotWait) {
  Host host(GetParam());
  const auto before = host.dump();
  ASSERT_TRUE(applied(host.commit(GetParam().documents.back(), kWithin)));
  const auto back = host.roll_back();
  EXPECT_TRUE(applied(back)) << text_of(back);
  EXPECT_EQ(difference(host.dump(), before), "");
}

TEST_P(Confirmed, ItStaysOnceConfirmed) {
  undisturbed();
  Host host(GetParam());
  ASSERT_TRUE(applied(host.commit(GetParam().documents.back(), kWithin)));
  const auto confirmed = host.confirm();
  EXPECT_TRUE(applied(confirmed)) << text_of(confirmed);
  host.pass(2 * kWithin);
  EXPECT_EQ(host.expire().notes.size(), 0U);
  EXPECT_EQ(difference(host.dump(), goal_), "");
  EXPECT_FALSE(host.ledger().unconfirmed);
}

/// A step that cannot be undone at once is not begun, and reported as waiting.
TEST_P(Confirmed, TheInitramfsWaitsForIt) {
  Host host(GetParam());
  const auto report = host.commit(GetParam().documents.back(), kWithin);
  for (const auto& resource : report.resources) {
    if (resource.key.kind != "initramfs") continue;
    EXPECT_NE(resource.status, model::Status::kDone);
    EXPECT_NE(resource.status, model::Status::kDiffers);
    if (resource.status == model::Status::kPending) {
      EXPECT_NE(resource.reason.find("confirm"), std::string::npos) << resource.reason;
    }
  }
}

TEST_P(Confirmed, AKillAnywhereLeavesNothingUnconfirmed) {
  // A run that was killed before it began does not count as an apply; one that was killed later ends with its
  // time.
  std::size_t calls = 0;
  {
    Host host(GetParam());
    ASSERT_TRUE(applied(host.commit(GetParam().documents.back(), kWithin)));
    calls = host.kernel().faults.calls();
  }
  for (std::size_t n = 1; n <= calls; ++n) {
    SCOPED_TRACE(fmt::format("killed at call {} of {}", n, calls));
    Host host(GetParam());
    const auto before = host.dump();
    host.kernel().faults.kill_at(n);
    try {
      host.commit(GetParam().documents.back(), kWithin);
    } catch (const fakes::Killed&) {
    }
    host.kernel().faults.clear();
    host.pass(kWithin);
    const auto back = host.expire();
    EXPECT_TRUE(applied(back)) << text_of(back);
    host.hold();  // as the daemon does at its start: finishes or undoes what no generation stands for
    if (!GetParam().edited) {
      EXPECT_EQ(difference(host.dump(), before), "");
    }
    EXPECT_FALSE(host.ledger().unconfirmed);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Confirmed, testing::ValuesIn(scenarios()),
                         [](const auto& scenario) { return scenario.param.name; });

TEST(Generations, AreCountedOnceForOneDocument) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  host.kernel().faults.clear();
  ASSERT_TRUE(applied(host.commit(kFirst)));
  EXPECT_EQ(host.kernel().faults.calls(), 0U) << "a second apply writes nothing";
  ASSERT_TRUE(applied(host.commit(kSecond)));
  EXPECT_EQ(host.ledger().active, 2U);
  EXPECT_EQ(host.ledger().generations.size(), 2U);
}

TEST(Generations, RollbackGoesToTheOneBeforeAndToANumber) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  const auto first = host.dump();
  EXPECT_EQ(host.roll_back().exit, Exit::kError) << "there is none before";
  ASSERT_TRUE(applied(host.commit(kSecond)));
  const auto second = host.dump();
  ASSERT_TRUE(applied(host.roll_back()));
  EXPECT_EQ(difference(host.dump(), first), "");
  EXPECT_EQ(host.ledger().active, 1U);
  ASSERT_TRUE(applied(host.roll_back(2)));
  EXPECT_EQ(difference(host.dump(), second), "");
  EXPECT_EQ(host.roll_back(2).exit, Exit::kError) << "it is active";
  EXPECT_EQ(host.ledger().find(2)->fate, "");
  EXPECT_TRUE(host.commit_by_itself(kSecond).notes.empty()) << "a boot has nothing against it";
  ASSERT_TRUE(applied(host.roll_back())) << "the one before is still one to go back to";
  EXPECT_EQ(difference(host.dump(), first), "");
  EXPECT_EQ(host.ledger().active, 1U);
  ASSERT_TRUE(applied(host.roll_back(2)));
  EXPECT_EQ(difference(host.dump(), second), "");
  ASSERT_TRUE(applied(host.commit_by_itself(kFirst)));
  EXPECT_EQ(difference(host.dump(), second), "") << "a file that was left as it was does not undo that";
  EXPECT_EQ(host.roll_back(77).exit, Exit::kError) << "there is none";
}

TEST(Generations, WhatHasBeenTakenBackMeanwhileIsNotGoneBackFromTwice) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  ASSERT_TRUE(applied(host.commit(kSecond, kWithin)));
  const auto seen = host.ledger().active;
  host.pass(kWithin);
  ASSERT_TRUE(applied(host.expire()));
  const auto first = host.dump();
  const auto report = host.roll_back(0, seen);
  EXPECT_EQ(report.exit, Exit::kError);
  ASSERT_TRUE(report.error);
  EXPECT_NE(report.error->message.find("generation 1 is now active"), std::string::npos);
  EXPECT_EQ(difference(host.dump(), first), "");
  EXPECT_EQ(host.ledger().active, 1U);
}

TEST(Generations, WhatOthersAddMeanwhileOutlastsTheWayBack) {
  Host host(two_ports());
  const std::string port = "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n";
  ASSERT_TRUE(applied(host.commit(port + "name = \"fab0\"\n")));
  ASSERT_TRUE(applied(host.commit(port + "name = \"fab1\"\n", kWithin)));
  auto& machine = host.kernel().machine;
  machine.find("fab1")->items = {"addr4 192.0.2.7/24", "route 198.51.100.0/24 via 192.0.2.9"};
  machine.rules.emplace_back("iif fab1 lookup 77");
  ASSERT_TRUE(applied(host.roll_back()));
  ASSERT_NE(machine.find("fab0"), nullptr);
  EXPECT_EQ(machine.find("fab0")->items.size(), 2U) << host.dump();
  EXPECT_NE(host.dump().find("iif fab0 lookup 77"), std::string::npos) << host.dump();
}

TEST(Generations, ADocumentThatHasMovedIsRefusedAsBefore) {
  Host host(two_ports());
  const auto named = [](const char* name) {
    return config::parse_texts({{name, kFirst}}, "node1", kinds::grammar());
  };
  EXPECT_EQ(core::digest_of(named("/root/new.toml")),
            core::digest_of(named("/etc/rdma-configd/config.toml")));
}

TEST(Generations, ATextThatIsGoneIsWrittenAgainByAnApply) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  const auto ledger = host.kernel().files.read(core::GenerationPaths().ledger).value().value();
  std::erase_if(host.kernel().files.content,
                [](const auto& file) { return file.first.starts_with("/var/lib/rdma-configd/generations"); });
  ASSERT_TRUE(host.kernel().files.write(core::GenerationPaths().ledger, ledger));
  EXPECT_EQ(host.hold().exit, Exit::kError) << "nor is there a copy";
  ASSERT_TRUE(applied(host.commit(kFirst)));
  EXPECT_EQ(host.hold().exit, Exit::kOk);
}

TEST(Generations, WhoeverAsksIsWrittenDown) {
  Host host(two_ports());
  const auto report = host.with([&](core::Context& context) {
    return core::commit(document_of(kFirst), {.who = "\xff", .what = "apply", .host_name = "node1"}, context);
  });
  EXPECT_TRUE(applied(report));
  EXPECT_EQ(host.ledger().active, 1U);
}

TEST(Generations, WhatWasRolledBackIsNotAppliedByItself) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  const auto first = host.dump();
  ASSERT_TRUE(applied(host.commit(kSecond)));
  ASSERT_TRUE(applied(host.roll_back()));
  ASSERT_TRUE(applied(host.commit_by_itself(kSecond)));
  EXPECT_EQ(difference(host.dump(), first), "") << "at boot the active generation is held";
  ASSERT_TRUE(applied(host.commit_by_itself(std::string(kSecond) + "# changed\n")));
  EXPECT_NE(difference(host.dump(), first), "") << "it has changed";
}

TEST(Generations, AskedForByAPersonItIsAppliedAgain) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  ASSERT_TRUE(applied(host.commit(kSecond)));
  const auto second = host.dump();
  ASSERT_TRUE(applied(host.roll_back()));
  ASSERT_TRUE(applied(host.commit(kSecond)));
  EXPECT_EQ(difference(host.dump(), second), "");
  ASSERT_TRUE(applied(host.commit_by_itself(kSecond)));
  EXPECT_EQ(difference(host.dump(), second), "");
}

TEST(Generations, NothingIsAppliedWhileOneWaits) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  ASSERT_TRUE(applied(host.commit(kSecond, kWithin)));
  const auto second = host.dump();
  const auto refused = host.commit(kFirst);
  EXPECT_EQ(refused.exit, Exit::kError);
  ASSERT_TRUE(refused.error);
  EXPECT_NE(refused.error->message.find("rdma-configctl confirm"), std::string::npos);
  ASSERT_TRUE(applied(host.commit_by_itself(kFirst))) << "an event holds what waits";
  EXPECT_EQ(difference(host.dump(), second), "");
}

TEST(Generations, AConfirmationThatComesTooLateIsNone) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  const auto first = host.dump();
  ASSERT_TRUE(applied(host.commit(kSecond, kWithin)));
  host.pass(kWithin);
  const auto late = host.confirm();
  EXPECT_EQ(late.exit, Exit::kError);
  ASSERT_TRUE(late.error);
  EXPECT_EQ(late.error->code, base::Code::kTimeout);
  EXPECT_EQ(difference(host.dump(), first), "");
  EXPECT_EQ(host.confirm().exit, Exit::kError) << "there is nothing to confirm";
}

TEST(Generations, AnApplyThatOutlastsItsTimeIsTakenBackAtOnce) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  const auto first = host.dump();
  host.kernel().faults.clear();
  // The last thing before the kernel's settings: the timer is armed, the time runs.
  host.kernel().faults.before(4, [&] { host.pass(2 * kWithin); });
  const auto late = host.commit(kSecond, kWithin);
  EXPECT_EQ(late.exit, Exit::kUndone) << text_of(late);
  ASSERT_TRUE(late.error);
  EXPECT_EQ(late.error->code, base::Code::kTimeout);
  EXPECT_EQ(late.error->message,
            "the apply took longer than the 60 s allowed for its confirmation, and was rolled back");
  EXPECT_FALSE(model::has_note(late.notes, model::Note::Sort::kDeadline));
  EXPECT_EQ(difference(host.dump(), first), "");
  EXPECT_FALSE(host.ledger().unconfirmed);
  EXPECT_EQ(host.ledger().active, 1U);
  EXPECT_FALSE(host.kernel().timers.armed.contains(core::kRollbackTimer));
}

TEST(Generations, ARebootCountsAsExpiry) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  const auto first = host.dump();
  ASSERT_TRUE(applied(host.commit(kSecond, kWithin)));
  host.kernel().reboot();
  ASSERT_TRUE(applied(host.commit_by_itself(kSecond)));
  EXPECT_EQ(difference(host.dump(), first), "");
  EXPECT_EQ(host.ledger().active, 1U);
}

TEST(Generations, AThousandRandomAppliesLeftToExpireAreTakenBack) {
  std::mt19937 random(20261121);
  const auto one_of = [&](auto... values) {
    const std::array<std::string, sizeof...(values)> list{values...};
    return list[random() % list.size()];
  };
  const auto some = [&] {
    std::string text = "version = 1\n";
    int port = 0;
    for (const auto* guid : {"00:02:c9:03:00:31:78:f2", "00:02:c9:03:00:31:78:f3"}) {
      ++port;
      if (random() % 4 == 0) continue;
      text += fmt::format("[[ipoib]]\nguid = \"{}\"\n", guid);
      if (random() % 2 == 0) text += fmt::format("name = \"{}{}\"\n", one_of("hca", "mlx4_ib", "fast"), port);
      const bool connected = random() % 2 == 0;
      text += connected ? "mode = \"connected\"\n" : "mode = \"datagram\"\n";
      text += fmt::format("mtu = {}\n", connected ? one_of("65520", "4092", "2044") : one_of("2044", "1500"));
      if (random() % 3 == 0) text += "umcast = true\n";
      if (random() % 3 == 0) text += fmt::format("state = \"{}\"\n", one_of("up", "down"));
      for (const auto* pkey : {"0x8002", "0x8003", "0x8004"}) {
        if (port == 2 && std::string_view(pkey) != "0x8002") continue;
        if (random() % 2 == 0) continue;
        text += fmt::format("[[ipoib.pkey]]\npkey = {}\n", pkey);
        if (random() % 2 == 0) text += fmt::format("mode = \"{}\"\n", one_of("connected", "datagram"));
      }
    }
    return text;
  };
  std::size_t taken_back = 0;
  for (int round = 0; round < 1000; ++round) {
    Host host(two_ports());
    const auto first = some(), second = some();
    SCOPED_TRACE(fmt::format("round {}\n{}---\n{}", round, first, second));
    ASSERT_FALSE(model::has_errors(document_of(first).diagnostics));
    if (!applied(host.commit(first))) continue;
    const auto before = host.dump();
    const auto report = host.commit(second, kWithin);
    if (!applied(report) || report.plan.empty()) continue;
    host.pass(kWithin);
    const auto back = host.expire();
    ASSERT_TRUE(applied(back)) << text_of(back);
    ASSERT_EQ(difference(host.dump(), before), "");
    ++taken_back;
  }
  EXPECT_GT(taken_back, 800U) << "too few of the random documents could be applied";
}

}  // namespace
}  // namespace rdmacfg::contract
