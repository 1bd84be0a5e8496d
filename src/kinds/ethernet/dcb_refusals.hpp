// SPDX-License-Identifier: Apache-2.0
// Sets of data center bridging that a driver would refuse, by its row in dcb_drivers.hpp: found before
// anything is written, each with the remedy of that driver.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kinds/ethernet/dcb.hpp"
#include "kinds/ethernet/dcb_drivers.hpp"

namespace rdmacfg::kinds {

/// Settings that cannot be made, found before anything is tried.
struct DcbRefusal {
  std::string field;
  std::string why;
  std::string hint;
};

/// Why a set would be refused as DCBX stands, or as it stands once `wanted` is set; nothing: it would not.
std::optional<DcbRefusal> why_not_ours(const DcbDriver& driver, const std::string& interface,
                                       const system::DcbState& state, std::optional<model::Dcbx> wanted);

/// Why a set would be refused in a bond. `release`: of the kernel, "6.12.9-amd64"; one that is not known is
/// taken as a new one.
std::optional<DcbRefusal> why_not_bonded(const DcbDriver& driver, const std::string& interface,
                                         const std::string& bond, std::string_view release);

/// Why an interface has no order of trust.
struct MissingTrust {
  bool by_kernel = false;  ///< this kernel has none for any driver
  std::string why;
};

/// `release`: of the kernel, as above. Linux has the order since 6.2 (dcbnl_setapptrust()).
MissingTrust why_no_trust(const DcbDriver& driver, const std::string& interface,
                          const system::DcbState& state, std::string_view release);

/// Why ETS would be refused.
std::optional<DcbRefusal> why_not_ets(const DcbDriver& driver, const std::string& interface,
                                      const system::DcbState& state, const system::Ets& ets);

/// Why DSCP entries would be refused, or would be without effect.
std::optional<DcbRefusal> why_not_dscp(const DcbDriver& driver, const std::string& interface,
                                       const system::DcbState& state, const model::DscpMap& dscp);

}  // namespace rdmacfg::kinds
