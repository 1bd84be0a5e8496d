// SPDX-License-Identifier: Apache-2.0
// One commit point (ADR 0024): whatever write of a run fails, or wherever it is killed, the exit status says
// what the host is, and the ledger and the history say the same.
#include "contract/commit_host.hpp"
#include "model/limits.hpp"
#include "store/damage.hpp"

namespace rdmacfg::contract {
namespace {

struct Seen {
  std::string host;
  std::uint64_t active = 0;
  std::size_t generations = 0;
  bool waits = false;
  bool operator==(const Seen&) const = default;
};

Seen seen(Host& host) {
  auto ports = host.kernel().host();
  const auto ledger = core::read_ledger(ports.files, core::GenerationPaths()).value();
  return {host.dump(), ledger.active, ledger.generations.size(), ledger.unconfirmed.has_value()};
}

/// The daemon goes on, and time passes: everything that is found then must be one or the other.
Seen in_the_end(Host& host) {
  host.kernel().faults.clear();
  auto report = host.hold();
  EXPECT_TRUE(applied(report)) << text_of(report);
  host.pass(2 * kWithin);
  report = host.expire();
  EXPECT_TRUE(applied(report)) << text_of(report);
  report = host.hold();
  EXPECT_TRUE(applied(report)) << text_of(report);
  return seen(host);
}

struct Operation {
  std::string name;
  std::vector<std::function<void(Host&)>> before;
  std::function<Report(Host&)> run;
};

std::vector<Operation> operations() {
  const auto first = [](Host& host) { EXPECT_TRUE(applied(host.commit(kFirst))); };
  const auto second = [](Host& host) { EXPECT_TRUE(applied(host.commit(kSecond))); };
  const auto waiting = [](Host& host) { EXPECT_TRUE(applied(host.commit(kSecond, kWithin))); };
  return {
      {"AFirstApply", {}, [](Host& host) { return host.commit(kFirst); }},
      {"ASecondApply", {first}, [](Host& host) { return host.commit(kSecond); }},
      {"AnApplyThatChangesNothing",
       {first},
       [](Host& host) { return host.commit(std::string(kFirst) + "# as before\n"); }},
      {"TheSameOnceMore",
       {first, [](Host& host) { host.kernel().set_mtu("ib0", 2044); }},
       [](Host& host) { return host.commit(kFirst); }},
      {"ByItself", {first}, [](Host& host) { return host.commit_by_itself(kSecond); }},
      {"Unconfirmed", {first}, [](Host& host) { return host.commit(kSecond, kWithin); }},
      {"UnconfirmedFirst", {}, [](Host& host) { return host.commit(kFirst, kWithin); }},
      {"UnconfirmedWithoutAChange",
       {first},
       [](Host& host) { return host.commit(std::string(kFirst) + "# as before\n", kWithin); }},
      {"Rollback", {first, second}, [](Host& host) { return host.roll_back(); }},
      {"RollbackThatChangesNothing",
       {first, [](Host& host) { EXPECT_TRUE(applied(host.commit(std::string(kFirst) + "# as before\n"))); }},
       [](Host& host) { return host.roll_back(1); }},
      {"Confirm", {first, waiting}, [](Host& host) { return host.confirm(); }},
      {"RollbackOfWhatWaits", {first, waiting}, [](Host& host) { return host.roll_back(); }},
      {"Expiry",
       {first, waiting, [](Host& host) { host.pass(2 * kWithin); }},
       [](Host& host) { return host.expire(); }},
  };
}

class CommitPoint : public testing::TestWithParam<Operation> {
 protected:
  static std::unique_ptr<Host> ready() {
    auto host = std::make_unique<Host>(two_ports());
    host->kernel().set_up("ib0");
    for (const auto& step : GetParam().before) step(*host);
    host->kernel().faults.clear();
    return host;
  }

  void SetUp() override {
    auto host = ready();
    old_ = seen(*host);
    const auto report = GetParam().run(*host);
    ASSERT_TRUE(applied(report)) << text_of(report);
    calls_ = host->kernel().faults.calls();
    log_ = host->kernel().faults.log();
    new_ = seen(*host);
    auto done = ready();
    GetParam().run(*done);
    new_end_ = in_the_end(*done);
    auto untouched = ready();
    old_end_ = in_the_end(*untouched);
  }

  /// The exit status is true, and stays true when the daemon goes on.
  void judge(Host& host, const Report& report, std::size_t call) {
    SCOPED_TRACE(fmt::format("call {} of {}: {}\n{}", call, calls_, log_.at(call - 1), text_of(report)));
    host.kernel().faults.clear();
    const auto now = seen(host);
    if (report.exit == Exit::kOk || report.exit == Exit::kPartly) {
      EXPECT_EQ(now.active, new_.active) << "the history";
      EXPECT_EQ(now.waits, new_.waits);
      EXPECT_EQ(difference(now.host, new_.host), "");
      const auto then = in_the_end(host);
      EXPECT_EQ(then.active, new_end_.active);
      EXPECT_EQ(difference(then.host, new_end_.host), "") << "the daemon takes it back";
    } else if (report.exit == Exit::kError || report.exit == Exit::kUndone) {
      EXPECT_TRUE(report.error) << "and says why";
      EXPECT_EQ(now.active, old_.active) << "the history";
      EXPECT_EQ(now.generations, old_.generations) << "the history";
      EXPECT_EQ(now.waits, old_.waits);
      EXPECT_EQ(difference(now.host, old_.host), "");
      const auto then = in_the_end(host);
      EXPECT_EQ(then.active, old_end_.active);
      EXPECT_EQ(difference(then.host, old_end_.host), "") << "the daemon goes another way";
    } else {
      EXPECT_FALSE(report.left_over.empty()) << "what is left is named";
      is_either(in_the_end(host));
    }
  }

  void is_either(const Seen& then) {
    EXPECT_FALSE(then.waits);
    if (then.active == new_end_.active && old_end_.active != new_end_.active) {
      EXPECT_EQ(difference(then.host, new_end_.host), "");
    } else if (then.active == old_end_.active && old_end_.active != new_end_.active) {
      EXPECT_EQ(difference(then.host, old_end_.host), "");
    } else {
      EXPECT_TRUE(then.host == new_end_.host || then.host == old_end_.host)
          << difference(then.host, old_end_.host) << "\nor\n"
          << difference(then.host, new_end_.host);
    }
  }

  Seen old_, new_, old_end_, new_end_;
  std::size_t calls_ = 0;
  std::vector<std::string> log_;
};

TEST_P(CommitPoint, AnyCallFails) {
  for (const int err : {ENOSPC, EROFS, EIO}) {
    for (std::size_t n = 1; n <= calls_; ++n) {
      SCOPED_TRACE(fmt::format("errno {}", err));
      auto host = ready();
      host->kernel().faults.fail_at(n, err);
      judge(*host, GetParam().run(*host), n);
    }
  }
}

TEST_P(CommitPoint, AnyCallFailsAfterItsEffect) {
  for (std::size_t n = 1; n <= calls_; ++n) {
    auto host = ready();
    host->kernel().faults.fail_after_effect_at(n, EIO);
    judge(*host, GetParam().run(*host), n);
  }
}

TEST_P(CommitPoint, AFullDiskFromAnyRecordOn) {
  for (const auto* record : {"generations/", "generations.json: write", "state.json: write",
                             "journal.json: write", "unconfirmed.json: write"}) {
    SCOPED_TRACE(record);
    auto host = ready();
    host->kernel().faults.refuse(record, ENOSPC);
    const auto report = GetParam().run(*host);
    judge(*host, report, 1);
  }
}

TEST_P(CommitPoint, AReadOnlyVar) {
  auto host = ready();
  host->kernel().faults.refuse("/var/lib/rdma-configd/", EROFS);
  judge(*host, GetParam().run(*host), 1);
}

TEST_P(CommitPoint, KilledAnywhere) {
  for (std::size_t n = 1; n <= calls_; ++n) {
    SCOPED_TRACE(fmt::format("killed at call {} of {}: {}", n, calls_, log_.at(n - 1)));
    auto host = ready();
    host->kernel().faults.kill_at(n);
    EXPECT_THROW(GetParam().run(*host), fakes::Killed);
    is_either(in_the_end(*host));
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, CommitPoint, testing::ValuesIn(operations()),
                         [](const auto& operation) { return operation.param.name; });

TEST(Committed, ATextThatIsTooLongIsRefusedBeforeAnythingIsChanged) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  const auto before = seen(host);
  // Each is short enough to be read, and all of them are too long for one file. The limit of documents is
  // lower than that of files, so that only without it they get as far.
  std::vector<config::Text> texts{{"config.toml", kSecond}};
  for (int number = 0; number < 6; ++number)
    texts.push_back({fmt::format("{}.toml", number), "#" + std::string(900'000, 'x') + "\n"});
  config::Limits boundless;
  boundless.document_bytes = 100'000'000;
  const auto report = host.with([&](core::Context& context) {
    return core::commit(config::parse_texts(texts, "node1", kinds::grammar(), boundless),
                        {.who = "root", .what = "apply", .host_name = "node1"}, context);
  });
  EXPECT_EQ(report.exit, Exit::kError);
  ASSERT_TRUE(report.error);
  EXPECT_NE(report.error->message.find("generation 2"), std::string::npos) << report.error->message;
  EXPECT_EQ(seen(host), before);
}

TEST(Committed, AFolderInThePlaceOfATextIsPassedOver) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  host.kernel().files.links.insert("/var/lib/rdma-configd/generations/2.json");
  const auto report = host.commit(kSecond);
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(seen(host).active, 3U);
  const auto then = host.dump();
  EXPECT_TRUE(applied(host.hold()));
  EXPECT_EQ(difference(host.dump(), then), "");
}

/// It may have been killed before the folder was synced, and then nothing is written by the next one.
TEST(Committed, ATextOfAKilledApplyIsOnDiskBeforeTheNextOneIsDone) {
  const core::GenerationPaths paths;
  bool killed = true, found = false;
  for (std::size_t n = 1; killed && !found; ++n) {
    Host host(two_ports());
    auto& kernel = host.kernel();
    kernel.faults.kill_at(n);
    killed = false;
    try {
      host.commit(kFirst);
    } catch (const fakes::Killed&) {
      killed = true;
    }
    kernel.faults.clear();
    found = killed && kernel.files.content.contains(paths.texts + "/1.json");
    if (!found) continue;
    kernel.files.synced.clear();
    const auto report = host.commit(kFirst);
    EXPECT_TRUE(applied(report)) << text_of(report);
    EXPECT_TRUE(kernel.files.synced.contains(paths.texts));
  }
  EXPECT_TRUE(found);
}

TEST(Committed, ATextOfAForgottenGenerationThatStaysIsNamed) {
  Host host(two_ports());
  for (std::size_t number = 1; number <= model::limits::kGenerations; ++number)
    ASSERT_TRUE(applied(host.commit(kFirst + fmt::format("# {}\n", number))));
  host.kernel().faults.refuse("/generations/1.json: remove", EROFS);
  const auto report = host.commit(kSecond);
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_NE(text_of(report).find("note: the text of the discarded generation 1 could not be removed: "
                                 "/var/lib/rdma-configd/generations/1.json: remove: Read-only file system"),
            std::string::npos)
      << text_of(report);
  EXPECT_EQ(host.ledger().generations.front().number, 2U);
}

TEST(Committed, ASecondApplyWritesNothing) {
  Host host(two_ports());
  ASSERT_TRUE(applied(host.commit(kFirst)));
  ASSERT_TRUE(applied(host.commit(kSecond)));
  host.kernel().faults.clear();
  ASSERT_TRUE(applied(host.commit(kSecond)));
  ASSERT_TRUE(applied(host.hold()));
  EXPECT_EQ(host.kernel().faults.calls(), 0U);
}

}  // namespace
}  // namespace rdmacfg::contract
