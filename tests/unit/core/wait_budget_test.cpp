// SPDX-License-Identifier: Apache-2.0
// All waits of one run have one time together: ports without carrier must not each hold a boot.
#include "core/wait_budget.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::core {
namespace {

using std::chrono::milliseconds;
using testing::Each;
using testing::SizeIs;

TEST(WaitBudget, BeginsWithWhatIsAskedForAndTheTimeOfAddressChecks) {
  struct Row {
    int asked, carrier, checks;
  };
  for (const auto& [asked, carrier, checks] : {Row{0, 0, 0}, Row{2000, 2000, 4000}, Row{9000, 9000, 9000}}) {
    const detail::WaitBudget budget{milliseconds(asked)};
    EXPECT_EQ(budget.left().carrier, milliseconds(carrier)) << asked;
    EXPECT_EQ(budget.left().checks, milliseconds(checks)) << asked;
  }
}

TEST(WaitBudget, IsSpentByEveryWait) {
  detail::WaitBudget budget{milliseconds(2000)};
  budget.spend(milliseconds(500));
  EXPECT_EQ(budget.left().carrier, milliseconds(1500));
  EXPECT_EQ(budget.left().checks, milliseconds(3500));
  budget.spend_in_vain(milliseconds(1400));
  EXPECT_EQ(budget.left().carrier, milliseconds(0)) << "what has not come by then does not come by itself";
  EXPECT_EQ(budget.left().checks, milliseconds(2100));
  budget.spend(milliseconds(9999));
  EXPECT_EQ(budget.left().checks, milliseconds(0));
}

TEST(WaitBudget, IsShortWhereWaitsForWhatCameHaveSpentIt) {
  struct Row {
    int asked, spent;
    bool in_vain, is_short;
  };
  for (const auto& row : {Row{4000, 0, false, false}, Row{4000, 1500, false, false},
                          Row{4000, 2500, false, true}, Row{4000, 4000, false, true},
                          Row{4000, 4000, true, false}, Row{0, 0, false, true}, Row{0, 0, true, true}}) {
    detail::WaitBudget budget{milliseconds(row.asked)};
    row.in_vain ? budget.spend_in_vain(milliseconds(row.spent)) : budget.spend(milliseconds(row.spent));
    EXPECT_EQ(budget.is_short(), row.is_short) << row.asked << " ms, of which " << row.spent;
  }
}

/// Two ports that no subnet manager lets join, and one that joins.
class WaitsOfARun : public testing::Test {
 protected:
  model::Report apply(const std::string& text, const Options& options = {}) {
    auto host = kernel_->host();
    return core::apply(
        config::parse_texts({{"config.toml", "version = 1\n" + text}}, "node1", kinds::grammar()), host,
        options);
  }

  static std::string entry(const char* tail, const std::string& more = {}) {
    return fmt::format("[[ipoib]]\nguid = \"00:02:c9:03:00:31:{}\"\nmtu = 1500\n{}", tail, more);
  }

  static std::unique_ptr<fakes::FakeKernel> fresh() {
    return fakes::FakeKernel::parse(R"({"devices": [
      {"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
        {"guid": "00:02:c9:03:00:31:78:f2", "sm": false, "interface": {"name": "ib0", "up": true}},
        {"guid": "00:02:c9:03:00:31:78:f3", "sm": false, "interface": {"name": "ib1", "up": true}}]},
      {"name": "qib0", "pci": "0000:20:00.0", "ports": [
        {"guid": "00:02:c9:03:00:31:99:01", "interface": {"name": "other", "up": true}}]}]})");
  }

  std::unique_ptr<fakes::FakeKernel> kernel_ = fresh();
};

TEST_F(WaitsOfARun, HaveOneTimeForAllKinds) {
  const auto address = [](int number) { return fmt::format("2001:db8::{}", number); };
  std::string text;
  int number = 0;
  for (const auto* tail : {"78:f2", "78:f3", "99:01"}) {
    ++number;
    kernel_->inet.tentative.insert(address(number));
    text += entry(tail, fmt::format("ipv6 = {{ addresses = [\"{}/64\"] }}\n", address(number)));
  }
  kernel_->inet.slow_check = true;
  const auto report = apply(text);
  EXPECT_EQ(report.exit, model::Exit::kPartly);
  auto& waits = kernel_->carrier_waits;
  ASSERT_THAT(waits, SizeIs(testing::Ge(2U))) << "of interfaces, and of their addresses";
  EXPECT_EQ(waits.front(), milliseconds(4000));
  waits.erase(waits.begin());
  EXPECT_THAT(waits, Each(milliseconds(0)));
  EXPECT_THAT(kernel_->inet.check_waits, SizeIs(1));
  EXPECT_THAT(kernel_->inet.check_waits, Each(testing::Le(milliseconds(4000))));
}

// A subnet manager that was given no time is not said to refuse.
TEST_F(WaitsOfARun, SayWhetherThereWasTimeToWait) {
  struct Row {
    int wait;
    const char* said;
    const char* not_said;
  };
  constexpr const char *kRefused = "has not let the interface join", *kOver = "within the wait time";
  for (const auto& [wait, said, not_said] : {Row{4000, kRefused, kOver}, Row{0, kOver, kRefused}}) {
    kernel_ = fresh();
    Options options;
    options.carrier_deadline = milliseconds(wait);
    const auto report = apply(entry("78:f2") + entry("78:f3"), options);
    std::string all;
    for (const auto& resource : report.resources) {
      all += resource.reason + "\n";
      for (const auto& warning : resource.warnings) all += warning + "\n";
    }
    EXPECT_THAT(all, testing::HasSubstr(said));
    EXPECT_THAT(all, testing::Not(testing::HasSubstr(not_said)));
  }
}

TEST_F(WaitsOfARun, HaveOneTimeForAllAttempts) {
  kernel_->faults.lie_about("other: set mtu");
  Options options;
  options.independent = true;
  const auto report = apply(entry("78:f2") + entry("78:f3") + entry("99:01"), options);
  EXPECT_EQ(report.exit, model::Exit::kUndone);
  auto& waits = kernel_->carrier_waits;
  ASSERT_THAT(waits, SizeIs(testing::Ge(2U))) << "the plan is tried as a whole, then by parts";
  EXPECT_EQ(waits.front(), milliseconds(4000));
  waits.erase(waits.begin());
  EXPECT_THAT(waits, Each(milliseconds(0)));
}

TEST_F(WaitsOfARun, OnlyLookWhereNothingIsToBeWaitedFor) {
  Options options;
  options.carrier_deadline = milliseconds(0);
  kernel_->inet.tentative.insert("2001:db8::1");
  kernel_->inet.slow_check = true;
  (void)apply(entry("78:f2") + entry("99:01", "ipv6 = { addresses = [\"2001:db8::1/64\"] }\n"), options);
  ASSERT_THAT(kernel_->carrier_waits, SizeIs(testing::Ge(1U)));
  EXPECT_THAT(kernel_->carrier_waits, Each(milliseconds(0)));
  EXPECT_THAT(kernel_->inet.check_waits, SizeIs(1));
  EXPECT_THAT(kernel_->inet.check_waits, Each(milliseconds(0)));
}

}  // namespace
}  // namespace rdmacfg::core
