// SPDX-License-Identifier: Apache-2.0
// The behaviour of Linux drivers of Ethernet adapters in data center bridging: one row per driver, each with
// its source. The next driver is one more row. A driver without a row is taken as the structures of its own
// answers say (ets_cap, pfc_cap, DCBX bits), and as one that may take the link down and close the device.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "system/dcb.hpp"

namespace rdmacfg::kinds {

/// Where DSCP entries of the APP table end up.
enum class DscpTrust {
  kUnknown,   ///< dcbnl keeps them also where the driver takes none (dcb_ieee_setapp()): nobody can tell
  kHardware,  ///< in the adapter
  kSoftware,  ///< in the kernel only; the adapter classifies by VLAN priority
  kNone,      ///< refused
};

/// When a driver lets the host have DCBX (DCB_CAP_DCBX_HOST).
enum class HostMode {
  kAsked,       ///< takes it
  kAgentOff,    ///< takes it unless the firmware's agent runs (DCB_CAP_DCBX_LLD_MANAGED)
  kNobodysNow,  ///< only where nobody has it: DCBX bits are 0
  kNever,
};

/// When the link goes down and comes back by itself.
enum class Retrains { kNever, kAtPfc, kAtAny };

struct DcbDriver {
  std::string_view name;    ///< as /sys/class/net/IF/device/driver has it
  std::string_view source;  ///< below drivers/net/ethernet of Linux 6.1
  DscpTrust dscp = DscpTrust::kUnknown;
  bool always_both = false;            ///< ETS and PFC are read back unless the adapter cannot be asked now
  std::string_view cannot_be_asked{};  ///< why, then
  std::uint8_t needs_bits = 0;         ///< DCBX bits without which it refuses every set
  std::string_view without_bits{};     ///< what to do about them, with {interface}
  bool agent_refuses = true;           ///< refuses every set while the firmware's agent runs
  std::string_view agent_off{};        ///< how to switch that off, with {interface}
  HostMode host = HostMode::kAsked;
  bool gives_back = true;         ///< takes "firmware": DCBX mode 0
  std::string_view give_back{};   ///< how else, where it does not, with {interface}
  bool zero_shares = true;        ///< takes a class that is used, ETS and has 0 percent
  bool idle_shares = true;        ///< takes a share for a class that no priority leads to
  bool contiguous = false;        ///< classes in use must be 0 to N
  bool identity_by_dscp = false;  ///< with DSCP entries priority N is class N, and the first one rewrites ETS
  bool priority_is_class = false;  ///< priorities of DSCPs must be below the number of classes
  /// Refuses another priority for a DSCP that has one, or has none for it once any of its entries is deleted.
  bool remap_by_delete = false;
  bool ets_before_pfc = false;  ///< refuses PFC until ETS was set once
  bool closes = false;          ///< closes and opens the device for a set: its routes and addresses go
  Retrains retrains = Retrains::kNever;  ///< the link goes down and comes back at a set
  bool reads_negotiated = false;         ///< what it reads back is what was negotiated, not what was set
  /// The driver accepts every set without effect; the remedy, with {interface}. Empty: sets have effect.
  std::string_view never_takes{};
  bool keeps_willing = false;  ///< "willing" is what was written last
  /// ets_cap is 0 from a set of anything else until ETS is set; pfc_cap from a set of DSCPs until PFC is.
  bool hides_classes = false;
  int refuses_in_bond_from = 0;  ///< kernel release from which it refuses every set in a bond: 606 is 6.6
  bool keeps_unlisted = false;   ///< DSCPs that are not listed keep what the firmware had for them
  std::string_view unlisted{};   ///< which priority a DSCP that is not listed has
};

/// The row of a driver, by what sysfs calls it ("mlx5_core.sf" is mlx5_core); that of unknown ones else.
const DcbDriver& dcb_driver(std::string_view name);

/// All rows, for tests and documents.
std::span<const DcbDriver> dcb_drivers();

}  // namespace rdmacfg::kinds
