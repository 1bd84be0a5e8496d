// SPDX-License-Identifier: Apache-2.0
#include "metrics/metrics.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/limits.hpp"

namespace rdmacfg::metrics {
namespace {

using model::Status;
using ::testing::HasSubstr;
using ::testing::Not;

model::ResourceReport resource_of(const std::string& kind, const std::string& id, Status status,
                                  const std::string& reason = "") {
  model::ResourceReport out;
  out.key = {kind, id};
  out.status = status;
  out.reason = reason;
  return out;
}

/// The file, which tests/metrics/run has promtool check.
std::string expected_file(const std::string& name) {
  std::ifstream in(std::filesystem::path(TEST_DATA) / "metrics" / name);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

Facts whole() {
  model::Report report;
  report.exit = model::Exit::kDiffers;
  for (int i = 0; i < 3; ++i)
    report.resources.push_back(resource_of("ipoib", fmt::format("ib{}", i), Status::kInSync));
  report.resources.push_back(resource_of("ipoib", "ib3", Status::kDone));
  report.resources.push_back(resource_of("ipoib", "ib4", Status::kDiffers));
  for (int i = 0; i < 2; ++i)
    report.resources.push_back(
        resource_of("pkey", fmt::format("ib0.800{}", i), Status::kPending, "port mlx5_0/1 is down"));
  report.resources.push_back(
      resource_of("memlock", "root", Status::kLimited, "a \"quoted\" \\ reason\nof two lines"));
  report.resources.push_back(
      resource_of("sysctl", "net/core/rmem_max", Status::kFailed, "Permission denied"));
  report.resources.push_back(resource_of("pkey", "ib9.8009", Status::kForeign));
  Facts facts;
  facts.version = "1.0";
  count(report, facts);
  facts.generation = 7;
  facts.last = {.number = 8, .when = "2026-11-21T14:03:22Z", .rolled_back = true};
  facts.unconfirmed = "2026-11-21T14:08:22Z";
  facts.degraded = true;
  facts.daemon = Daemon{.state = "degraded",
                        .repairs = {{"ipoib", 12}, {"sysctl", 1}},
                        .contended = {{"sysctl", 1}},
                        .refused = true,
                        .last_apply_failed = true};
  return facts;
}

TEST(Metrics, AreThoseOfTheExample) { EXPECT_EQ(text_of(whole()), expected_file("whole.prom")); }

TEST(Metrics, AreLabelsOfANodeInShort) {
  auto facts = whole();
  EXPECT_EQ(features_of(facts),
            "rdma-configd.version=1.0\nrdma-configd.in-sync=false\nrdma-configd.waiting=true\n"
            "rdma-configd.expectations-met=true\nrdma-configd.daemon=true\nrdma-configd.generation=7\n"
            "rdma-configd.unconfirmed=true\n");
  facts.known = facts.ledger_known = false;
  facts.daemon.reset();
  EXPECT_EQ(features_of(facts),
            "rdma-configd.version=1.0\nrdma-configd.in-sync=unknown\nrdma-configd.waiting=unknown\n"
            "rdma-configd.expectations-met=unknown\nrdma-configd.daemon=false\n");
}

TEST(Metrics, OfAHostThatIsAsItShouldBe) {
  model::Report report;
  report.resources = {resource_of("ipoib", "ib0", Status::kInSync),
                      resource_of("ipoib", "ib1", Status::kDone)};
  Facts facts;
  facts.version = "1.0";
  count(report, facts);
  facts.generation = 7;
  facts.last = {.number = 7, .when = "2026-11-21T14:03:22Z", .rolled_back = false};
  facts.daemon = Daemon{.state = "idle", .repairs = {}, .contended = {}, .refused = false};
  EXPECT_EQ(text_of(facts), expected_file("in-sync.prom"));
}

TEST(Metrics, OfAHostThatCannotBeComparedHaveNoResources) {
  model::Report report;
  report.exit = model::Exit::kError;
  Facts facts;
  count(report, facts);
  const auto text = text_of(facts);
  EXPECT_THAT(text, HasSubstr("\nrdma_configd_compared 0\n"));
  EXPECT_THAT(text, HasSubstr("\nrdma_configd_up 0\n"));
  EXPECT_THAT(text, HasSubstr("\nrdma_configd_generation 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("rdma_configd_resources")));
  EXPECT_THAT(text, Not(HasSubstr("last_apply")));
}

TEST(Metrics, OfALedgerThatCannotBeReadSayNothingOfIt) {
  Facts facts;
  facts.ledger_known = false;
  const auto text = text_of(facts);
  EXPECT_THAT(text, Not(HasSubstr("rdma_configd_generation")));
  EXPECT_THAT(text, Not(HasSubstr("rdma_configd_unconfirmed")));
  EXPECT_THAT(text, HasSubstr("\nrdma_configd_up 0\n"));
}

/// The ledger has no trace of an apply that failed and was undone.
TEST(Metrics, SayWhetherTheLastApplyFailedWhereTheDaemonRanOne) {
  auto facts = whole();
  facts.daemon->last_apply_failed = false;
  EXPECT_THAT(text_of(facts), HasSubstr("\nrdma_configd_last_apply_failed 0\n"));
  facts.daemon->last_apply_failed = true;
  EXPECT_THAT(text_of(facts), HasSubstr("\nrdma_configd_last_apply_failed 1\n"));
  facts.daemon->last_apply_failed.reset();
  EXPECT_THAT(text_of(facts), Not(HasSubstr("last_apply_failed")));
  facts.daemon.reset();
  EXPECT_THAT(text_of(facts), Not(HasSubstr("last_apply_failed")));
}

/// Prometheus counts the increase from the first sample of a series on.
TEST(Metrics, HaveCountersOfEachKindBeforeItsFirstRepair) {
  auto facts = whole();
  facts.daemon->repairs.clear();
  EXPECT_THAT(text_of(facts), testing::AllOf(HasSubstr("\nrdma_configd_repairs_total{kind=\"ipoib\"} 0\n"),
                                             HasSubstr("\nrdma_configd_repairs_total{kind=\"sysctl\"} 0\n")));
  facts.daemon->repairs = {{"service", 2}};  // that the document had before
  EXPECT_THAT(text_of(facts),
              testing::AllOf(HasSubstr("\nrdma_configd_repairs_total{kind=\"ipoib\"} 0\n"),
                             HasSubstr("\nrdma_configd_repairs_total{kind=\"service\"} 2\n")));
  facts.resources.clear();
  facts.daemon->repairs.clear();
  EXPECT_THAT(text_of(facts), HasSubstr("\nrdma_configd_repairs_total{kind=\"\"} 0\n"));
}

/// Two samples of the same labels would make the whole file invalid.
TEST(Metrics, HaveEachSeriesOnce) {
  model::Report report;
  for (std::size_t i = 0; i <= model::limits::kMetricReasons; ++i)
    report.resources.push_back(resource_of("pkey", std::to_string(i), Status::kPending,
                                           i == 0 ? "other" : fmt::format("reason {:03}", i)));
  report.resources.push_back(resource_of("pkey", "again", Status::kPending, "other"));
  Facts facts;
  count(report, facts);
  EXPECT_THAT(text_of(facts), HasSubstr("kind=\"pkey\",status=\"pending\",reason=\"other\"} 3\n"));
}

/// The reasons beyond the limit are counted together.
TEST(Metrics, HaveABoundedNumberOfReasons) {
  const auto with = [](std::size_t reasons) {
    model::Report report;
    for (std::size_t i = 0; i < reasons; ++i)
      report.resources.push_back(
          resource_of("pkey", std::to_string(i), Status::kPending, fmt::format("reason {:03}", i)));
    report.resources.push_back(resource_of("pkey", "again", Status::kPending, "reason 000"));
    Facts facts;
    count(report, facts);
    return text_of(facts);
  };
  const auto at = with(model::limits::kMetricReasons);
  EXPECT_THAT(at, Not(HasSubstr("reason=\"other\"")));
  EXPECT_THAT(at, HasSubstr("reason=\"reason 000\"} 2\n"));
  const auto beyond = with(model::limits::kMetricReasons + 3);
  EXPECT_THAT(beyond, HasSubstr("kind=\"pkey\",status=\"pending\",reason=\"other\"} 3\n"));
  EXPECT_THAT(beyond, HasSubstr("reason=\"reason 000\"} 2\n"));
}

/// Everybody may read the file, and reasons quote the document.
TEST(Metrics, HaveNoReasonsOfAPrivateDocument) {
  model::Report report;
  for (const auto* reason : {"wanted 4092", "wanted 2044"})
    report.resources.push_back(resource_of("pkey", reason, Status::kLimited, reason));
  Facts facts;
  count(report, facts, Reasons::kHidden);
  const auto text = text_of(facts);
  EXPECT_THAT(text, Not(HasSubstr("wanted")));
  EXPECT_THAT(text,
              HasSubstr("status=\"limited\",reason=\"hidden, as only root may read the document\"} 2\n"));
}

/// Else each measurement would make a new series.
TEST(Metrics, HaveNoMeasuredNumbersInReasons) {
  const auto with = [](const char* reason) {
    model::Report report;
    report.resources.push_back(resource_of("expect", "fabric", Status::kUnmet, reason));
    Facts facts;
    count(report, facts);
    return text_of(facts);
  };
  const auto text = with("mlx5_0/1: symbol_error grew by 17 in 60.5 s, expected at most 3");
  EXPECT_EQ(text, with("mlx5_0/1: symbol_error grew by 1899 in 59 s, expected at most 3"));
  EXPECT_THAT(text, HasSubstr("reason=\"mlx5_0/1: symbol_error grew by N in N s, expected at most N\""));
}

TEST(Metrics, OfAKilledDaemonAreAsThoseOfOneThatHasEnded) {
  Facts facts;
  const auto ended = text_of(facts);
  facts.daemon.emplace();
  EXPECT_EQ(after_end(text_of(facts)), ended);
  for (const std::string& text : {ended, std::string(), std::string("rdma_configd_up 10\n")})
    EXPECT_FALSE(after_end(text)) << text;
}

TEST(Metrics, CutLongReasonsBetweenCharacters) {
  const auto reason_of = [](const std::string& reason) {
    model::Report report;
    report.resources.push_back(resource_of("pkey", "1", Status::kPending, reason));
    Facts facts;
    count(report, facts);
    const auto text = text_of(facts);
    const auto from = text.find("reason=\"") + 8;
    return text.substr(from, text.find("\"} 1\n", from) - from);
  };
  const std::string longest(model::limits::kMetricText, 'a');
  EXPECT_EQ(reason_of(longest), longest);
  EXPECT_EQ(reason_of(longest + "b"), longest);
  const auto umlauts = longest.substr(1) + "\u00fc";
  EXPECT_EQ(reason_of(umlauts), longest.substr(1));
  EXPECT_EQ(reason_of("a\nb\x1b[31m"), "a\uFFFDb\uFFFD[31m");
}

}  // namespace
}  // namespace rdmacfg::metrics
