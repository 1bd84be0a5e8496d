// SPDX-License-Identifier: Apache-2.0
// Refusals of each driver in words: the field, why, and the remedy of that driver.
#include "kinds/ethernet/dcb_refusals.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rdmacfg::kinds {
namespace {

constexpr std::uint8_t kHostIs = system::kDcbxHost, kAgent = system::kDcbxFirmware,
                       kCeeMode = system::kDcbxVersionCee, kIeeeMode = system::kDcbxVersionIeee;
constexpr const char* kNoRefusal = "none";

std::string words_of(const std::optional<DcbRefusal>& refusal) {
  return refusal ? refusal->field + " | " + refusal->why + " | " + refusal->hint : kNoRefusal;
}

struct DcbxCase {
  std::string driver;
  unsigned bits = 0;
  std::optional<model::Dcbx> wanted;
  std::string words;
};

void expect_refusals(const std::vector<DcbxCase>& cases) {
  for (const auto& row : cases) {
    system::DcbState state;
    state.driver = row.driver;
    state.dcbx = static_cast<std::uint8_t>(row.bits);
    EXPECT_EQ(words_of(why_not_ours(dcb_driver(row.driver), "eth0", state, row.wanted)), row.words)
        << row.driver << " with DCBX " << row.bits;
  }
}

TEST(DcbRefusals, OfDcbxNameTheRemedyOfTheDriver) {
  constexpr auto kHost = model::Dcbx::kHost, kFirmware = model::Dcbx::kFirmware;
  const std::vector<DcbxCase> cases{
      {"qede", kAgent | kIeeeMode, kHost,
       "dcbx | qede leaves DCBX of eth0 to the firmware in any case | leave dcbx out"},
      {"mlx4_core", kAgent, kHost,
       "dcbx | the firmware's agent controls DCBX of eth0, and mlx4_core cannot take it over | "},
      {"ice", kAgent | kIeeeMode, kHost,
       "dcbx | the firmware's agent controls DCBX of eth0, and ice cannot take it over | run: ethtool "
       "--set-priv-flags eth0 fw-lldp-agent off"},
      {"i40e", kAgent | kIeeeMode, kHost,
       "dcbx | the firmware's agent controls DCBX of eth0, and i40e cannot take it over | run: ethtool "
       "--set-priv-flags eth0 disable-fw-lldp on"},
      {"bnxt_en", kAgent | kIeeeMode, kHost,
       "dcbx | the firmware's agent controls DCBX of eth0, and bnxt_en cannot take it over | switch the "
       "agent off "
       "in NVRAM (niccli or bnxtnvm: dcbx_mode = disabled for the port of eth0), and reboot"},
      {"bnxt_en", kIeeeMode, kHost,
       "dcbx | bnxt_en does not let the host control DCBX of eth0 | the firmware's LLDP agent runs DCBX, or "
       "eth0 "
       "is a virtual function: switch LLDP and DCBX of the port off in NVRAM (niccli or bnxtnvm: "
       "lldp_nearest_bridge, dcbx_mode), and reboot"},
      {"mlx4_core", kHostIs | kIeeeMode, kFirmware,
       "dcbx | mlx4_core does not give DCBX of eth0 to the firmware | its firmware does not negotiate DCBX"},
      {"hns3", kHostIs | kIeeeMode, kFirmware,
       "dcbx | hns3 does not give DCBX of eth0 to the firmware | its firmware does not negotiate DCBX"},
      {"ice", kHostIs | kIeeeMode, kFirmware,
       "dcbx | ice does not give DCBX of eth0 to the firmware | run: ethtool --set-priv-flags eth0 "
       "fw-lldp-agent on"},
      {"i40e", kHostIs | kIeeeMode, kFirmware,
       "dcbx | i40e does not give DCBX of eth0 to the firmware | run: ethtool --set-priv-flags eth0 "
       "disable-fw-lldp off"},
      {"bnxt_en", kHostIs | kIeeeMode, kFirmware,
       "dcbx | bnxt_en does not give DCBX of eth0 to the firmware | no agent would run DCBX then; NVRAM "
       "enables the firmware's agent"},
      {"mlx5_core", kHostIs | kIeeeMode, kFirmware, kNoRefusal},
      {"bnxt_en", 0, kHost, kNoRefusal},
  };
  expect_refusals(cases);
}

TEST(DcbRefusals, OfEverySettingNameTheRemedyOfTheDriver) {
  const std::vector<DcbxCase> cases{
      {"qede", kAgent | kIeeeMode, std::nullopt,
       " | qede accepts settings for eth0 without effect: the values negotiated between the switch and the "
       "firmware stay in force | have the switch port recommend the settings by DCBX, and write the "
       "recommended ones here"},
      {"ice", kAgent | kIeeeMode, std::nullopt,
       " | the firmware's agent controls DCB of eth0: ice refuses every setting | run: ethtool "
       "--set-priv-flags "
       "eth0 fw-lldp-agent off"},
      {"cxgb4", kAgent | kIeeeMode, std::nullopt,
       " | the firmware's agent controls DCB of eth0: its driver refuses every setting | switch the agent of "
       "the "
       "adapter's firmware off, or write dcbx = \"host\" if its driver takes that"},
      {"ice", kHostIs | kCeeMode, std::nullopt,
       " | ice refuses every setting of eth0 while DCBX is not in IEEE mode (DCBX 0x05) | run: dcb dcbx set "
       "dev eth0 host ieee"},
      {"i40e", kHostIs | kCeeMode, std::nullopt,
       " | i40e refuses every setting of eth0 while DCBX is not in IEEE mode (DCBX 0x05) | run: dcb dcbx set "
       "dev eth0 host ieee"},
      {"hns3", 0, std::nullopt,
       " | hns3 refuses every setting of eth0 while DCBX is not in IEEE mode (DCBX 0x00) | mqprio owns the "
       "queues; run: tc qdisc del dev eth0 root"},
      {"bnxt_en", kIeeeMode, std::nullopt,
       " | bnxt_en refuses every setting of eth0 while the host does not control DCBX (DCBX 0x08) | the "
       "firmware's LLDP agent runs DCBX, or eth0 is a virtual function: switch LLDP and DCBX of the port off "
       "in NVRAM (niccli or bnxtnvm: lldp_nearest_bridge, dcbx_mode), and reboot"},
      {"bnxt_en", 0, std::nullopt,
       " | bnxt_en refuses every setting of eth0 while the host does not control DCBX (DCBX 0x00) | write "
       "dcbx "
       "= \"host\""},
      {"ice", kHostIs | kIeeeMode, std::nullopt, kNoRefusal},
  };
  expect_refusals(cases);
}

TEST(DcbRefusals, InABondAreOfNewerKernels) {
  const std::string refused =
      " | ice refuses every setting of eth0 while it is in bond0 | remove it from bond0 during the apply: ip "
      "link "
      "set dev eth0 nomaster";
  const std::vector<std::array<std::string, 3>> cases{
      {"ice", "6.1.0-28-amd64", kNoRefusal}, {"ice", "6.5.13", kNoRefusal}, {"ice", "6.6.0", refused},
      {"ice", "6.12.9-amd64", refused},      {"ice", "7.0", refused},       {"ice", "", refused},
      {"mlx5_core", "6.12.9", kNoRefusal}};
  for (const auto& [driver, release, words] : cases)
    EXPECT_EQ(words_of(why_not_bonded(dcb_driver(driver), "eth0", "bond0", release)), words)
        << driver << ' ' << release;
}

struct EtsCase {
  std::string driver;
  std::array<std::uint8_t, 8> traffic_class{};
  std::array<std::uint8_t, 8> shares{};  ///< of classes that are ETS; the others are strict
  std::string words;
  bool strict = false;  ///< all are
};

TEST(DcbRefusals, OfTrafficClassesAndShares) {
  const std::vector<EtsCase> cases{
      {"mlx5_core",
       {0, 0, 0, 5},
       {100},
       "traffic_classes | priority 3 maps to traffic class 5, and eth0 has 3 "
       "(0 to 2) | "},
      {"mlx5_core",
       {},
       {90, 0, 0, 0, 0, 10},
       "bandwidth | traffic class 5 has a share, and eth0 has 3 (0 to 2) "
       "| "},
      {"ice",
       {},
       {50, 50},
       "bandwidth | no priority maps to traffic class 1, so ice gives it no share | leave "
       "its share out, or map a priority to it in traffic_classes"},
      {"bnxt_en",
       {0, 1},
       {100, 0},
       "bandwidth | traffic class 1 is in use, and bnxt_en refuses a share of 0 "
       "percent | give it a share, or name it in strict"},
      {"mlx5_core",
       {},
       {60},
       "bandwidth | the classes of eth0 that share the bandwidth would have 60 percent "
       "together | write bandwidth with shares that add up to 100"},
      {"ice",
       {0, 2},
       {},
       "traffic_classes | ice needs traffic classes from 0 on without a gap | number those in "
       "use from 0 to 1",
       true},
      {"mlx5_core", {0, 2}, {}, kNoRefusal, true},
      {"mlx5_core", {0, 1}, {60, 40}, kNoRefusal},
  };
  for (const auto& row : cases) {
    system::DcbState state;
    state.driver = row.driver;
    state.classes = 3;
    system::Ets ets;
    ets.traffic_class = row.traffic_class;
    ets.bandwidth = row.shares;
    ets.tsa.fill(row.strict ? system::Tsa::kStrict : system::Tsa::kEts);
    EXPECT_EQ(words_of(why_not_ets(dcb_driver(row.driver), "eth0", state, ets)), row.words);
  }
}

TEST(DcbRefusals, OfDscps) {
  const std::vector<std::array<std::string, 2>> cases{
      {"mlx4_core",
       "dscp | eth0 classifies by VLAN priority: the kernel keeps DSCPs for mlx4_core, the adapter never "
       "sees "
       "them | leave dscp out, and give RoCE a VLAN interface whose egress-qos-map maps to the lossless "
       "priority"},
      {"qede",
       "dscp | qede accepts no DSCPs for eth0 | leave dscp out; the switch decides by DCBX which traffic has "
       "which "
       "priority"},
      {"ice", "dscp | DSCP 26 has priority 3, and ice takes priorities below its 3 traffic classes | "},
      {"mlx5_core", kNoRefusal}};
  for (const auto& [driver, words] : cases) {
    system::DcbState state;
    state.driver = driver;
    state.classes = 3;
    EXPECT_EQ(words_of(why_not_dscp(dcb_driver(driver), "eth0", state, model::DscpMap{{{26, 3}}})), words);
    EXPECT_EQ(words_of(why_not_dscp(dcb_driver(driver), "eth0", state, model::DscpMap{})), kNoRefusal);
  }
}

/// The reason why an adapter cannot be asked now, and the priority of a DSCP that is not listed.
TEST(DcbDriversInWords, SayWhyAnAdapterCannotBeAskedAndWhatIsNotListed) {
  const std::vector<std::array<std::string, 3>> cases{
      {"mlx5_core", "the firmware does not answer: the adapter resets, or is in recovery", "priority 0"},
      {"mlx4_core", "", "the priority of its VLAN tag"},
      {"ice", "the adapter resets", "the priority that is its class selector (DSCP / 8)"},
      {"bnxt_en", "the firmware does not answer", "the priority that the firmware has for it"},
      {"hns3", "the adapter resets", "priority 0"},
      {"qede", "the switch has not negotiated DCBX in IEEE mode with its firmware", ""},
      {"i40e", "", "the priority of its VLAN tag"}};
  for (const auto& [name, silent, unlisted] : cases) {
    EXPECT_EQ(dcb_driver(name).cannot_be_asked, silent) << name;
    EXPECT_EQ(dcb_driver(name).unlisted, unlisted) << name;
  }
}

}  // namespace
}  // namespace rdmacfg::kinds
