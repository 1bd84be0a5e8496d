// SPDX-License-Identifier: Apache-2.0
// Services whose process ends right after systemd has started it.
#include <gmock/gmock.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kEndingHost = R"({
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0",
    "ports": [{ "guid": "00:02:c9:03:00:31:78:f2", "state": "INIT", "interface": { "name": "ib0" } }] }],
  "units": { "iwpmd.service": {}, "opensm.service": { "reloads": false },
             "opensm@.service": { "installable": false, "reloads": false } },
  "files": { "/etc/default/opensm": "PORTS=NONE\n" } })";
constexpr const char* kEndingHostOfRhel = R"({
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0",
    "ports": [{ "guid": "00:02:c9:03:00:31:78:f2", "state": "INIT", "interface": { "name": "ib0" } }] }],
  "units": { "opensm.service": { "reloads": false } },
  "files": { "/etc/sysconfig/opensm": "", "/etc/rdma/opensm.conf": "" } })";
constexpr const char* kEndingUnit = "opensm@0x0002c903003178f2.service";
const std::string kEndingManager = "version = 1\n[[opensm]]\nguid = '00:02:c9:03:00:31:78:f2'\n";
const std::string kEndingService = "version = 1\n[[service]]\nname = 'iwpmd'\nrunning = true\n";
const std::string kRefusedOption = "[[opensm_option]]\nkey = 'max_op_vls'\nvalue = 3\n";

class EndingUnits : public testing::Test {
 protected:
  model::Report apply(const std::string& text) {
    auto host = kernel_->host();
    return core::apply(config::parse_texts({{"config.toml", text}}, "node1", grammar()), host);
  }
  std::string dump() { return kernel_->dump({.without_files_below = "/var"}); }
  fakes::FakeUnit& unit(const std::string& name) { return kernel_->units.units.at(name); }
  /// A host with a subnet manager that others have started, and that refuses every option.
  void begin_with_one_of_others() {
    kernel_ = fakes::FakeKernel::parse(kEndingHost);
    kernel_->units.add(kEndingUnit, {.running = true, .installable = false, .reloads = false});
    unit(kEndingUnit).ends = [this] { return kernel_->files.content.contains("/etc/opensm/opensm.conf"); };
    kernel_->faults.clear();
  }

  /// The same of RHEL, where it is restarted for every file; `prepared` is applied before it refuses one.
  void begin_with_one_of_rhel(const std::string& prepared, const std::string& path,
                              const std::string& refused) {
    kernel_ = fakes::FakeKernel::parse(kEndingHostOfRhel);
    kernel_->units.add("opensm.service", {.running = true, .reloads = false});
    ASSERT_EQ(apply(prepared).exit, model::Exit::kOk);
    unit("opensm.service").ends = [this, path, refused] {
      const auto file = kernel_->files.content.find(path);
      return file != kernel_->files.content.end() && file->second.find(refused) != std::string::npos;
    };
    kernel_->faults.clear();
  }
  /// `begin` makes a host whose subnet manager ends at the document. However the apply is killed, the next
  /// one fails as it would have, and the subnet manager runs as before.
  void expect_up_after_kills(const std::function<void()>& begin, const std::string& document) {
    begin();
    const auto before = dump();
    ASSERT_EQ(apply(document).exit, model::Exit::kUndone);
    const auto calls = kernel_->faults.calls();
    std::size_t down = 0;
    for (std::size_t n = 1; n <= calls; ++n) {
      SCOPED_TRACE(n);
      begin();
      kernel_->faults.kill_at(n);
      EXPECT_THROW(apply(document), fakes::Killed);
      kernel_->faults.clear();
      if (!unit("opensm.service").running) ++down;
      EXPECT_EQ(apply(document).exit, model::Exit::kUndone);
      EXPECT_TRUE(unit("opensm.service").running);
      EXPECT_EQ(dump(), before);
    }
    EXPECT_GT(down, 0U) << "no call of the run comes after the end of the subnet manager";
  }

  std::unique_ptr<fakes::FakeKernel> kernel_ = fakes::FakeKernel::parse(kEndingHost);
};

TEST_F(EndingUnits, AServiceThatEndsAfterItsStartIsNotDone) {
  unit("iwpmd.service").ends = [] { return true; };
  const auto report = apply(kEndingService);
  EXPECT_EQ(report.exit, model::Exit::kUndone);
  EXPECT_FALSE(unit("iwpmd.service").running);
  ASSERT_TRUE(report.error);
  EXPECT_THAT(report.error->message, HasSubstr("journalctl -u iwpmd.service"));
}

// systemd says that the start of a unit is done whose condition is not met.
TEST_F(EndingUnits, AServiceThatSystemdPassesOverIsNotDone) {
  auto& iwpmd = unit("iwpmd.service");
  iwpmd.ends = [] { return true; };
  kernel_->units.started = [&](const std::string&) { iwpmd.failed = false; };
  const auto report = apply(kEndingService);
  EXPECT_EQ(report.exit, model::Exit::kUndone);
  ASSERT_TRUE(report.error);
  EXPECT_THAT(report.error->message, HasSubstr("a condition of its unit file is not met"));
}

// Exit 0 would say that it runs; "pending" that it will, but systemd does not try again.
TEST_F(EndingUnits, AConditionThatDoesNotHoldIsNamedAndUndone) {
  unit("iwpmd.service").condition = "ConditionPathExists=/dev/infiniband/rdma_cm";
  const auto before = dump();
  const auto report = apply(kEndingService + "enabled = true\n");
  EXPECT_EQ(report.exit, model::Exit::kUndone);
  ASSERT_TRUE(report.error);
  EXPECT_THAT(report.error->message, HasSubstr("ConditionPathExists=/dev/infiniband/rdma_cm"));
  EXPECT_THAT(report.error->message, HasSubstr("running = false"));
  EXPECT_EQ(dump(), before);
  unit("iwpmd.service").condition.clear();
  EXPECT_EQ(apply(kEndingService).exit, model::Exit::kOk);
}

TEST_F(EndingUnits, AServiceThatSystemdStartsAgainAndAgainIsStoppedByUndoing) {
  const auto before = dump();
  unit("iwpmd.service").ends = [] { return true; };
  unit("iwpmd.service").restarts = true;
  EXPECT_EQ(apply(kEndingService).exit, model::Exit::kUndone);
  EXPECT_EQ(dump(), before) << "systemd goes on starting it";
}

TEST_F(EndingUnits, AServiceThatIsStartedAgainIsNotStopped) {
  auto& iwpmd = unit("iwpmd.service");
  iwpmd.restarts = iwpmd.restarting = true;
  const auto report = apply("version = 1\n[[service]]\nname = 'iwpmd'\nrunning = false\n");
  EXPECT_EQ(report.exit, model::Exit::kPartly);
}

TEST_F(EndingUnits, ASubnetManagerThatSystemdStartsAgainAndAgainIsStoppedByUndoing) {
  const auto before = dump();
  unit("opensm@.service").ends = [] { return true; };
  unit("opensm@.service").restarts = true;
  EXPECT_EQ(apply(kEndingManager).exit, model::Exit::kUndone);
  EXPECT_EQ(dump(), before);
}

/// OpenSM ends when it refuses its options. The former ones do not bring it back by themselves.
TEST_F(EndingUnits, ASubnetManagerThatRefusesAnOptionRunsAgainWithTheFormerOnes) {
  ASSERT_EQ(apply(kEndingManager).exit, model::Exit::kOk);
  const auto before = dump();
  unit(kEndingUnit).ends = [this] {
    const auto conf = kernel_->files.content.find("/etc/opensm/opensm.conf");
    return conf != kernel_->files.content.end() && conf->second.find("max_op_vls") != std::string::npos;
  };
  const auto report = apply(kEndingManager + kRefusedOption);
  EXPECT_EQ(report.exit, model::Exit::kUndone);
  ASSERT_TRUE(report.error);
  EXPECT_THAT(report.error->message, HasSubstr("exited after its restart"));
  EXPECT_TRUE(unit(kEndingUnit).running);
  EXPECT_EQ(dump(), before);
}

/// The document does not say that it runs: others started it.
TEST_F(EndingUnits, SoDoesOneThatOthersStarted) {
  begin_with_one_of_others();
  const auto before = dump();
  const auto report = apply("version = 1\n" + kRefusedOption);
  EXPECT_EQ(report.exit, model::Exit::kUndone);
  EXPECT_EQ(dump(), before);
}

/// The same, with the run killed at any of its calls: no entry of the document says that it is to run.
TEST_F(EndingUnits, AKilledRunDoesNotLeaveASubnetManagerDown) {
  begin_with_one_of_others();
  const auto before = dump();
  ASSERT_EQ(apply("version = 1\n" + kRefusedOption).exit, model::Exit::kUndone);
  const auto calls = kernel_->faults.calls();
  std::size_t down = 0;
  for (std::size_t n = 1; n <= calls; ++n) {
    SCOPED_TRACE(n);
    begin_with_one_of_others();
    kernel_->faults.kill_at(n);
    EXPECT_THROW(apply("version = 1\n" + kRefusedOption), fakes::Killed);
    kernel_->faults.clear();
    if (!unit(kEndingUnit).running) ++down;
    EXPECT_EQ(apply("version = 1\n" + kRefusedOption).exit, model::Exit::kUndone);
    EXPECT_TRUE(unit(kEndingUnit).running);
    EXPECT_EQ(dump(), before);
  }
  EXPECT_GT(down, 0U) << "no call of the run comes after the end of the subnet manager";
}

/// Nothing brings it back: then the next run is not in order.
TEST_F(EndingUnits, ASubnetManagerThatStaysDownAfterAKilledRunIsReported) {
  begin_with_one_of_others();
  for (std::size_t n = 1; unit(kEndingUnit).running; ++n) {
    ASSERT_LT(n, 100U);
    begin_with_one_of_others();
    kernel_->faults.kill_at(n);
    ASSERT_THROW(apply("version = 1\n" + kRefusedOption), fakes::Killed);
  }
  kernel_->faults.clear();
  unit(kEndingUnit).ends = [] { return true; };
  const auto report = apply("version = 1\n" + kRefusedOption);
  EXPECT_EQ(report.exit, model::Exit::kPartly);
  EXPECT_THAT(model::note_texts(report.notes), Contains(HasSubstr("exited after its restart")));
}

/// RHEL's service is restarted for partitions.
TEST_F(EndingUnits, OneThatEndsAtANewPartitionRunsAgainWithoutThePartition) {
  kernel_ = fakes::FakeKernel::parse(kEndingHostOfRhel);
  ASSERT_EQ(apply(kEndingManager).exit, model::Exit::kOk);
  const auto before = dump();
  unit("opensm.service").ends = [this] {
    return kernel_->files.content.contains("/etc/rdma/partitions.conf");
  };
  const auto report = apply(kEndingManager + "[[partition]]\npkey = 2\n");
  EXPECT_EQ(report.exit, model::Exit::kUndone);
  ASSERT_TRUE(report.error);
  EXPECT_THAT(report.error->message, HasSubstr("exited after its restart"));
  EXPECT_TRUE(unit("opensm.service").running);
  EXPECT_EQ(dump(), before);
}

TEST_F(EndingUnits, AKilledRunDoesNotLeaveOneDownThatEndsAtAPartition) {
  const std::string first = "version = 1\n[[partition]]\npkey = 0x7fff\nmembers = ['ALL=full']\n";
  expect_up_after_kills([&] { begin_with_one_of_rhel(first, "/etc/rdma/partitions.conf", "0x8002"); },
                        first + "[[partition]]\npkey = 0x8002\n");
}

TEST_F(EndingUnits, AKilledRunDoesNotLeaveOneDownThatEndsAtAFileOfItsOptions) {
  const auto document = [](const std::string& root) {
    return "version = 1\n[[opensm_file]]\noption = 'root_guid_file'\nguids = ['" + root + "']\n";
  };
  expect_up_after_kills(
      [&] { begin_with_one_of_rhel(document("0x200000"), "/etc/rdma/rdma-root-guids.conf", "200001"); },
      document("0x200001"));
}

/// A stopped one is nobody's to start.
TEST_F(EndingUnits, ASubnetManagerThatHadFailedBeforeStaysAsItIs) {
  kernel_->units.add(kEndingUnit, {.installable = false, .reloads = false});
  unit(kEndingUnit).failed = true;
  EXPECT_EQ(apply("version = 1\n" + kRefusedOption).exit, model::Exit::kOk);
  EXPECT_THAT(kernel_->faults.log(), Not(Contains(HasSubstr(kEndingUnit))));
}

}  // namespace
}  // namespace rdmacfg::kinds
