// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/dcb_drivers.hpp"

#include <algorithm>
#include <array>

namespace rdmacfg::kinds {

namespace {

constexpr std::uint8_t kIeee = system::kDcbxVersionIeee;
constexpr std::uint8_t kHostIeee = system::kDcbxHost | system::kDcbxVersionIeee;

constexpr std::array<DcbDriver, 8> kDrivers{{
    // mlx5e_dcbnl_ieee_setets() refuses shares of ETS classes that are not 100 together, setpfc() retrains
    // (mlx5_toggle_port_link()), setapp() replaces; mlx5e_dcbnl_dscp_app() lists all 64 DSCPs after a reload,
    // and delapp() maps a DSCP to 0: see clear_unlisted() in dcb.cpp. DCBX is advisory: sets are taken while
    // the firmware has it.
    {.name = "mlx5_core",
     .source = "mellanox/mlx5/core/en_dcbnl.c:113-172, 258-301, 378-435, 446-550, 1131-1160",
     .dscp = DscpTrust::kHardware,
     .always_both = true,
     .cannot_be_asked = "the firmware does not answer: the adapter resets, or is in recovery",
     .retrains = Retrains::kAtPfc,
     .keeps_unlisted = true,
     .unlisted = "priority 0"},
    // No ieee_setapp: dcbnl_ieee_set() keeps entries in the kernel. setdcbx() takes host modes only, and
    // resets
    // ETS and PFC. mlx4_en_dcbnl_pfc_ops, of older boards, have no ETS.
    {.name = "mlx4_core",
     .source = "mellanox/mlx4/en_dcb_nl.c:308-342, 452-480, 710-760; net/dcb/dcbnl.c:1507-1510",
     .dscp = DscpTrust::kSoftware,
     .host = HostMode::kAgentOff,
     .gives_back = false,
     .give_back = "its firmware does not negotiate DCBX",
     .unlisted = "the priority of its VLAN tag"},
    // ice_dcbnl_devreset() closes and opens the device at each effective set; the first DSCP entry rewrites
    // ETS
    // (TC0 100 %, priority N is TC N), and setets() then leaves prio_tc alone; a mapped DSCP is refused.
    // ice_dcb_bwchk() sums shares over the contiguous classes in use, of one class it makes them 100. The
    // last
    // request is put into force as a whole, and of that maxtcs is filled in by setets() alone. Linux 6.6 and
    // later: no change while pf->lag->bonded.
    {.name = "ice",
     .source =
         "intel/ice/ice_dcb_nl.c:14-25, 69-111, 157-182, 257-281, 708-815, 824-918; ice_dcb_lib.c:311-341",
     .dscp = DscpTrust::kHardware,
     .always_both = true,
     .cannot_be_asked = "the adapter resets",
     .needs_bits = kIeee,
     .without_bits = "run: dcb dcbx set dev {interface} host ieee",
     .agent_off = "run: ethtool --set-priv-flags {interface} fw-lldp-agent off",
     .host = HostMode::kAgentOff,
     .gives_back = false,
     .give_back = "run: ethtool --set-priv-flags {interface} fw-lldp-agent on",
     .idle_shares = false,
     .contiguous = true,
     .identity_by_dscp = true,
     .priority_is_class = true,
     .remap_by_delete = true,
     .closes = true,
     .retrains = Retrains::kAtAny,
     .keeps_willing = true,
     .hides_classes = true,
     .refuses_in_bond_from = 606,
     .unlisted = "the priority that is its class selector (DSCP / 8)"},
    // bnxt_ets_validate() refuses a class that has a share or is ETS above max_tc, and one in use with 0
    // percent
    // where the others have 100; queue_pfc_cfg() refuses PFC before ETS was set; setdcbx(0) is taken, after
    // which nobody has DCBX and every set is refused. The firmware's values are set in NVRAM.
    // bnxt_dcbnl_ieee_delapp() clears the mask of a DSCP in the adapter, whatever priority it has by then
    // (bnxt_hwrm_queue_dscp2pri_cfg()).
    {.name = "bnxt_en",
     .source = "broadcom/bnxt/bnxt_dcb.c:248-297, 468-513, 557-590, 618-644, 731-755, 766-782",
     .dscp = DscpTrust::kHardware,
     .always_both = true,
     .cannot_be_asked = "the firmware does not answer",
     .needs_bits = kHostIeee,
     .without_bits = "the firmware's LLDP agent runs DCBX, or {interface} is a virtual function: switch LLDP "
                     "and DCBX of the port off in NVRAM (niccli or bnxtnvm: lldp_nearest_bridge, "
                     "dcbx_mode), and reboot",
     .agent_off = "switch the agent off in NVRAM (niccli or bnxtnvm: dcbx_mode = disabled for the port of "
                  "{interface}), and reboot",
     .host = HostMode::kNobodysNow,
     .gives_back = false,
     .give_back = "no agent would run DCBX then; NVRAM enables the firmware's agent",
     .zero_shares = false,
     .idle_shares = false,
     .remap_by_delete = true,
     .ets_before_pfc = true,
     .retrains = Retrains::kAtAny,
     .unlisted = "the priority that the firmware has for it"},
    // hclge_ets_sch_mode_validate() refuses ETS for a class above those in use, and with 0 percent;
    // hns3_nic_resetting() makes every call EBUSY; mqprio takes DCBX away. Sets bring the client down and up.
    {.name = "hns3",
     .source =
         "hisilicon/hns3/hns3pf/hclge_dcb.c:45-66, 80-110, 126-173, 243-293, 313-367, 369-455, 457-487; "
         "hns3/hns3_dcbnl.c:7-115",
     .dscp = DscpTrust::kHardware,
     .always_both = true,
     .cannot_be_asked = "the adapter resets",
     .needs_bits = kIeee,
     .without_bits = "mqprio owns the queues; run: tc qdisc del dev {interface} root",
     .host = HostMode::kAgentOff,
     .gives_back = false,
     .give_back = "its firmware does not negotiate DCBX",
     .zero_shares = false,
     .idle_shares = false,
     .retrains = Retrains::kAtAny,
     .unlisted = "priority 0"},
    // Everything is refused unless DCBX was negotiated in IEEE mode, and reads back the negotiated values.
    // Settings by IEEE messages are kept (hw_commit 0) for the CEE message SET_ALL. It does not know the
    // selector DSCP, and
    // there is no delapp.
    {.name = "qede",
     .source = "qlogic/qed/qed_dcbx.c:1201-1214, 1539-1560, 1638-1655, 1806-1851, 2032-2080, 2087-2125, "
               "2134-2235",
     .dscp = DscpTrust::kNone,
     .always_both = true,
     .cannot_be_asked = "the switch has not negotiated DCBX in IEEE mode with its firmware",
     .needs_bits = kIeee,
     .without_bits = "switch DCBX of the switch port to IEEE mode",
     .agent_refuses = false,
     .host = HostMode::kNever,
     .reads_negotiated = true,
     .never_takes =
         "have the switch port recommend the settings by DCBX, and write the recommended ones here"},
    // No DSCP in the adapter: entries go into the APP table that LLDP sends.
    {.name = "i40e",
     .source = "intel/i40e/i40e_dcb_nl.c:99-150, 157-186, 195-240, 246-300, 776-800",
     .dscp = DscpTrust::kSoftware,
     .needs_bits = kIeee,
     .without_bits = "run: dcb dcbx set dev {interface} host ieee",
     .agent_off = "run: ethtool --set-priv-flags {interface} disable-fw-lldp on",
     .host = HostMode::kAgentOff,
     .gives_back = false,
     .give_back = "run: ethtool --set-priv-flags {interface} disable-fw-lldp off",
     .idle_shares = false,
     .contiguous = true,
     .retrains = Retrains::kAtAny,
     .keeps_willing = true,
     .unlisted = "the priority of its VLAN tag"},
    // All others.
    {.name = "",
     .source = "net/dcb/dcbnl.c",
     .agent_off =
         "switch the agent of the adapter's firmware off, or write dcbx = \"host\" if its driver takes "
         "that",
     .closes = true,
     .retrains = Retrains::kAtAny},
}};

}  // namespace

const DcbDriver& dcb_driver(std::string_view name) {
  const auto module = name.substr(0, name.find('.'));
  const auto at = std::find_if(kDrivers.begin(), std::prev(kDrivers.end()),
                               [&](const DcbDriver& row) { return row.name == module; });
  return *at;
}

std::span<const DcbDriver> dcb_drivers() { return kDrivers; }

}  // namespace rdmacfg::kinds
