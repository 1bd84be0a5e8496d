// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/nvme/nvme_connection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/storage/discovery_conf.hpp"
#include "kinds/storage/nvme/nvme_connect.hpp"
#include "kinds/storage/nvme/nvme_found.hpp"
#include "unit/kinds/storage/session_host.hpp"

namespace rdmacfg::kinds {
namespace {

using model::Exit;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kTargetText = "version = 1\n[[nvme_connection]]\naddress = \"192.0.2.1\"\n";
constexpr const char* kNoTargets = "version = 1\n";

class NvmeConnections : public SessionHost {
 protected:
  NvmeConnections()
      : SessionHost(R"({
    "units": { "nvmf-autoconnect.service": { "oneshot": true } },
    "nvme_host": { "targets": { "192.0.2.1": ["nqn.x:a"] } } })") {}

  /// Of the entry.
  static std::string reason_of(const model::Report& report) {
    for (const auto& resource : report.resources) {
      if (resource.key.kind == "nvme_connection") return resource.reason;
    }
    return "no such resource";
  }

  std::vector<system::NvmeController>& controllers = kernel->nvme_host.controllers;
};

TEST_F(NvmeConnections, SeveralPortsOfOneTargetHaveALineEach) {
  const auto text = std::string(kTargetText) + "port = [4420, 4421]\nqueue_size = 64\n";
  EXPECT_EQ(run(text).exit, Exit::kOk);
  EXPECT_THAT(kernel->files.content.at(std::string(kDiscoveryFile)),
              HasSubstr("\n--transport=rdma --traddr=192.0.2.1 --trsvcid=4420 --queue-size=64\n"
                        "--transport=rdma --traddr=192.0.2.1 --trsvcid=4421 --queue-size=64\n"));
  EXPECT_THAT(controllers, SizeIs(2));
  EXPECT_THAT(run(text).plan.changes, IsEmpty());
  EXPECT_EQ(run(kNoTargets).exit, Exit::kOk);
  EXPECT_FALSE(kernel->files.content.contains(std::string(kDiscoveryFile)));
  EXPECT_THAT(controllers, IsEmpty());
}

TEST_F(NvmeConnections, ASubsystemThatIsNamedAndNotConnectedIsPending) {
  const auto text = std::string(kTargetText) + "subsystems = [\"nqn.x:a\", \"nqn.x:b\"]\n";
  auto report = run(text);
  EXPECT_EQ(report.exit, Exit::kPartly) << "nvme-cli ends well although nqn.x:b was refused";
  EXPECT_THAT(reason_of(report), HasSubstr("no connection to nqn.x:b; `nvme discover -t rdma -a 192.0.2.1`"));
  EXPECT_THAT(controllers, SizeIs(1)) << "what can be connected is";
  controllers.push_back({"nvme7", "nqn.x:b", "rdma", "192.0.2.1", "4420", "live"});
  report = run(text);
  EXPECT_EQ(report.exit, Exit::kOk);
  EXPECT_THAT(reason_of(report), IsEmpty());
}

TEST_F(NvmeConnections, ANameOfASubsystemHasTheFormOfOne) {
  const auto report = run(std::string(kTargetText) + "subsystems = [\"scratch\"]\n");
  EXPECT_EQ(report.exit, Exit::kError);
  ASSERT_FALSE(report.diagnostics.empty());
  EXPECT_THAT(report.diagnostics.front().message, HasSubstr("[[nvme_connection]] subsystems: "));
}

TEST_F(NvmeConnections, APortOfSeveralWithoutAConnectionIsPending) {
  kernel->nvme_host.targets["192.0.2.1 4421"] = {};
  const auto text = std::string(kTargetText) + "port = [4420, 4421]\n";
  const auto report = run(text);
  EXPECT_EQ(report.exit, Exit::kPartly);
  EXPECT_THAT(reason_of(report), HasSubstr("no connection to port 4421"));
  kernel->nvme_host.targets["192.0.2.1 4421"] = {"nqn.x:b"};
  EXPECT_EQ(run(std::string(kTargetText) + "port = [4421, 4420]\n").exit, Exit::kOk);
}

TEST_F(NvmeConnections, APortWithADiscoveryServiceAloneIsNotMissingOnceSubsystemsAreNamed) {
  kernel->nvme_host.targets["192.0.2.1 4430"] = {};
  const auto text = std::string(kTargetText) + "port = [4420, 4430]\n";
  EXPECT_THAT(reason_of(run(text)), HasSubstr("list the required subsystems in subsystems"));
  const auto report = run(text + "subsystems = [\"nqn.x:a\"]\n");
  EXPECT_EQ(report.exit, Exit::kOk);
  EXPECT_THAT(reason_of(report), IsEmpty());
}

TEST(MissingConnections, PortsThatOnlyDiscoveryServicesUseSayNothing) {
  NvmeControllers there;
  there.emplace("192.0.2.1", system::NvmeController{"nvme0", "nqn.x:a", "rdma", "192.0.2.1", "4420", "live"});
  EXPECT_THAT(missing_connections({"nqn.x:a"}, {8009, 8010}, "192.0.2.1", there), IsEmpty());
  EXPECT_THAT(missing_connections({}, {8009}, "192.0.2.1", there), IsEmpty());
  EXPECT_THAT(missing_connections({}, {4420, 8010}, "192.0.2.1", there), ElementsAre("port 8010"));
  EXPECT_THAT(missing_connections({"nqn.x:a"}, {4420, 8010}, "192.0.2.1", there), IsEmpty())
      << "a discovery controller's log leads to other ports";
  EXPECT_THAT(missing_connections({"nqn.x:b"}, {4420, 8010}, "192.0.2.1", there), ElementsAre("nqn.x:b"));
  EXPECT_THAT(missing_connections({}, {4420, 8009}, "192.0.2.1", there), IsEmpty())
      << "the port that discovery services have by themselves";
  EXPECT_THAT(missing_connections({"nqn.x:a"}, {}, "192.0.2.2", there), ElementsAre("nqn.x:a"))
      << "of this address alone";
}

TEST_F(NvmeConnections, APortThatIsTakenOffTheListIsDisconnectedAlone) {
  const auto both = std::string(kTargetText) + "port = [4420, 4421]\n";
  ASSERT_EQ(run(both).exit, Exit::kOk);
  ASSERT_THAT(controllers, SizeIs(2));
  const auto report = run(kTargetText);
  EXPECT_EQ(report.exit, Exit::kOk);
  ASSERT_THAT(report.plan.changes, SizeIs(1));
  EXPECT_THAT(report.plan.changes.front().interrupts,
              ElementsAre(HasSubstr("NVMe target 192.0.2.1 is disconnected at port 4421 (nvme1)")));
  ASSERT_THAT(controllers, SizeIs(1));
  EXPECT_EQ(controllers.front().service, "4420");
  EXPECT_THAT(run(kTargetText).plan.changes, IsEmpty());
  ASSERT_EQ(run(both).exit, Exit::kOk);
  EXPECT_THAT(controllers, SizeIs(2));
}

TEST_F(NvmeConnections, APortWhoseDiskIsInUseIsLeftLater) {
  kernel->nvme_host.targets["192.0.2.1 4421"] = {"nqn.x:b"};
  ASSERT_EQ(run(std::string(kTargetText) + "port = [4420, 4421]\n").exit, Exit::kOk);
  kernel->nvme_host.used["nqn.x:b"] = {system::DiskUse{"/dev/nvme1n1 is mounted on /scratch"}};
  const auto report = run(kTargetText);
  EXPECT_EQ(report.exit, Exit::kPartly);
  EXPECT_EQ(reason_of(report), "/dev/nvme1n1 is mounted on /scratch; port 4421 is left once nothing uses it");
  EXPECT_THAT(controllers, SizeIs(2));
  EXPECT_THAT(kernel->files.content.at(std::string(kDiscoveryFile)), HasSubstr("--trsvcid=4421"));
  kernel->nvme_host.used.clear();
  EXPECT_EQ(run(kTargetText).exit, Exit::kOk);
  EXPECT_THAT(controllers, SizeIs(1));
}

TEST_F(NvmeConnections, AConnectionOfOthersAtAPortThatIsLeftStays) {
  controllers.push_back({"nvme5", "nqn.x:a", "rdma", "192.0.2.1", "4421", "live"});
  ASSERT_EQ(run(std::string(kTargetText) + "port = [4420, 4421]\n").exit, Exit::kOk);
  ASSERT_EQ(run(kTargetText).exit, Exit::kOk);
  EXPECT_THAT(controllers, SizeIs(2)) << "it was there before the entry";
}

TEST(ServicePorts, AreAPortOrSeveral) {
  using Ports = model::Codec<model::ServicePorts>;
  EXPECT_EQ(Ports::value(*Ports::parse(std::int64_t{4421})), model::Value(std::int64_t{4421}));
  const std::vector<std::string> both{"4421", "4420"};
  EXPECT_EQ(Ports::value(*Ports::parse(both)), model::Value(both)) << "in their order";
  EXPECT_EQ(Ports::value(*Ports::parse(std::vector<std::string>{"4420"})), model::Value(std::int64_t{4420}));
  for (const auto& wrong : std::vector<std::vector<std::string>>{
           {}, {"80"}, {"4420", "4420"}, {"70000"}, {"x"}, {"-1"}, std::vector<std::string>(17, "4420")})
    EXPECT_FALSE(Ports::parse(wrong)) << wrong.size();
  EXPECT_FALSE(Ports::parse(std::string("4420")));
}

TEST_F(NvmeConnections, ATargetThatIsAwayIsPendingAndAHoldTriesAgain) {
  const auto targets = std::exchange(kernel->nvme_host.targets, {});
  const auto report = run(kTargetText);
  EXPECT_EQ(report.exit, Exit::kPartly);
  ASSERT_FALSE(report.resources.empty());
  EXPECT_THAT(kernel->files.content.at(std::string(kDiscoveryFile)), HasSubstr("--traddr=192.0.2.1"));
  EXPECT_EQ(run(kTargetText).exit, Exit::kPartly) << "nothing is undone for it";

  const auto held = hold(kTargetText);
  EXPECT_EQ(held.exit, Exit::kUndone);
  ASSERT_TRUE(held.error);
  EXPECT_THAT(held.error->message, HasSubstr("nvme-cli made no connection"));

  kernel->nvme_host.targets = targets;
  EXPECT_EQ(hold(kTargetText).exit, Exit::kOk);
  EXPECT_THAT(controllers, SizeIs(1));
}

TEST_F(NvmeConnections, AConnectionThatIsGoneIsMadeAgain) {
  ASSERT_EQ(run(kTargetText).exit, Exit::kOk);
  controllers.clear();
  ASSERT_EQ(hold(kTargetText).exit, Exit::kOk);
  EXPECT_THAT(controllers, SizeIs(1));
}

TEST_F(NvmeConnections, ThoseOfOthersStay) {
  controllers.push_back({"nvme0", "nqn.x:a", "rdma", "192.0.2.1", "4420", "live"});
  ASSERT_EQ(run(kTargetText).exit, Exit::kOk);
  EXPECT_TRUE(kernel->files.content.contains(std::string(kNvmeFoundFile)));
  ASSERT_EQ(run(kNoTargets).exit, Exit::kOk);
  EXPECT_THAT(controllers, SizeIs(1));
  EXPECT_FALSE(kernel->files.content.contains(std::string(kNvmeFoundFile)));

  kernel->files.content["/etc/nvme/config.json"] = R"([{"subsystems":[{"ports":[{"traddr":"192.0.2.1"}]}]}])";
  controllers.clear();
  ASSERT_EQ(run(kTargetText).exit, Exit::kOk);
  ASSERT_EQ(run(kNoTargets).exit, Exit::kOk);
  EXPECT_THAT(controllers, SizeIs(1)) << "another file leads there, too";
}

TEST_F(NvmeConnections, ThoseOfOthersStayHoweverTheirAddressIsSpelled) {
  const std::string text = "version = 1\n[[nvme_connection]]\naddress = \"2001:db8::1\"\n";
  kernel->nvme_host.targets["2001:db8::1"] = {"nqn.x:a"};
  kernel->files.content["/etc/nvme/config.json"] =
      R"([{"hostnqn":"nqn.x:h","subsystems":[{"ports":[{"traddr":"2001:DB8:0::1"}]}]}])";
  ASSERT_EQ(run(text).exit, Exit::kOk);
  ASSERT_EQ(run(kNoTargets).exit, Exit::kOk);
  EXPECT_THAT(controllers, SizeIs(1));
}

TEST_F(NvmeConnections, AfterABootTheyAreOurs) {
  controllers.push_back({"nvme0", "nqn.x:a", "rdma", "192.0.2.1", "4420", "live"});
  ASSERT_EQ(run(kTargetText).exit, Exit::kOk);
  kernel->reboot();
  EXPECT_THAT(controllers, SizeIs(1)) << "nvmf-autoconnect.service is enabled";
  ASSERT_EQ(run(kNoTargets).exit, Exit::kOk);
  EXPECT_THAT(controllers, IsEmpty());
}

TEST_F(NvmeConnections, WhileADiskIsInUseItStaysConnected) {
  ASSERT_EQ(run(kTargetText).exit, Exit::kOk);
  kernel->nvme_host.used["nqn.x:a"] = {system::DiskUse{"/dev/nvme0n1 is mounted on /scratch"}};
  const auto report = run(kNoTargets);
  EXPECT_EQ(report.exit, Exit::kPartly);
  EXPECT_THAT(controllers, SizeIs(1));
  EXPECT_THAT(kernel->files.content.at(std::string(kDiscoveryFile)), HasSubstr("192.0.2.1"));
  kernel->nvme_host.used.clear();
  EXPECT_EQ(run(kNoTargets).exit, Exit::kOk);
  EXPECT_THAT(controllers, IsEmpty());
  EXPECT_FALSE(kernel->files.content.contains(std::string(kDiscoveryFile)));
}

TEST_F(NvmeConnections, BothPathsToADiskInUseStayWhenBothGo) {
  const auto both = std::string(kTargetText) + "[[nvme_connection]]\naddress = \"192.0.2.2\"\n";
  kernel->nvme_host.targets["192.0.2.2"] = {"nqn.x:a"};
  kernel->nvme_host.multipath.insert("nqn.x:a");
  kernel->nvme_host.used["nqn.x:a"] = {system::DiskUse{"/dev/nvme0n1 is mounted on /scratch"}};
  ASSERT_EQ(run(both).exit, Exit::kOk);
  ASSERT_THAT(controllers, SizeIs(2));
  EXPECT_EQ(run(kNoTargets).exit, Exit::kPartly);
  EXPECT_THAT(controllers, SizeIs(2));
  EXPECT_EQ(run(kTargetText).exit, Exit::kOk) << "one of them may go";
  EXPECT_THAT(controllers, SizeIs(1));
}

TEST_F(NvmeConnections, BelowAnotherRootOnlyFilesAreWritten) {
  auto host = kernel->host();
  host.offline = true;
  const auto document = config::parse_texts({{"config.toml", kTargetText}}, "node1", grammar());
  EXPECT_EQ(core::apply(document, host).exit, Exit::kOk);
  EXPECT_EQ(kernel->files.content.at(std::string(kAutoconnectDropIn)), render_autoconnect_drop_in());
  EXPECT_THAT(controllers, IsEmpty());
}

}  // namespace
}  // namespace rdmacfg::kinds
