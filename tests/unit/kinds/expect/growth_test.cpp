// SPDX-License-Identifier: Apache-2.0
// Growth of counters: the daemon's looks record, everybody else's only read.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "catalog/all.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "formats/counter_record.hpp"
#include "kinds/abilities.hpp"

namespace rdmacfg::kinds {
namespace {

using model::Status;
using ::testing::HasSubstr;

constexpr const char* kGrowthHost = R"({
  "devices": [{ "name": "mlx5_0", "driver": "mlx5_core", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2" }] }]
})";
constexpr const char* kGrowthDocument =
    "version = 1\n[[expect]]\nname = \"x\"\n[[expect.counter]]\nname = \"symbol_error\"\ngrowth = 10\nwindow "
    "= ";
constexpr const char* kCounterFile = "/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error";

class Growing : public testing::Test {
 protected:
  void at(std::int64_t seconds, std::int64_t value) {
    kernel_->files.content["/proc/uptime"] = fmt::format("{}.17 1.00\n", seconds);
    kernel_->files.content[kCounterFile] = fmt::format("{}\n", value);
  }
  model::Report look() {
    const auto document =
        config::parse_texts({{"config.toml", kGrowthDocument + window_ + "\n"}}, "node1", grammar());
    auto host = kernel_->host();
    return core::diff(document, host);
  }
  /// As the daemon does after a look of its own.
  void record() {
    const auto report = look();
    auto host = kernel_->host();
    const auto* keeper = ability<KeepsReadings>(find("expect"));
    ASSERT_NE(keeper, nullptr);
    ASSERT_TRUE(keeper->keep_readings(report.resources, host));
  }
  model::ResourceReport judged() { return look().resources.at(0); }

  std::string window_ = "\"1h\"";
  std::unique_ptr<fakes::FakeKernel> kernel_ = fakes::FakeKernel::parse(kGrowthHost);
};

TEST_F(Growing, IsPendingWithoutAReadingAndADiffWritesNone) {
  at(1000, 5);
  const auto before = kernel_->files.content;
  EXPECT_EQ(judged().status, Status::kPending);
  EXPECT_EQ(judged().reason,
            "growth of symbol_error in 1 h is not known yet: the daemon has no earlier reading");
  EXPECT_EQ(kernel_->files.content, before);
}

TEST_F(Growing, IsKnownAfterTheWindow) {
  at(1000, 5);
  record();
  at(2000, 9);
  EXPECT_EQ(judged().status, Status::kPending);
  EXPECT_THAT(judged().reason, HasSubstr("the daemon has watched it only for 16 min"));
  at(4600, 15);
  EXPECT_EQ(judged().status, Status::kInSync);
  at(4600, 16);
  EXPECT_EQ(judged().status, Status::kUnmet);
  EXPECT_EQ(judged().reason, "symbol_error grew by 11 in 1 h, expected at most 10 in 1 h");
}

TEST_F(Growing, TooMuchIsUnmetAtOnce) {
  at(1000, 5);
  record();
  at(1100, 40);
  EXPECT_EQ(judged().status, Status::kUnmet);
  EXPECT_EQ(judged().reason, "symbol_error grew by 35 in 100 s, expected at most 10 in 1 h");
}

TEST_F(Growing, AWindowIsSpokenOfAsItIs) {
  for (const auto& [window, text] : std::vector<std::pair<std::string, std::string>>{
           {"\"90m\"", "90 min"}, {"\"1d\"", "1 d"}, {"\"36h\"", "36 h"}, {"90", "90 s"}}) {
    window_ = window;
    at(1000, 5);
    EXPECT_THAT(judged().reason, HasSubstr("growth of symbol_error in " + text + " is not known yet"));
  }
  window_ = "\"90m\"";
  record();
  at(1000 + 5400, 16);
  EXPECT_EQ(judged().reason, "symbol_error grew by 11 in 90 min, expected at most 10 in 90 min");
}

/// The architecture has counters of errors stop at their largest value, where they seem not to grow.
TEST_F(Growing, IsNotKnownOfACounterThatHasStopped) {
  at(1000, 65534);
  record();
  at(4600, 65534);
  EXPECT_EQ(judged().status, Status::kInSync);
  at(4600, 65535);
  EXPECT_EQ(judged().status, Status::kUnmet);
  EXPECT_EQ(judged().reason,
            "symbol_error stopped counting at 65535 (on InfiniBand, rdma-configctl fabric --clear-counters "
            "NODE/PORT sets it to 0): its "
            "growth is not known");
}

TEST_F(Growing, IsARateWhereTheDaemonSlept) {
  at(1000, 0);
  record();
  at(1000 + 10 * 3600, 100);
  EXPECT_EQ(judged().status, Status::kInSync) << "10 an hour";
  at(1000 + 10 * 3600, 101);
  EXPECT_EQ(judged().status, Status::kUnmet);
}

TEST_F(Growing, BeginsAgainWithAnotherRegistrationAndAfterAReset) {
  at(1000, 50);
  record();
  at(9000, 3);
  EXPECT_EQ(judged().status, Status::kPending) << "somebody has reset the counter";
  at(9000, 51);
  EXPECT_EQ(judged().status, Status::kInSync);
  kernel_->machine.replug_device("mlx5_0");
  EXPECT_EQ(judged().status, Status::kPending) << "another object, whose counters begin at 0";
}

TEST_F(Growing, TheRecordGoesWithTheExpectation) {
  at(1000, 5);
  record();
  EXPECT_TRUE(kernel_->files.content.contains(std::string(kCounterRecord)));
  auto host = kernel_->host();
  const auto* keeper = ability<KeepsReadings>(find("expect"));
  ASSERT_TRUE(keeper->keep_readings({}, host));
  EXPECT_FALSE(kernel_->files.content.contains(std::string(kCounterRecord)));
}

TEST_F(Growing, ACounterThatCannotBeReadIsUnmet) {
  at(1000, 5);
  kernel_->files.content.erase(kCounterFile);
  EXPECT_EQ(judged().status, Status::kUnmet);
  EXPECT_THAT(judged().reason, HasSubstr("symbol_error is not known: "));
}

TEST_F(Growing, ADamagedRecordIsNone) {
  at(1000, 5);
  kernel_->files.content[std::string(kCounterRecord)] = std::string("\xff\x00 1:", 5);
  EXPECT_EQ(judged().status, Status::kPending);
  record();
  at(4600, 5);
  EXPECT_EQ(judged().status, Status::kInSync);
}

}  // namespace
}  // namespace rdmacfg::kinds
