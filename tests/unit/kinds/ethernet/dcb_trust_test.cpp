// SPDX-License-Identifier: Apache-2.0
// The order of trust: which selector gives a packet its priority, and why an interface has no order.
#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kinds/ethernet/dcb_classes.hpp"
#include "kinds/ethernet/dcb_refusals.hpp"

namespace rdmacfg::kinds {
namespace {

using model::TrustOrder;
using model::TrustSelector;

constexpr std::uint8_t kTrustHost = system::kDcbxHost | system::kDcbxVersionIeee;
constexpr auto kByDscp = TrustSelector::kDscp, kByPcp = TrustSelector::kPcp;

struct TrustCase {
  std::string driver;
  std::optional<TrustOrder> trust;
  bool dscps = false;  ///< the interface has DSCPs
  std::uint8_t dcbx = kTrustHost;
  std::string classified_by;
};

TEST(DcbTrust, TheFirstSelectorThatLeadsToAPriorityDecides) {
  const std::vector<TrustCase> cases{
      // Without an order the driver decides.
      {"", std::nullopt, true, kTrustHost, "DSCP"},
      {"", std::nullopt, false, kTrustHost, "VLAN priority"},
      {"mlx4_core", std::nullopt, true, kTrustHost, "VLAN priority"},
      {"", TrustOrder{{kByDscp, kByPcp}}, true, kTrustHost, "DSCP"},
      {"", TrustOrder{{kByDscp, kByPcp}}, false, kTrustHost, "VLAN priority"},
      {"", TrustOrder{{kByPcp, kByDscp}}, true, kTrustHost, "VLAN priority"},
      {"", TrustOrder{{kByPcp}}, true, kTrustHost, "VLAN priority"},
      {"", TrustOrder{{kByDscp}}, false, kTrustHost, "default priority"},
      {"", TrustOrder{{TrustSelector::kEthertype, kByDscp}}, true, kTrustHost, "DSCP"},
      {"", TrustOrder{}, true, kTrustHost, "default priority"},
      {"", TrustOrder{{kByDscp}}, true, system::kDcbxFirmware, "firmware"}};
  for (const auto& tested : cases) {
    const auto dscps = tested.dscps ? model::DscpMap{{{26, 3}}} : model::DscpMap{};
    EXPECT_EQ(text_of(classifier_of(dcb_driver(tested.driver), dscps, tested.dcbx, tested.trust)),
              tested.classified_by)
        << tested.driver << ' '
        << (tested.trust ? model::text_of(model::Codec<TrustOrder>::value(*tested.trust)) : "no order");
  }
}

TEST(DcbTrust, TheSwitchPortTrustsTheSame) {
  const auto port = [](TrustOrder trust) {
    return switch_port_of(dcb_driver(""), model::Priorities{1U << 3U}, model::DscpMap{{{26, 3}}}, kTrustHost,
                          trust);
  };
  EXPECT_EQ(port(TrustOrder{{kByDscp, kByPcp}}), "PFC on priority 3; trust DSCP: 26 is priority 3");
  EXPECT_EQ(port(TrustOrder{{kByPcp}}), "PFC on priority 3; trust 802.1p");
}

TEST(DcbTrust, IsReadAsTheDocumentWritesIt) {
  system::DcbState state;
  EXPECT_FALSE(trust_of(state));
  state.trust.emplace();
  EXPECT_EQ(trust_of(state), TrustOrder{});
  state.trust = std::vector<std::uint8_t>{5, 7, 255, 5};  // 7 is reserved
  EXPECT_EQ(trust_of(state), (TrustOrder{{kByDscp, kByPcp}}));
}

struct MissingCase {
  std::string driver;
  std::string release;
  bool by_kernel = false;
  std::string why;
};

TEST(DcbTrust, AMissingOrderNamesKernelOrDriver) {
  const std::string kernel =
      " does not support an order of trust; Linux 6.2 and later do, with drivers that have it";
  const std::vector<MissingCase> cases{
      {"mlx5_core", "6.1.0-18-amd64", true, "trust: Linux 6.1.0-18-amd64" + kernel},
      {"", "5.14.0-427.el9.x86_64", true, "trust: Linux 5.14.0-427.el9.x86_64" + kernel},
      {"mlx5_core", "6.2.0", false,
       "trust: mlx5_core does not support an order of trust on Linux 6.2.0; leave trust out: mlx5_core "
       "trusts "
       "DSCPs once dscp lists any"},
      {"i40e", "6.12.9-amd64", false,
       "trust: i40e does not support an order of trust on Linux 6.12.9-amd64; leave trust out: i40e trusts "
       "the VLAN priority"},
      {"sfc", "7.0", false, "trust: sfc does not support an order of trust on Linux 7.0; leave trust out"},
      {"", "", false,
       "trust: the driver of eth0 does not support an order of trust on this kernel; leave trust out"}};
  for (const auto& tested : cases) {
    system::DcbState state;
    state.driver = tested.driver;
    const auto missing = why_no_trust(dcb_driver(tested.driver), "eth0", state, tested.release);
    EXPECT_EQ(missing.by_kernel, tested.by_kernel) << tested.release;
    EXPECT_EQ(missing.why, tested.why);
  }
}

}  // namespace
}  // namespace rdmacfg::kinds
