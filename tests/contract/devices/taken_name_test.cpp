// SPDX-License-Identifier: Apache-2.0
// Flow control is written to an interface by its name, and its former values belong to that device: another
// one that took the name keeps its own.
#include <algorithm>

#include "contract/stage.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kTakenNameHost = R"({ "links": [{ "name": "eth0", "up": true }],
  "dcb": { "eth0": { "pfc": 2, "apps": ["26:0"] } } })";
constexpr const char* kPfcByName =
    "version = 1\n[[pfc]]\ninterface = \"eth0\"\npriorities = [3]\ndscp = [\"26:3\"]\n";

TEST(TakenName, NothingIsGivenBackToAnotherDevice) {
  Stage stage(Scenario{.name = "taken", .host = kTakenNameHost, .documents = {kPfcByName, "version = 1\n"}});
  auto& kernel = stage.kernel();
  auto& dcb = kernel.dcb.interfaces;
  ASSERT_EQ(dcb.at("eth0").pfc, 0x08);
  kernel.link("eth0").name = "old0";
  dcb["old0"] = dcb.at("eth0");
  kernel.machine.add_link("eth0", "");
  const auto before = stage.dump();
  const auto report = stage.apply();
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_EQ(difference(stage.dump(), before), "");
}

TEST(TakenName, TheSameDeviceGetsItBack) {
  Stage stage(Scenario{.name = "same", .host = kTakenNameHost, .documents = {kPfcByName, "version = 1\n"}});
  const auto report = stage.apply();
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_EQ(stage.kernel().dcb.interfaces.at("eth0").pfc, 0x02);
}

// srp_daemon_port@ waits for a device unit that udev names after the RDMA device, of which the kernel sends
// no event.
TEST(TakenName, UdevLooksAgainAtDevicesThatSwapNames) {
  constexpr const char* kTwo = R"({ "devices": [
    { "name": "mlx5_0", "driver": "mlx5_core", "pci": "0000:10:00.0", "ports": [{ "guid": "00:02:c9:03:00:31:78:f2" }] },
    { "name": "mlx5_1", "driver": "mlx5_core", "pci": "0000:11:00.0", "ports": [{ "guid": "00:02:c9:03:00:31:79:02" }] }] })";
  constexpr const char* kSwap =
      "version = 1\n[[rdma_device]]\npci = \"0000:10:00.0\"\nname = \"mlx5_1\"\n"
      "[[rdma_device]]\npci = \"0000:11:00.0\"\nname = \"mlx5_0\"\n";
  Stage stage(Scenario{.name = "swap", .host = kTwo, .documents = {"version = 1\n", kSwap}});
  const auto report = stage.apply();
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  auto triggers = stage.kernel().udev_triggers;
  std::sort(triggers.begin(), triggers.end());
  EXPECT_EQ(triggers, (std::vector<std::string>{"mlx5_0", "mlx5_1"}));
  stage.apply();
  EXPECT_EQ(stage.kernel().udev_triggers.size(), 2U) << "nothing was renamed";
}

}  // namespace
}  // namespace rdmacfg::contract
