// SPDX-License-Identifier: Apache-2.0
// The output of status, history, get and set in the less usual states of a host.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "config/document.hpp"
#include "ctl/service.hpp"
#include "store/generations.hpp"
#include "unit/ctl/console.hpp"
#include "withdraw/withdraw.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A daemon that tells, and changes nothing.
class TellingService : public Service {
 public:
  explicit TellingService(DaemonStatus told) : told_(std::move(told)) {}
  base::Result<core::Ledger> history() override {
    core::Ledger out;
    out.active = 3;
    out.generations = {{.number = 3,
                        .digest = "",
                        .when = "2026-11-21T14:03:22Z",
                        .who = "alice",
                        .what = "apply",
                        .fate = ""}};
    return out;
  }
  base::Result<model::Report> apply(const Apply& /*wanted*/, const Call& /*call*/) override {
    return model::Report();
  }
  base::Result<model::Report> confirm(const Call& /*call*/) override { return model::Report(); }
  base::Result<model::Report> roll_back(std::uint64_t /*generation*/, std::uint64_t /*from*/,
                                        const Call& /*call*/) override {
    return model::Report();
  }
  base::Result<DaemonStatus> status() override { return told_; }

 private:
  DaemonStatus told_;
};

class StatesOfAHost : public testing::Test {
 protected:
  StatesOfAHost() {
    told.version = "1";
    told.state = "idle";
    console.environment.service = [this] { return std::make_unique<TellingService>(told); };
    own_document(kRename);
  }
  /// The system's own.
  void own_document(const std::string& text) {
    console.environment.document = std::vector<config::Text>{{"/etc/rdma-configd/config.toml", text}};
  }

  Console console;
  DaemonStatus told;
};

TEST_F(StatesOfAHost, ADocumentIsAppliedOrNot) {
  EXPECT_EQ(console.run({"status"}), 2);
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("config.toml, not applied yet"),
                                       HasSubstr("none: nothing has been applied yet")));
  ASSERT_EQ(console.run({"apply", "--yes", "--local"}), 0) << console.err.str();
  EXPECT_EQ(console.run({"status"}), 0) << console.out.str();
  EXPECT_THAT(console.out.str(), HasSubstr("config.toml, applied"));
  own_document(kRename + "umcast = true\n");
  EXPECT_EQ(console.run({"status"}), 2);
  EXPECT_THAT(console.out.str(), HasSubstr("config.toml, changed since it was applied"));
}

TEST_F(StatesOfAHost, AResourceThatCannotBeConfiguredIsWrong) {
  ASSERT_EQ(console.run({"apply", "--yes", "--local"}), 0) << console.err.str();
  told.failing = "ipoib mlx4_ib0: the driver rejects it";
  EXPECT_EQ(console.run({"status"}), 2);
  EXPECT_THAT(console.out.str(),
              AllOf(HasSubstr("failing"), HasSubstr("ipoib mlx4_ib0: the driver rejects it")));
}

TEST_F(StatesOfAHost, AWithdrawnHostIsToldInPlaceOfItsDaemon) {
  console.kernel.files.content[core::kWithdrawnMark] = "rdma-configctl withdraw\n";
  (void)console.run({"status"});
  EXPECT_THAT(console.out.str(),
              AllOf(HasSubstr("withdrawn: rdma-configd does not manage this host"), Not(HasSubstr("idle"))));
}

TEST_F(StatesOfAHost, ManyPendingPortsAreCounted) {
  std::string text = "version = 1\n";
  for (int port = 10; port < 40; ++port)
    text += fmt::format("[[ipoib]]\nguid = \"00:02:c9:03:00:99:99:{}\"\nmode = \"connected\"\n", port);
  own_document(text);
  EXPECT_EQ(console.run({"status"}), 5);
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("30 pending"), HasSubstr("and "), HasSubstr(" more")));
}

TEST_F(StatesOfAHost, StatusGivesUpAfterItsTime) {
  std::chrono::seconds patience{0};
  console.environment.give_up_after = [&](std::chrono::seconds time) { patience = time; };
  (void)console.run({"status", "--timeout", "1m"});
  EXPECT_EQ(patience, std::chrono::seconds(60));
}

TEST_F(StatesOfAHost, TheDaemonTellsTheHistoryToWhoMayNotReadIt) {
  ASSERT_EQ(console.run({"apply", "--yes", "--local"}), 0) << console.err.str();
  const std::string ledger = core::GenerationPaths().ledger;
  console.kernel.files.unreadable.insert(ledger);
  console.kernel.files.unreadable.insert(core::GenerationPaths().backup);
  EXPECT_EQ(console.run({"history"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("alice"));
  console.environment.service = [] { return std::unique_ptr<Service>(); };
  EXPECT_EQ(console.run({"history"}), 1);
  EXPECT_THAT(console.err.str(),
              HasSubstr("only root may read the history while rdma-configd is not running: use sudo"));
}

TEST_F(StatesOfAHost, TheFilesOfAGenerationAreShownToProgramsToo) {
  ASSERT_EQ(console.run({"apply", "--yes", "--local"}), 0) << console.err.str();
  ASSERT_EQ(console.run({"history", "show", "1", "--json"}), 0) << console.err.str();
  const auto json = nlohmann::json::parse(console.out.str());
  EXPECT_EQ(json["generation"], 1);
  ASSERT_EQ(json["files"].size(), 1U);
  EXPECT_EQ(json["files"][0]["text"], kRename);
}

TEST(ValuesOfADocument, AreSetOnceAndToldToPrograms) {
  Console console;
  console.document(kRename);
  EXPECT_EQ(console.run({"set", "ipoib[mlx4_ib0].mtu", "65520"}), 0) << console.err.str();
  EXPECT_THAT(console.err.str(), HasSubstr("the document already has this value; nothing was changed"));
  ASSERT_EQ(console.run({"set", "--json", "ipoib[mlx4_ib0].mtu", "4092"}), 0) << console.err.str();
  EXPECT_EQ(nlohmann::json::parse(console.out.str())["command"], "set");
  ASSERT_EQ(console.run({"get", "--json", "ipoib"}), 0) << console.err.str();
  const auto json = nlohmann::json::parse(console.out.str());
  ASSERT_TRUE(json["value"].is_array());
  EXPECT_EQ(json["value"][0]["mtu"], 4092);
  ASSERT_EQ(console.run({"get", "ipoib"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("mlx4_ib0"));
}

}  // namespace
}  // namespace rdmacfg::ctl
