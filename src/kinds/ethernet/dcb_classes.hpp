// SPDX-License-Identifier: Apache-2.0
// Traffic classes as an adapter's driver has them (dcb_drivers.hpp): which ones there are, which are in use,
// and how each is served; and what gives packets their priority.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/ethernet/dcb.hpp"
#include "kinds/ethernet/dcb_drivers.hpp"

namespace rdmacfg::kinds {

/// Whether an agent in the firmware has DCB (DCB_CAP_DCBX_LLD_MANAGED).
bool firmware_has_dcb(std::uint8_t bits);

/// The classes that priorities lead to.
model::ClassSet classes_in_use(const std::array<std::uint8_t, model::kPriorities>& of);

/// How many traffic classes an interface has.
unsigned classes_of(const system::DcbState& state);

/// Whether priorities are (or are going to be) classes by themselves, whatever ETS says.
bool has_identity(const DcbDriver& driver, const InterfaceDcb& wanted, const InterfaceDcb& now);

/// The class of each priority once `wanted` is set.
model::TrafficClasses classes_then(const DcbDriver& driver, const InterfaceDcb& wanted,
                                   const system::DcbState& state);

/// ETS as it must be written for `wanted`; other values stay. A class that no priority leads to and
/// that has no share is strict without a share, which every driver takes, and beyond the adapter's last class
/// nothing is claimed.
system::Ets ets_for(const DcbDriver& driver, const InterfaceDcb& wanted, const system::DcbState& state);

/// The order of trust as a document writes it; nothing where the interface has none.
std::optional<model::TrustOrder> trust_of(const system::DcbState& state);

/// The source of a packet's priority.
enum class Classifier { kDscp, kVlanPriority, kDefaultPriority, kFirmware };

/// "VLAN priority"
std::string_view text_of(Classifier classifier);

/// With an order of trust the first selector that leads to a priority; without one the driver decides.
Classifier classifier_of(const DcbDriver& driver, const model::DscpMap& dscp,
                         std::optional<std::uint8_t> dcbx, const std::optional<model::TrustOrder>& trust);

/// The requirements on the switch port for `settings`: "PFC on priority 3; trust DSCP, 26 is priority 3".
std::string switch_port_of(const DcbDriver& driver, const model::Priorities& lossless,
                           const model::DscpMap& dscp, std::optional<std::uint8_t> dcbx,
                           const std::optional<model::TrustOrder>& trust);

/// The shares as a document writes them: of ETS classes alone.
model::Bandwidth shares_of(const system::Ets& ets);

/// How each class is served; "idle" where nothing leads to it and it has no share.
std::vector<std::string> algorithms_of(const system::Ets& ets);

/// The algorithms of the classes, given those that the document asks for, or that were there before it: which
/// classes are idle may have changed since. `now`: those of the adapter.
std::vector<std::string> algorithms_for(const std::vector<std::string>& asked,
                                        const model::TrafficClasses& of, const model::Bandwidth& shares,
                                        const std::vector<std::string>& now);

}  // namespace rdmacfg::kinds
