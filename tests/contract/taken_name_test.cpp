// SPDX-License-Identifier: Apache-2.0
// Flow control is written to an interface by its name, and its former values belong to that device: another
// one that took the name keeps its own.
#include "contract/stage.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kTakenNameHost = R"({ "links": [{ "name": "eth0", "up": true }],
  "dcb": { "eth0": { "pfc": 2, "apps": ["26:0"] } } })";
constexpr const char* kPfc =
    "version = 1\n[[pfc]]\ninterface = \"eth0\"\npriorities = [3]\ndscp = [\"26:3\"]\n";

TEST(TakenName, NothingIsGivenBackToAnotherDevice) {
  Stage stage(Scenario{.name = "taken", .host = kTakenNameHost, .documents = {kPfc, "version = 1\n"}});
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
  Stage stage(Scenario{.name = "same", .host = kTakenNameHost, .documents = {kPfc, "version = 1\n"}});
  const auto report = stage.apply();
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_EQ(stage.kernel().dcb.interfaces.at("eth0").pfc, 0x02);
}

}  // namespace
}  // namespace rdmacfg::contract
