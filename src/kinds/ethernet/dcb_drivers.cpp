// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/dcb_drivers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/text.hpp"

namespace rdmacfg::kinds {

using model::Bandwidth;
using model::Dcbx;
using model::DscpMap;
using model::TrafficClasses;
using system::DcbState;
using system::Ets;
using system::Tsa;

namespace {

constexpr std::uint8_t kIeee = system::kDcbxVersionIeee;
constexpr std::uint8_t kHostIeee = system::kDcbxHost | system::kDcbxVersionIeee;
constexpr std::string_view kIdle = "idle";

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
    // ice_dcb_bwchk() sums shares over the contiguous classes in use, of one class it makes them 100. What it
    // was told is put into force as a whole, and of that maxtcs is filled in by setets() alone. Linux 6.6 and
    // later: no change while pf->lag->bonded.
    {.name = "ice",
     .source =
         "intel/ice/ice_dcb_nl.c:14-25, 69-111, 157-182, 257-281, 708-815, 824-918; ice_dcb_lib.c:311-341",
     .dscp = DscpTrust::kHardware,
     .always_both = true,
     .cannot_be_asked = "the adapter resets",
     .needs_bits = kIeee,
     .without_bits = "run: dcb dcbx set dev {} host ieee",
     .agent_off = "run: ethtool --set-priv-flags {} fw-lldp-agent off",
     .host = HostMode::kAgentOff,
     .gives_back = false,
     .give_back = "run: ethtool --set-priv-flags {} fw-lldp-agent on",
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
    // which nobody has DCBX and every set is refused. What the firmware has is set in NVRAM.
    {.name = "bnxt_en",
     .source = "broadcom/bnxt/bnxt_dcb.c:248-297, 468-513, 557-590, 618-644, 731-755, 766-782",
     .dscp = DscpTrust::kHardware,
     .always_both = true,
     .cannot_be_asked = "the firmware does not answer",
     .needs_bits = kHostIeee,
     .without_bits =
         "the firmware's LLDP agent has it, or {} is a virtual function: switch LLDP and DCBX of the "
         "port off in NVRAM (niccli or bnxtnvm: lldp_nearest_bridge, dcbx_mode), and reboot",
     .agent_off =
         "it can only be switched off in NVRAM (niccli or bnxtnvm: dcbx_mode = disabled for the port of "
         "{}), and a reboot",
     .host = HostMode::kNobodysNow,
     .gives_back = false,
     .give_back =
         "it would take DCBX from the host and give it to nobody; the firmware's agent is set in NVRAM",
     .zero_shares = false,
     .idle_shares = false,
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
     .without_bits = "mqprio has the queues; run: tc qdisc del dev {} root",
     .host = HostMode::kAgentOff,
     .gives_back = false,
     .give_back = "its firmware does not negotiate DCBX",
     .zero_shares = false,
     .idle_shares = false,
     .retrains = Retrains::kAtAny,
     .unlisted = "priority 0"},
    // Everything is refused unless DCBX was negotiated in IEEE mode, and reads back what was. What IEEE
    // messages set is kept (hw_commit 0) for the CEE message SET_ALL. DSCP is no selector that it knows, and
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
     .never_takes = "have the switch port recommend it by DCBX, and write here what it recommends"},
    // No DSCP in the adapter: entries go into the APP table that LLDP sends.
    {.name = "i40e",
     .source = "intel/i40e/i40e_dcb_nl.c:99-150, 157-186, 195-240, 246-300, 776-800",
     .dscp = DscpTrust::kSoftware,
     .needs_bits = kIeee,
     .without_bits = "run: dcb dcbx set dev {} host ieee",
     .agent_off = "run: ethtool --set-priv-flags {} disable-fw-lldp on",
     .host = HostMode::kAgentOff,
     .gives_back = false,
     .give_back = "run: ethtool --set-priv-flags {} disable-fw-lldp off",
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

std::string with(std::string_view text, const std::string& interface) {
  std::string out(text);
  if (const auto at = out.find("{}"); at != std::string::npos) out.replace(at, 2, interface);
  return out;
}

std::string called(const DcbDriver& driver) {
  return driver.name.empty() ? std::string("its driver") : std::string(driver.name);
}

model::ClassSet led_to(const std::array<std::uint8_t, model::kPriorities>& of) {
  model::ClassSet out;
  for (const auto traffic_class : of) {
    if (traffic_class < model::kPriorities) out.mask |= 1U << traffic_class;
  }
  return out;
}

bool has_agent(std::uint8_t bits) { return (bits & system::kDcbxFirmware) != 0; }

bool takes_host(const DcbDriver& driver, std::uint8_t bits) {
  switch (driver.host) {
    case HostMode::kAsked:
      return true;
    case HostMode::kAgentOff:
      return !has_agent(bits);
    case HostMode::kNobodysNow:
      return bits == 0;
    case HostMode::kNever:
      break;
  }
  return false;
}

std::string word_of(Tsa tsa) {
  switch (tsa) {
    case Tsa::kStrict:
      return "strict";
    case Tsa::kShaper:
      return "shaper";
    case Tsa::kEts:
      return "ets";
    case Tsa::kVendor:
      break;
  }
  return "vendor";
}

Tsa tsa_of(std::string_view text) {
  for (const auto tsa : {Tsa::kStrict, Tsa::kShaper, Tsa::kEts}) {
    if (word_of(tsa) == text) return tsa;
  }
  return Tsa::kVendor;
}

}  // namespace

const DcbDriver& dcb_driver(std::string_view name) {
  const auto module = name.substr(0, name.find('.'));
  const auto at = std::find_if(kDrivers.begin(), std::prev(kDrivers.end()),
                               [&](const DcbDriver& row) { return row.name == module; });
  return *at;
}

std::span<const DcbDriver> dcb_drivers() { return kDrivers; }

unsigned classes_of(const DcbState& state) {
  unsigned count = state.classes;
  if (count == 0 && dcb_driver(state.driver).hides_classes) {
    count = state.pfc_capability;
    // With DSCPs priority N is class N as far as there are classes, and class 0 beyond.
    const bool by_dscp = std::any_of(state.apps.begin(), state.apps.end(), [](const auto& app) {
      return app.selector == system::kDcbSelectorDscp;
    });
    const bool counted = count == 0 && by_dscp && state.ets;
    while (counted && count < model::kPriorities && state.ets->traffic_class[count] == count) ++count;
  }
  return count == 0 || count > model::kPriorities ? model::kPriorities : count;
}

std::optional<DcbRefusal> why_not_ours(const DcbDriver& driver, const std::string& interface,
                                       const DcbState& state, std::optional<Dcbx> wanted) {
  if (!state.dcbx) return std::nullopt;
  auto bits = *state.dcbx;
  if (wanted != Dcbx::kHost && !driver.never_takes.empty())
    return DcbRefusal{
        "",
        fmt::format("{} takes settings for {} and makes nothing of them: what holds is what the "
                    "switch and its firmware have negotiated",
                    called(driver), interface),
        with(driver.never_takes, interface)};
  const bool hosts = (bits & system::kDcbxHost) != 0;
  if (wanted == Dcbx::kHost && !hosts) {
    if (driver.host == HostMode::kNever)
      return DcbRefusal{
          "dcbx", fmt::format("{} leaves DCBX of {} to the firmware in any case", called(driver), interface),
          "leave dcbx out"};
    if (!takes_host(driver, bits))
      return DcbRefusal{
          "dcbx",
          has_agent(bits)
              ? fmt::format("the firmware's agent has DCBX of {}, and {} does not take it away from it",
                            interface, called(driver))
              : fmt::format("{} does not let the host have DCBX of {}", called(driver), interface),
          with(has_agent(bits) ? driver.agent_off : driver.without_bits, interface)};
    bits = kHostIeee;
  } else if (wanted == Dcbx::kFirmware && hosts) {
    if (!driver.gives_back)
      return DcbRefusal{"dcbx",
                        fmt::format("{} does not give DCBX of {} to the firmware", called(driver), interface),
                        with(driver.give_back, interface)};
    bits = static_cast<std::uint8_t>(bits & ~system::kDcbxHost);
  }
  if (has_agent(bits) && driver.agent_refuses)
    return DcbRefusal{"",
                      fmt::format("the firmware's agent has DCB of {}: {} refuses every setting", interface,
                                  called(driver)),
                      with(driver.agent_off, interface)};
  if ((bits & driver.needs_bits) != driver.needs_bits) {
    const bool offers = wanted != Dcbx::kHost && takes_host(driver, bits) &&
                        (bits & system::kDcbxHost) == 0 && driver.host == HostMode::kNobodysNow;
    return DcbRefusal{
        "",
        fmt::format("{} refuses every setting of {} while {} (DCBX {:#04x})", called(driver), interface,
                    (driver.needs_bits & system::kDcbxHost) != 0 && (bits & system::kDcbxHost) == 0
                        ? "the host does not have DCBX"
                        : "DCBX is not in IEEE mode",
                    bits),
        offers ? "write dcbx = \"host\"" : with(driver.without_bits, interface)};
  }
  return std::nullopt;
}

std::optional<DcbRefusal> why_not_bonded(const DcbDriver& driver, const std::string& interface,
                                         const std::string& bond, std::string_view release) {
  if (driver.refuses_in_bond_from == 0) return std::nullopt;
  const auto parts = base::split(release, '.');
  const auto major = parts.size() > 1 ? base::parse_number(parts[0]) : std::nullopt;
  const auto minor =
      major ? base::parse_number(parts[1].substr(0, parts[1].find_first_not_of("0123456789"))) : std::nullopt;
  constexpr std::uint64_t kMajor = 100;
  if (minor && *major * kMajor + *minor < static_cast<std::uint64_t>(driver.refuses_in_bond_from))
    return std::nullopt;
  return DcbRefusal{
      "", fmt::format("{} refuses every setting of {} while it is in {}", called(driver), interface, bond),
      fmt::format("take it out of {} for the apply: ip link set dev {} nomaster", bond, interface)};
}

std::optional<DcbRefusal> why_not_ets(const DcbDriver& driver, const std::string& interface,
                                      const DcbState& state, const Ets& ets) {
  const auto cap = classes_of(state);
  for (unsigned priority = 0; priority < model::kPriorities; ++priority) {
    const unsigned traffic_class = ets.traffic_class[priority];
    if (traffic_class >= cap)
      return DcbRefusal{"traffic_classes",
                        fmt::format("priority {} leads to traffic class {}, and {} has {} (0 to {})",
                                    priority, traffic_class, interface, cap, cap - 1),
                        ""};
  }
  const auto used = led_to(ets.traffic_class);
  int total = 0;
  bool any = false;
  for (unsigned i = 0; i < model::kPriorities; ++i) {
    const bool served = ets.tsa[i] == Tsa::kEts;
    const int share = ets.bandwidth[i];
    if (i >= cap && share != 0)
      return DcbRefusal{
          "bandwidth",
          fmt::format("traffic class {} has a share, and {} has {} (0 to {})", i, interface, cap, cap - 1),
          ""};
    if (!served) continue;
    any = true;
    total += share;
    if (share != 0 && !used.has(i) && !driver.idle_shares)
      return DcbRefusal{
          "bandwidth",
          fmt::format("no priority leads to traffic class {}, so {} gives it no share", i, called(driver)),
          "leave its share out, or lead a priority to it in traffic_classes"};
    if (share == 0 && used.has(i) && !driver.zero_shares)
      return DcbRefusal{
          "bandwidth",
          fmt::format("traffic class {} is in use, and {} refuses a share of 0 percent", i, called(driver)),
          "give it a share, or name it in strict"};
  }
  if (any && total != 100)
    return DcbRefusal{"bandwidth",
                      fmt::format("the classes of {} that share the bandwidth would have {} percent together",
                                  interface, total),
                      "write bandwidth, together 100"};
  const unsigned highest = static_cast<unsigned>(std::bit_width(used.mask));
  if (driver.contiguous && used.mask != (1U << highest) - 1)
    return DcbRefusal{"traffic_classes",
                      fmt::format("{} takes traffic classes without a gap only, from 0", called(driver)),
                      fmt::format("number those in use from 0 to {}", std::popcount(used.mask) - 1)};
  return std::nullopt;
}

std::optional<DcbRefusal> why_not_dscp(const DcbDriver& driver, const std::string& interface,
                                       const DcbState& state, const DscpMap& dscp) {
  if (dscp.list.empty()) return std::nullopt;
  switch (driver.dscp) {
    case DscpTrust::kSoftware:
      return DcbRefusal{
          "dscp",
          fmt::format(
              "{} classifies by VLAN priority: the kernel keeps DSCPs for {}, the adapter never sees them",
              interface, called(driver)),
          "leave dscp out, and give RoCE a VLAN interface whose egress-qos-map leads to the lossless "
          "priority"};
    case DscpTrust::kNone:
      return DcbRefusal{"dscp", fmt::format("{} takes no DSCPs for {}", called(driver), interface),
                        "leave dscp out; the switch decides by DCBX which traffic has which priority"};
    case DscpTrust::kHardware:
    case DscpTrust::kUnknown:
      break;
  }
  for (const auto& [number, priority] : dscp.list) {
    if (driver.priority_is_class && priority >= classes_of(state))
      return DcbRefusal{
          "dscp",
          fmt::format("DSCP {} has priority {}, and {} takes priorities below its {} traffic classes", number,
                      priority, called(driver), classes_of(state)),
          ""};
  }
  return std::nullopt;
}

bool has_identity(const DcbDriver& driver, const InterfaceDcb& wanted, const InterfaceDcb& now) {
  const auto& dscp = wanted.dscp ? wanted.dscp : now.dscp;
  return driver.identity_by_dscp && dscp && !dscp->list.empty();
}

TrafficClasses classes_then(const DcbDriver& driver, const InterfaceDcb& wanted, const DcbState& state) {
  const auto now = describe_dcb(state);
  TrafficClasses out = now.traffic_classes.value_or(TrafficClasses{});
  if (has_identity(driver, wanted, now)) {
    for (unsigned i = 0; i < classes_of(state); ++i) out.of[i] = static_cast<std::uint8_t>(i);
  } else if (wanted.traffic_classes) {
    out = *wanted.traffic_classes;
  }
  return out;
}

Ets ets_for(const DcbDriver& driver, const InterfaceDcb& wanted, const DcbState& state) {
  auto ets = state.ets.value_or(Ets{});
  ets.traffic_class = classes_then(driver, wanted, state).of;
  ets.bandwidth = wanted.bandwidth ? wanted.bandwidth->percent : shares_of(ets).percent;
  const auto used = led_to(ets.traffic_class);
  for (unsigned i = 0; i < model::kPriorities; ++i) {
    const bool idle = !used.has(i) && ets.bandwidth[i] == 0;
    if (!idle && wanted.algorithms && i < wanted.algorithms->size() && (*wanted.algorithms)[i] != kIdle)
      ets.tsa[i] = tsa_of((*wanted.algorithms)[i]);
    if (idle && (ets.tsa[i] == Tsa::kEts || ets.tsa[i] == Tsa::kShaper || i >= classes_of(state)))
      ets.tsa[i] = Tsa::kStrict;
  }
  return ets;
}

std::string classifier_of(const DcbDriver& driver, const DscpMap& dscp, std::optional<std::uint8_t> dcbx) {
  if ((dcbx && has_agent(*dcbx) && driver.agent_refuses) || driver.reads_negotiated) return "firmware";
  const bool by_dscp =
      !dscp.list.empty() && (driver.dscp == DscpTrust::kHardware || driver.dscp == DscpTrust::kUnknown);
  return by_dscp ? "DSCP" : "VLAN priority";
}

std::string switch_port_of(const DcbDriver& driver, const model::Priorities& lossless, const DscpMap& dscp,
                           std::optional<std::uint8_t> dcbx) {
  if (lossless.mask == 0) return "no PFC";
  std::vector<std::string> priorities, pairs;
  for (unsigned i = 0; i < model::kPriorities; ++i) {
    if (lossless.has(i)) priorities.push_back(std::to_string(i));
  }
  for (const auto& [number, priority] : dscp.list) {
    if (lossless.has(priority)) pairs.push_back(fmt::format("{} is priority {}", number, priority));
  }
  const auto by = classifier_of(driver, dscp, dcbx);
  return fmt::format("PFC on {} {}; {}", priorities.size() == 1 ? "priority" : "priorities",
                     base::join(priorities, ", "),
                     by == "firmware" ? "DCBX in IEEE mode, which recommends the same"
                     : by == "DSCP"   ? "trust DSCP" + (pairs.empty() ? "" : ": " + base::join(pairs, ", "))
                                      : "trust 802.1p");
}

Bandwidth shares_of(const Ets& ets) {
  Bandwidth out;
  for (std::size_t i = 0; i < ets.tsa.size(); ++i) {
    if (ets.tsa[i] == Tsa::kEts) out.percent[i] = ets.bandwidth[i];
  }
  return out;
}

std::vector<std::string> algorithms_of(const Ets& ets) {
  std::vector<std::string> out;
  const auto used = led_to(ets.traffic_class);
  const auto shares = shares_of(ets);
  for (unsigned i = 0; i < model::kPriorities; ++i)
    out.push_back(used.has(i) || shares.percent[i] != 0 ? word_of(ets.tsa[i]) : std::string(kIdle));
  return out;
}

std::vector<std::string> algorithms_for(const std::vector<std::string>& asked, const TrafficClasses& of,
                                        const Bandwidth& shares, const std::vector<std::string>& now) {
  auto out = asked;
  const auto used = led_to(of.of);
  for (unsigned i = 0; i < out.size() && i < model::kPriorities; ++i) {
    const bool idle = !used.has(i) && shares.percent[i] == 0;
    if (idle) out[i] = kIdle;
    if (idle || out[i] != kIdle) continue;
    out[i] = shares.percent[i] != 0 ? "ets" : "strict";
    if (i < now.size() && now[i] != kIdle) out[i] = now[i];
  }
  return out;
}

}  // namespace rdmacfg::kinds
