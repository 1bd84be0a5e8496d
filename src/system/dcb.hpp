// SPDX-License-Identifier: Apache-2.0
// Data center bridging of Ethernet interfaces, in our words. Sources: IEEE 802.1Qaz, linux/dcbnl.h,
// net/dcb/dcbnl.c; for the order of trust those of Linux 6.2.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::system {

/// How a traffic class is served (IEEE_8021QAZ_TSA_*).
enum class Tsa : std::uint8_t { kStrict = 0, kShaper = 1, kEts = 2, kVendor = 255 };

/// Enhanced transmission selection.
struct Ets {
  std::array<std::uint8_t, 8> traffic_class{};  ///< of each priority
  std::array<Tsa, 8> tsa{};                     ///< of each traffic class
  std::array<std::uint8_t, 8> bandwidth{};      ///< percent, of each traffic class
  bool willing = false;                         ///< takes what the peer recommends
  auto operator<=>(const Ets&) const = default;
};

/// An entry of the application table. Selector 5: protocol is a DSCP.
struct DcbApp {
  std::uint8_t selector = 0;
  std::uint16_t protocol = 0;
  std::uint8_t priority = 0;
  auto operator<=>(const DcbApp&) const = default;
};

constexpr std::uint8_t kDcbSelectorDscp = 5;   ///< IEEE_8021QAZ_APP_SEL_DSCP
constexpr std::uint8_t kDcbSelectorPcp = 255;  ///< DCB_APP_SEL_PCP, of Linux 6.2: the VLAN tag's priority

constexpr std::uint8_t kDcbxHost = 0x01;      ///< the host negotiates, not the adapter's firmware
constexpr std::uint8_t kDcbxFirmware = 0x02;  ///< DCB_CAP_DCBX_LLD_MANAGED
constexpr std::uint8_t kDcbxVersionCee = 0x04;
constexpr std::uint8_t kDcbxVersionIeee = 0x08;

/// An interface's DCB settings. Settings that its driver does not offer, or cannot read at the moment (a
/// firmware reset), is not there: dcbnl_ieee_fill() leaves out what the driver refuses.
struct DcbState {
  std::string driver{};  ///< of the interface's device, as sysfs has it: "mlx5_core"; empty: not known
  std::optional<std::uint8_t> pfc;  ///< priorities with flow control, bit N is priority N
  std::uint8_t pfc_capability = 0;  ///< how many traffic classes may have it at once (pfc_cap); 0: not said
  std::optional<Ets> ets;
  std::uint8_t classes = 0;  ///< how many traffic classes there are (ets_cap); 0: not said
  std::vector<DcbApp> apps;  ///< sorted; the same one may be there twice
  std::optional<std::uint8_t> dcbx;
  /// Selectors of the application table that the adapter trusts, in order of precedence; empty: none. Nothing
  /// where the kernel (before Linux 6.2) or the driver has no order of trust.
  std::optional<std::vector<std::uint8_t>> trust{};
};

class Dcb {
 public:
  virtual ~Dcb() = default;

  /// Nothing when the interface is not there or has no IEEE DCB at all.
  virtual base::Result<std::optional<DcbState>> observe_dcb(const std::string& interface) = 0;

  /// A request that the driver accepts without changing anything is not an error (ice answers with 1 or 2):
  /// only reading back tells what became of a request. Where the driver takes the link down for it, set_pfc()
  /// returns when the carrier has begun to go.
  virtual base::Result<void> set_pfc(const std::string& interface, std::uint8_t priorities) = 0;
  virtual base::Result<void> set_ets(const std::string& interface, const Ets& ets) = 0;
  virtual base::Result<void> add_app(const std::string& interface, const DcbApp& app) = 0;
  virtual base::Result<void> delete_app(const std::string& interface, const DcbApp& app) = 0;
  virtual base::Result<void> set_dcbx(const std::string& interface, std::uint8_t mode) = 0;

  /// Only where DcbState::trust is there: kernels before Linux 6.2 ignore the request and say that it is
  /// done. EOPNOTSUPP: the driver does not take this order.
  virtual base::Result<void> set_trust(const std::string& interface,
                                       const std::vector<std::uint8_t>& selectors) = 0;
};

}  // namespace rdmacfg::system
