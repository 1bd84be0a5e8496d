// SPDX-License-Identifier: Apache-2.0
// Documents against drivers, each as its source says (tests/fakes/drivers/fake_dcb_drivers.cpp cites the
// lines): done, and what reads back; or refused before anything is written, with what to do. Never begun and
// undone.
#include <gmock/gmock.h>

#include "contract/apply_text.hpp"

namespace rdmacfg::contract {
namespace {

using testing::HasSubstr;

constexpr const char* kLossless = "[[lossless]]\ninterface = \"eth0\"\n";
constexpr const char* kPfc = "[[pfc]]\ninterface = \"eth0\"\n";

std::string host_with(const std::string& dcb) {
  return R"({ "links": [
    { "name": "eth0", "up": true, "items": ["addr4 203.0.113.1/24", "addr6 2001:db8::1/64",
                                            "route default via 203.0.113.254"] },
    { "name": "vlan5", "kind": "vlan", "parent": "eth0", "up": true, "items": ["route 192.0.2.0/24 via 198.51.100.9"] } ],
    "dcb": { "eth0": { )" +
         dcb + " } } }";
}

struct Case {
  std::string name;
  std::string dcb;       ///< of eth0
  std::string document;  ///< without the version
  Exit exit;
  std::string says;   ///< in a diagnostic, a reason or a warning
  std::string reads;  ///< in the dump of the host afterwards
};
void PrintTo(const Case& row, std::ostream* out) { *out << row.name; }

std::string everything_said(const Report& report) {
  std::string out = text_of(report);
  for (const auto& d : report.diagnostics) out += "; " + d.message + "; hint: " + d.hint;
  for (const auto& resource : report.resources) {
    out += "; " + resource.reason;
    for (const auto& warning : resource.warnings) out += "; " + warning;
  }
  return out;
}

class DcbDrivers : public testing::TestWithParam<Case> {};

TEST_P(DcbDrivers, DoneOrRefusedBeforeAnyWrite) {
  const auto& row = GetParam();
  const auto kernel = FakeKernel::parse(host_with(row.dcb));
  const auto before = kernel->dump(kVisible);
  const auto report = apply_text(*kernel, row.document);
  EXPECT_EQ(report.exit, row.exit) << everything_said(report);
  EXPECT_THAT(everything_said(report), HasSubstr(row.says));
  if (applied(report) && report.exit == Exit::kOk) {
    EXPECT_THAT(kernel->dump(kVisible), HasSubstr(row.reads));
    kernel->faults.clear();
    const auto again = apply_text(*kernel, row.document);
    EXPECT_EQ(again.exit, Exit::kOk) << everything_said(again);
    EXPECT_EQ(kernel->faults.calls(), 0U) << kernel->faults.log().front();
  } else {
    EXPECT_EQ(kernel->faults.calls(), 0U) << kernel->faults.log().front();
    EXPECT_EQ(difference(kernel->dump(kVisible), before), "");
  }
  // Interfaces closed on the way.
  EXPECT_THAT(kernel->dump(kVisible), HasSubstr("route default via 203.0.113.254"));
  EXPECT_THAT(kernel->dump(kVisible), HasSubstr("addr6 2001:db8::1/64"));
  EXPECT_THAT(kernel->dump(kVisible), HasSubstr("route 192.0.2.0/24 via 198.51.100.9"));
}

const std::string kIdentity = "traffic_classes = [0, 1, 2, 3, 4, 5, 6, 7]\n";

INSTANTIATE_TEST_SUITE_P(
    Documents, DcbDrivers,
    testing::Values(
        // mlx5 en_dcbnl.c:303, :161: shares of ETS classes are 100; idle ones are strict, without a share
        Case{"mlx5_lossless", R"("driver": "mlx5_core")", kLossless, Exit::kOk, "",
             "pfc 0x08 dcbx 0x0d tc 0 0 0 1 0 0 0 0 tsa ets ets other other other other other other bw 50 50 "
             "0 0 0 0 0 0"},
        // en_dcbnl.c:145: a class in use with 0 percent reads back 0
        Case{"mlx5_all_for_one", R"("driver": "mlx5_core")",
             std::string(kPfc) + "traffic_classes = [0, 0, 0, 1, 0, 0, 0, 0]\nbandwidth = [100, 0]\n",
             Exit::kOk, "", "bw 100 0 0"},
        Case{"mlx5_all_for_the_second", R"("driver": "mlx5_core")",
             std::string(kPfc) + "traffic_classes = [0, 0, 0, 1, 0, 0, 0, 0]\nbandwidth = [0, 100]\n",
             Exit::kOk, "", "bw 0 100 0"},
        // en_dcbnl.c:443: sets are taken while the firmware has DCBX; "host" is a way out
        Case{"mlx5_firmware_has_dcbx", R"("driver": "mlx5_core", "dcbx": 12)", kLossless, Exit::kOk,
             "write dcbx = \"host\"", "pfc 0x08 dcbx 0x0c"},
        // en_dcbnl.c:497 without MLX5_DSCP_SUPPORTED cannot be known before; a reset can
        Case{"mlx5_resetting", R"("driver": "mlx5_core", "resetting": true)", kLossless, Exit::kPartly,
             "cannot be read now", ""},
        Case{"mlx5_fewer_classes",
             R"("driver": "mlx5_core", "classes": 4, "traffic_class": [0, 0, 0, 0, 0, 0, 0, 0])",
             std::string(kPfc) + kIdentity, Exit::kError,
             "priority 4 maps to traffic class 4, and eth0 has 4", ""},
        // mlx4 en_dcb_nl.c:710: no setapp, dcbnl.c:1507 keeps DSCPs in the kernel
        Case{"mlx4_lossless_is_by_vlan_priority", R"("driver": "mlx4_core")", kLossless, Exit::kOk,
             "eth0 classifies by VLAN priority", "pfc 0x08 dcbx 0x0d tc 0 0 0 1 0 0 0 0 tsa ets ets"},
        Case{"mlx4_dscp", R"("driver": "mlx4_core")", std::string(kPfc) + "dscp = [\"26:3\"]\n", Exit::kError,
             "the adapter never sees them", ""},
        // mlx4 en_netdev.c:3255: boards without ETS have PFC only
        Case{"mlx4_without_ets", R"("driver": "mlx4_core", "without_ets": true)", kLossless, Exit::kOk,
             "trust 802.1p", "pfc 0x08"},
        // ice_dcb_nl.c:802: identity classes with the first DSCP; ice_dcb_lib.c:330: 100 over those in use
        Case{"ice_lossless", R"("driver": "ice")", kLossless, Exit::kOk, "",
             "pfc 0x08 dcbx 0x09 tc 0 1 2 3 4 5 6 7 tsa ets ets ets ets ets ets ets ets bw 8 7 7 50 7 7 7 7"},
        Case{"ice_four_classes", R"("driver": "ice", "classes": 4)", kLossless, Exit::kOk, "",
             "tc 0 1 2 3 0 0 0 0 tsa ets ets ets ets strict strict strict strict bw 18 16 16 50 0 0 0 0"},
        // ice_dcb_nl.c:788
        Case{"ice_priority_beyond_the_classes", R"("driver": "ice", "classes": 4)",
             std::string(kLossless) + "priority = 5\n", Exit::kError,
             "takes priorities below its 4 traffic classes", ""},
        // ice_dcb_nl.c:76, :772, :163
        Case{"ice_agent", R"("driver": "ice", "agent": true)", kLossless, Exit::kError,
             "ethtool --set-priv-flags eth0 fw-lldp-agent off", ""},
        Case{"ice_agent_and_host", R"("driver": "ice", "agent": true)",
             std::string(kPfc) + "dcbx = \"host\"\n", Exit::kError,
             "ethtool --set-priv-flags eth0 fw-lldp-agent off", ""},
        Case{"ice_to_the_firmware", R"("driver": "ice")", std::string(kPfc) + "dcbx = \"firmware\"\n",
             Exit::kError, "fw-lldp-agent on", ""},
        // ice_dcb_nl.c:89
        Case{"ice_other_classes_with_dscp", R"("driver": "ice")",
             std::string(kPfc) + "dscp = [\"26:3\"]\ntraffic_classes = [0, 0, 0, 1, 0, 0, 0, 0]\n",
             Exit::kError, "makes priority N traffic class N", ""},
        Case{"ice_identity_with_dscp", R"("driver": "ice")",
             std::string(kPfc) + "dscp = [\"26:3\"]\n" + kIdentity, Exit::kOk, "", "tc 0 1 2 3 4 5 6 7"},
        // ice_dcb_lib.c:320: a gap makes it one class
        Case{"ice_gap", R"("driver": "ice")",
             std::string(kPfc) + "traffic_classes = [0, 0, 0, 2, 0, 0, 0, 0]\nbandwidth = [50, 0, 50]\n",
             Exit::kError, "without a gap", ""},
        Case{"ice_share_of_nobody", R"("driver": "ice")", std::string(kPfc) + "bandwidth = [50, 50]\n",
             Exit::kError, "no priority maps to traffic class 1", ""},
        Case{"ice_vlan_priorities", R"("driver": "ice")",
             std::string(kPfc) +
                 "priorities = [3]\ntraffic_classes = [0, 0, 0, 1, 0, 0, 0, 0]\nbandwidth = [50, 50]\n",
             Exit::kOk, "", "pfc 0x08 dcbx 0x09 tc 0 0 0 1 0 0 0 0 tsa ets ets"},
        // bnxt_dcb.c:488, bnxt.c:12899
        Case{"bnxt_three_classes", R"("driver": "bnxt_en", "classes": 3, "pfc_capability": 1)", kLossless,
             Exit::kOk, "", "pfc 0x08 dcbx 0x09 tc 0 0 0 1 0 0 0 0 tsa ets ets strict strict"},
        Case{"bnxt_one_class", R"("driver": "bnxt_en", "classes": 1, "pfc_capability": 1)", kLossless,
             Exit::kOk, "", "pfc 0x08"},
        // bnxt_dcb.c:258
        Case{"bnxt_pfc_alone", R"("driver": "bnxt_en", "classes": 3)",
             std::string(kPfc) + "priorities = [3]\n", Exit::kOk, "", "pfc 0x08"},
        // bnxt_dcb.c:509
        Case{"bnxt_zero_share", R"("driver": "bnxt_en")",
             std::string(kPfc) + "traffic_classes = [0, 0, 0, 1, 0, 0, 0, 0]\nbandwidth = [0, 100]\n",
             Exit::kError, "refuses a share of 0 percent", ""},
        Case{"bnxt_beyond", R"("driver": "bnxt_en", "classes": 2)",
             std::string(kPfc) + "traffic_classes = [0, 0, 0, 1, 0, 0, 2, 0]\n", Exit::kError,
             "and eth0 has 2", ""},
        // bnxt_dcb.c:272, net/dcb: pfc_cap counts classes
        Case{"bnxt_two_priorities_of_one_class", R"("driver": "bnxt_en", "classes": 3, "pfc_capability": 1)",
             std::string(kPfc) +
                 "priorities = [3, 4]\ntraffic_classes = [0, 0, 0, 1, 1, 0, 0, 0]\nbandwidth = [50, 50]\n",
             Exit::kOk, "", "pfc 0x18"},
        Case{
            "bnxt_two_lossless_classes", R"("driver": "bnxt_en", "classes": 3, "pfc_capability": 1)",
            std::string(kPfc) +
                "priorities = [3, 4]\ntraffic_classes = [0, 0, 0, 1, 2, 0, 0, 0]\nbandwidth = [40, 30, 30]\n",
            Exit::kError, "2 traffic classes would be lossless, and eth0 allows 1", ""},
        // bnxt_dcb.c:561, :735, :741
        Case{"bnxt_agent", R"("driver": "bnxt_en", "agent": true)", kLossless, Exit::kError, "NVRAM", ""},
        Case{"bnxt_agent_and_host", R"("driver": "bnxt_en", "agent": true)",
             std::string(kPfc) + "dcbx = \"host\"\n", Exit::kError, "NVRAM", ""},
        // bnxt_dcb.c:753: taken, and all later sets are refused
        Case{"bnxt_to_the_firmware", R"("driver": "bnxt_en")", std::string(kPfc) + "dcbx = \"firmware\"\n",
             Exit::kError, "no agent would run DCBX then", ""},
        Case{"bnxt_nobody_has_dcbx", R"("driver": "bnxt_en", "dcbx": 0)",
             std::string(kPfc) + "priorities = [3]\n", Exit::kError, "write dcbx = \"host\"", ""},
        Case{"bnxt_back_to_the_host", R"("driver": "bnxt_en", "dcbx": 0)",
             std::string(kPfc) + "priorities = [3]\ndcbx = \"host\"\n", Exit::kOk, "", "pfc 0x08 dcbx 0x09"},
        // hclge_dcb.c:143, :158
        Case{"hns3_lossless", R"("driver": "hns3", "classes": 4)", kLossless, Exit::kOk, "",
             "tc 0 0 0 1 0 0 0 0 tsa ets ets strict strict strict strict strict strict bw 50 50"},
        Case{"hns3_zero_share", R"("driver": "hns3")",
             std::string(kPfc) + "traffic_classes = [0, 0, 0, 1, 0, 0, 0, 0]\nbandwidth = [100]\n",
             Exit::kError, "traffic class 1 is in use, and hns3 refuses a share of 0 percent", ""},
        Case{"hns3_share_of_nobody", R"("driver": "hns3")", std::string(kPfc) + "bandwidth = [50, 50]\n",
             Exit::kError, "no priority maps to traffic class 1", ""},
        Case{"hns3_strict", R"("driver": "hns3")",
             std::string(kPfc) +
                 "traffic_classes = [0, 0, 0, 1, 0, 0, 0, 0]\nbandwidth = [100]\nstrict = [1]\n",
             Exit::kOk, "", "tsa ets strict"},
        // hns3_dcbnl.c:11: EBUSY
        Case{"hns3_resetting", R"("driver": "hns3", "resetting": true)", kLossless, Exit::kPartly,
             "the adapter resets", ""},
        // hclge_dcb.c:463: mqprio
        Case{"hns3_mqprio", R"("driver": "hns3", "dcbx": 0)", kLossless, Exit::kError,
             "tc qdisc del dev eth0 root", ""},
        // qed_dcbx.c:2048
        Case{"qede_not_negotiated", R"("driver": "qede", "negotiated": false)", kLossless, Exit::kPartly,
             "has not negotiated DCBX", ""},
        Case{"qede_dscp", R"("driver": "qede")", std::string(kPfc) + "dscp = [\"26:3\"]\n", Exit::kError,
             "qede accepts no DSCPs", ""},
        Case{"qede_host", R"("driver": "qede")", std::string(kPfc) + "dcbx = \"host\"\n", Exit::kError,
             "leaves DCBX of eth0 to the firmware", ""},
        // qed_dcbx.c:1208: settings are kept for SET_ALL; the negotiated values read back
        Case{"qede_lossless", R"("driver": "qede")", kLossless, Exit::kError, "without effect", ""},
        Case{"qede_as_negotiated", R"("driver": "qede", "pfc": 8)", std::string(kPfc) + "priorities = [3]\n",
             Exit::kOk, "", "pfc 0x08"},
        // ice_dcb_nl.c:98: ets_cap is 0 after DSCPs alone
        Case{"ice_dscp_alone_of_four_classes", R"("driver": "ice", "classes": 4)",
             std::string(kPfc) + "dscp = [\"26:3\"]\n", Exit::kOk, "", "tc 0 1 2 3 0 0 0 0"},
        Case{"ice_pfc_alone", R"("driver": "ice", "classes": 4)", std::string(kPfc) + "priorities = [0]\n",
             Exit::kOk, "", "pfc 0x01"},
        // i40e_dcb_nl.c:209: DSCPs are for LLDP
        Case{"i40e_lossless_is_by_vlan_priority", R"("driver": "i40e")", kLossless, Exit::kOk,
             "eth0 classifies by VLAN priority", "pfc 0x08 dcbx 0x09 tc 0 0 0 1 0 0 0 0 tsa ets ets"},
        Case{"i40e_dscp", R"("driver": "i40e")", std::string(kPfc) + "dscp = [\"26:3\"]\n", Exit::kError,
             "the adapter never sees them", ""},
        Case{"i40e_gap", R"("driver": "i40e")",
             std::string(kPfc) + "traffic_classes = [0, 0, 0, 2, 0, 0, 0, 0]\nbandwidth = [50, 0, 50]\n",
             Exit::kError, "without a gap", ""},
        Case{"i40e_to_the_firmware", R"("driver": "i40e")", std::string(kPfc) + "dcbx = \"firmware\"\n",
             Exit::kError, "disable-fw-lldp off", ""},
        // i40e_dcb_nl.c:113
        Case{"i40e_agent", R"("driver": "i40e", "dcbx": 10)", kLossless, Exit::kError,
             "ethtool --set-priv-flags eth0 disable-fw-lldp on", ""},
        Case{"unknown_driver", R"("dcbx": 9)", kLossless, Exit::kOk,
             "the driver may not pass the DSCPs of eth0", "pfc 0x08"},
        Case{"unknown_driver_with_an_agent", R"("dcbx": 10)", kLossless, Exit::kError,
             "the firmware's agent controls DCB", ""}),
    [](const auto& instance) { return instance.param.name; });

// A driver that takes only the priorities of a DSCP without one: ice_dcb_nl.c:811.
TEST(DcbOfIce, AnotherPriorityForADscp) {
  const auto kernel = FakeKernel::parse(host_with(R"("driver": "ice")"));
  ASSERT_EQ(apply_text(*kernel, std::string(kPfc) + "dscp = [\"26:3\"]\n").exit, Exit::kOk);
  const auto report = apply_text(*kernel, std::string(kPfc) + "dscp = [\"26:4\"]\n");
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_THAT(kernel->dump(), HasSubstr("app 5 26 -> 4"));
}

// delapp() of bnxt takes the DSCP out of the adapter's table, also when another entry has come for it
// meanwhile.
TEST(DcbOfBnxt, AnotherPriorityForADscpIsInTheAdapter) {
  const auto kernel = FakeKernel::parse(host_with(R"("driver": "bnxt_en")"));
  ASSERT_EQ(apply_text(*kernel, std::string(kPfc) + "dscp = [\"26:3\"]\n").exit, Exit::kOk);
  ASSERT_EQ(kernel->dcb.adapters.at("eth0").table.at(26), 3);
  const auto report = apply_text(*kernel, std::string(kPfc) + "dscp = [\"26:4\"]\n");
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_EQ(kernel->dcb.adapters.at("eth0").table.at(26), 4);
}

TEST(DcbOfIce, TheInterruptionNamesWhatGoesAndComesBack) {
  const auto kernel = FakeKernel::parse(host_with(R"("driver": "ice")"));
  const auto report = apply_text(*kernel, kLossless);
  ASSERT_EQ(report.plan.changes.size(), 1U);
  ASSERT_FALSE(report.plan.changes.front().interrupts.empty());
  EXPECT_THAT(report.plan.changes.front().interrupts.front(), HasSubstr("closes and opens eth0"));
  EXPECT_THAT(report.plan.changes.front().interrupts.front(), HasSubstr("vlan5"));
}

TEST(DcbOfIce, AnUndoneApplyKeepsTheDefaultRoute) {
  for (std::size_t n = 1; n < 12; ++n) {
    const auto kernel = FakeKernel::parse(host_with(R"("driver": "ice")"));
    const auto before = kernel->dump(kVisible);
    kernel->faults.fail_at(n, EIO);
    const auto report = apply_text(*kernel, kLossless);
    if (applied(report)) continue;
    EXPECT_TRUE(report.exit == Exit::kUndone || report.exit == Exit::kError) << n << ": " << text_of(report);
    EXPECT_EQ(difference(kernel->dump(kVisible), before), "") << n;
  }
}

// ice_dcb_nl.c:80: "willing" is what was written last; a switch that recommends something would overwrite it.
TEST(DcbOfIce, TheRecommendationsOfTheSwitchAreNotTakenAndAreAgainAfterwards) {
  for (const char* driver : {"ice", "i40e"}) {
    SCOPED_TRACE(driver);
    const auto kernel = FakeKernel::parse(host_with("\"driver\": \"" + std::string(driver) + "\""));
    ASSERT_TRUE(kernel->dcb.interfaces.at("eth0").ets->willing);
    ASSERT_EQ(apply_text(*kernel, kLossless).exit, Exit::kOk);
    EXPECT_FALSE(kernel->dcb.interfaces.at("eth0").ets->willing);
    // Somebody else's doing is drift.
    kernel->dcb.interfaces.at("eth0").ets->willing = true;
    ASSERT_EQ(apply_text(*kernel, kLossless).exit, Exit::kOk);
    EXPECT_FALSE(kernel->dcb.interfaces.at("eth0").ets->willing);
    ASSERT_EQ(apply_text(*kernel, "").exit, Exit::kOk);
    EXPECT_TRUE(kernel->dcb.interfaces.at("eth0").ets->willing);
  }
}

// i40e_main.c:9994: without a link the driver has the defaults again, and no message says so.
TEST(DcbOfI40e, WhatAPulledCableTookIsSetAgain) {
  const auto kernel = FakeKernel::parse(host_with(R"("driver": "i40e")"));
  const auto before = kernel->dump(kVisible);
  ASSERT_EQ(apply_text(*kernel, kLossless).exit, Exit::kOk);
  const auto configured = kernel->dump(kVisible);
  kernel->dcb.lose_link("eth0");
  ASSERT_NE(kernel->dump(kVisible), configured);
  ASSERT_EQ(apply_text(*kernel, kLossless).exit, Exit::kOk);
  EXPECT_EQ(difference(kernel->dump(kVisible), configured), "");
  // The entry is dropped while the driver has the defaults: they stay.
  kernel->dcb.lose_link("eth0");
  ASSERT_EQ(apply_text(*kernel, "").exit, Exit::kOk);
  EXPECT_EQ(difference(kernel->dump(kVisible), before), "");
}

// mlx5 en_dcbnl.c:1131: the 64 entries of the firmware's table appear after a reload.
TEST(DcbOfMlx5, UnlistedDscpsAreTheSameBeforeAndAfterAReload) {
  const auto kernel = FakeKernel::parse(host_with(R"("driver": "mlx5_core")"));
  ASSERT_EQ(apply_text(*kernel, kLossless).exit, Exit::kOk);
  const auto table = kernel->dcb.adapters.at("eth0").table;
  kernel->dcb.reload("eth0");
  EXPECT_EQ(kernel->dcb.interfaces.at("eth0").apps.size(), 64U);
  ASSERT_EQ(apply_text(*kernel, kLossless).exit, Exit::kOk);
  EXPECT_EQ(kernel->dcb.adapters.at("eth0").table, table);
  EXPECT_EQ(kernel->dcb.interfaces.at("eth0").apps.size(), 1U);
  EXPECT_EQ(table.at(26), 3);
  EXPECT_EQ(table.at(48), 0);
}

std::string bond_of(const std::string& driver, const std::string& more = "") {
  const auto adapter = "{ \"driver\": \"" + driver + "\"" + more + " }";
  return R"({
  "links": [{ "name": "bond0", "kind": "bond", "over": ["eth0", "eth1"], "up": true, "items": ["route default via 203.0.113.254"] },
            { "name": "eth0", "up": true }, { "name": "eth1", "up": true }],
  "dcb": { "eth0": )" +
         adapter + ", \"eth1\": " + adapter + " } }";
}
const std::string kBond = bond_of("mlx5_core");
constexpr const char* kLosslessBond = "[[lossless]]\ninterface = \"bond0\"\n";

// mlx5 en_dcbnl.c:394, port.c:188: the port goes down and comes back; hns3, bnxt and i40e do so for ETS too.
TEST(DcbOfABond, OnePortIsDownAtATime) {
  for (const char* driver : {"mlx5_core", "hns3", "bnxt_en", "i40e"}) {
    SCOPED_TRACE(driver);
    const auto kernel = FakeKernel::parse(bond_of(driver));
    const auto report = apply_text(*kernel, kLosslessBond);
    EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
    EXPECT_EQ(kernel->dcb.most_legs_down, 1U);
    EXPECT_TRUE(kernel->link("eth0").carrier && kernel->link("eth1").carrier);
  }
}

// ice_dcb_nl.c of Linux 6.6 and later: "DCB changes not allowed when in a bond".
TEST(DcbOfABond, NewerIceIsNotAsked) {
  const auto kernel = FakeKernel::parse(bond_of("ice", ", \"refuses_in_bond\": true"));
  for (const char* release : {"6.12.9-amd64\n", "6.6.0\n", "7.0.1\n", ""}) {
    SCOPED_TRACE(release);
    kernel->files.content["/proc/sys/kernel/osrelease"] = release;
    const auto report = apply_text(*kernel, kLosslessBond);
    EXPECT_EQ(report.exit, Exit::kError) << text_of(report);
    EXPECT_THAT(everything_said(report), HasSubstr("ip link set dev eth0 nomaster"));
    EXPECT_EQ(kernel->faults.calls(), 0U);
  }
}

TEST(DcbOfABond, OlderIceIs) {
  const auto kernel = FakeKernel::parse(bond_of("ice"));
  kernel->files.content["/proc/sys/kernel/osrelease"] = "6.1.0-18-amd64\n";
  const auto report = apply_text(*kernel, kLosslessBond);
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
}

TEST(DcbOfABond, AlsoWhenItIsUndone) {
  const auto twin = FakeKernel::parse(kBond);
  (void)apply_text(*twin, kLosslessBond);
  const auto calls = twin->faults.calls();
  for (std::size_t n = 1; n <= calls; ++n) {
    const auto& call = twin->faults.log()[n - 1];
    if (call.find("PFC") == std::string::npos && call.find("ETS") == std::string::npos) continue;
    const auto kernel = FakeKernel::parse(kBond);
    kernel->faults.fail_at(n, EIO);
    const auto report = apply_text(*kernel, kLosslessBond);
    EXPECT_LE(kernel->dcb.most_legs_down, 1U) << n << ": " << call;
    EXPECT_EQ(report.exit, Exit::kUndone) << text_of(report);
  }
}

TEST(DcbOfABond, AnotherPortIsLeftAloneWhileOneDoesNotComeBack) {
  const auto kernel = FakeKernel::parse(kBond);
  kernel->dcb.lost_at_retraining.insert("eth0");
  const auto report = apply_text(*kernel, kLosslessBond);
  EXPECT_FALSE(applied(report));
  ASSERT_TRUE(report.error);
  EXPECT_THAT(report.error->message, HasSubstr("eth1 is left unchanged: eth0"));
  EXPECT_EQ(kernel->dcb.interfaces.at("eth1").pfc, 0);
  EXPECT_TRUE(kernel->link("eth1").carrier);
}

// dcb-apptrust(8): of Linux 6.2, and of drivers with dcbnl_setapptrust().
const std::string kTrust =
    std::string(kPfc) + "priorities = [3]\ndscp = [\"26:3\"]\ntrust = [\"dscp\", \"pcp\"]\n";

std::unique_ptr<FakeKernel> kernel_of(const std::string& release, const std::string& dcb) {
  auto kernel = FakeKernel::parse(host_with(dcb));
  kernel->files.content["/proc/sys/kernel/osrelease"] = release + "\n";
  return kernel;
}

bool asked_for_trust(const FakeKernel& kernel) {
  return std::any_of(kernel.faults.log().begin(), kernel.faults.log().end(),
                     [](const auto& call) { return call.find("trust") != std::string::npos; });
}

TEST(DcbOrderOfTrust, IsSetAndGoesBack) {
  const auto kernel = kernel_of("6.12.9-amd64", R"("trust": ["pcp"])");
  const auto before = kernel->dump(kVisible);
  const auto report = apply_text(*kernel, kTrust);
  EXPECT_EQ(report.exit, Exit::kOk) << everything_said(report);
  EXPECT_EQ(kernel->dcb.interfaces.at("eth0").trust, (std::vector<std::uint8_t>{5, 255}));
  kernel->faults.clear();
  const auto again = apply_text(*kernel, kTrust);
  EXPECT_EQ(again.exit, Exit::kOk) << everything_said(again);
  EXPECT_EQ(kernel->faults.calls(), 0U);
  const auto dropped = apply_text(*kernel, "");
  EXPECT_EQ(dropped.exit, Exit::kOk) << everything_said(dropped);
  EXPECT_EQ(difference(kernel->dump(kVisible), before), "");
}

TEST(DcbOrderOfTrust, OfAnOlderKernelIsPendingAndTheRestIsSet) {
  const auto kernel = kernel_of("6.1.0-18-amd64", R"("driver": "mlx5_core")");
  const auto report = apply_text(*kernel, kTrust);
  EXPECT_EQ(report.exit, Exit::kPartly) << everything_said(report);
  EXPECT_THAT(everything_said(report), HasSubstr("Linux 6.1.0-18-amd64 does not support an order of trust"));
  EXPECT_TRUE(model::has_status(report, model::Status::kPending));
  EXPECT_THAT(kernel->dump(), HasSubstr("pfc 0x08"));
  EXPECT_THAT(kernel->dump(), HasSubstr("app 5 26 -> 3"));
  EXPECT_FALSE(asked_for_trust(*kernel));
}

TEST(DcbOrderOfTrust, OfADriverWithoutIsLimitedAndTheRestIsSet) {
  const auto kernel = kernel_of("6.12.9-amd64", R"("driver": "mlx5_core")");
  const auto report = apply_text(*kernel, kTrust);
  EXPECT_EQ(report.exit, Exit::kPartly) << everything_said(report);
  EXPECT_THAT(everything_said(report), HasSubstr("mlx5_core trusts DSCPs once dscp lists any"));
  EXPECT_TRUE(model::has_status(report, model::Status::kLimited));
  EXPECT_THAT(kernel->dump(), HasSubstr("pfc 0x08"));
  EXPECT_FALSE(asked_for_trust(*kernel));
}

TEST(DcbOrderOfTrust, IsNoConditionForDocumentsWithoutIt) {
  for (const char* dcb : {R"("driver": "mlx5_core")", R"("trust": ["pcp"])"}) {
    for (const char* release : {"6.1.0-18-amd64", "6.12.9-amd64"}) {
      const auto kernel = kernel_of(release, dcb);
      const auto report = apply_text(*kernel, std::string(kPfc) + "priorities = [3]\n");
      EXPECT_EQ(report.exit, Exit::kOk) << everything_said(report);
      EXPECT_FALSE(asked_for_trust(*kernel)) << release;
    }
  }
}

// sparx5_dcb_apptrust_validate(): EOPNOTSUPP. The kernel's list of what a driver takes cannot be read.
TEST(DcbOrderOfTrust, ThatTheDriverDoesNotTakeIsUndone) {
  const auto kernel = kernel_of("6.12.9-amd64", R"("trust": ["pcp"])");
  const auto before = kernel->dump(kVisible);
  const auto report = apply_text(
      *kernel, std::string(kPfc) + "priorities = [3]\ndscp = [\"26:3\"]\ntrust = [\"pcp\", \"dscp\"]\n");
  EXPECT_FALSE(applied(report));
  ASSERT_TRUE(report.error);
  EXPECT_THAT(report.error->message, HasSubstr("does not take trust = [pcp, dscp]"));
  EXPECT_EQ(difference(kernel->dump(kVisible), before), "");
}

}  // namespace
}  // namespace rdmacfg::contract
