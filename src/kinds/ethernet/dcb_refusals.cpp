// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/dcb_refusals.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

#include "kinds/ethernet/dcb_classes.hpp"
#include "kinds/kernel_release.hpp"

namespace rdmacfg::kinds {

using model::Dcbx;
using model::DscpMap;
using system::DcbState;
using system::Ets;
using system::Tsa;

namespace {

/// A remedy from the table of drivers, with {interface} replaced.
std::string with_interface(std::string_view remedy, const std::string& interface) {
  return fmt::format(fmt::runtime(remedy), fmt::arg("interface", interface));
}

std::string called(const DcbDriver& driver) {
  return driver.name.empty() ? std::string("its driver") : std::string(driver.name);
}

bool takes_host(const DcbDriver& driver, std::uint8_t bits) {
  switch (driver.host) {
    case HostMode::kAsked:
      return true;
    case HostMode::kAgentOff:
      return !firmware_has_dcb(bits);
    case HostMode::kNobodysNow:
      return bits == 0;
    case HostMode::kNever:
      break;
  }
  return false;
}

}  // namespace

std::optional<DcbRefusal> why_not_ours(const DcbDriver& driver, const std::string& interface,
                                       const DcbState& state, std::optional<Dcbx> wanted) {
  if (!state.dcbx) return std::nullopt;
  auto bits = *state.dcbx;
  if (wanted != Dcbx::kHost && !driver.never_takes.empty())
    return DcbRefusal{
        "",
        fmt::format("{} accepts settings for {} without effect: the values negotiated between the switch and "
                    "the firmware stay in force",
                    called(driver), interface),
        with_interface(driver.never_takes, interface)};
  const bool hosts = (bits & system::kDcbxHost) != 0;
  if (wanted == Dcbx::kHost && !hosts) {
    if (driver.host == HostMode::kNever)
      return DcbRefusal{
          "dcbx", fmt::format("{} leaves DCBX of {} to the firmware in any case", called(driver), interface),
          "leave dcbx out"};
    if (!takes_host(driver, bits))
      return DcbRefusal{
          "dcbx",
          firmware_has_dcb(bits)
              ? fmt::format("the firmware's agent controls DCBX of {}, and {} cannot take it over", interface,
                            called(driver))
              : fmt::format("{} does not let the host control DCBX of {}", called(driver), interface),
          with_interface(firmware_has_dcb(bits) ? driver.agent_off : driver.without_bits, interface)};
    bits = system::kDcbxHost | system::kDcbxVersionIeee;
  } else if (wanted == Dcbx::kFirmware && hosts) {
    if (!driver.gives_back)
      return DcbRefusal{"dcbx",
                        fmt::format("{} does not give DCBX of {} to the firmware", called(driver), interface),
                        with_interface(driver.give_back, interface)};
    bits = static_cast<std::uint8_t>(bits & ~system::kDcbxHost);
  }
  if (firmware_has_dcb(bits) && driver.agent_refuses)
    return DcbRefusal{"",
                      fmt::format("the firmware's agent controls DCB of {}: {} refuses every setting",
                                  interface, called(driver)),
                      with_interface(driver.agent_off, interface)};
  if ((bits & driver.needs_bits) != driver.needs_bits) {
    const bool offers = wanted != Dcbx::kHost && takes_host(driver, bits) &&
                        (bits & system::kDcbxHost) == 0 && driver.host == HostMode::kNobodysNow;
    return DcbRefusal{
        "",
        fmt::format("{} refuses every setting of {} while {} (DCBX {:#04x})", called(driver), interface,
                    (driver.needs_bits & system::kDcbxHost) != 0 && (bits & system::kDcbxHost) == 0
                        ? "the host does not control DCBX"
                        : "DCBX is not in IEEE mode",
                    bits),
        offers ? "write dcbx = \"host\"" : with_interface(driver.without_bits, interface)};
  }
  return std::nullopt;
}

std::optional<DcbRefusal> why_not_bonded(const DcbDriver& driver, const std::string& interface,
                                         const std::string& bond, std::string_view release) {
  if (driver.refuses_in_bond_from == 0) return std::nullopt;
  const auto number = release_number(release);
  if (number && *number < static_cast<std::uint64_t>(driver.refuses_in_bond_from)) return std::nullopt;
  return DcbRefusal{
      "", fmt::format("{} refuses every setting of {} while it is in {}", called(driver), interface, bond),
      fmt::format("remove it from {} during the apply: ip link set dev {} nomaster", bond, interface)};
}

MissingTrust why_no_trust(const DcbDriver& driver, const std::string& interface, const DcbState& state,
                          std::string_view release) {
  constexpr std::uint64_t kFirst = 602;
  const auto number = release_number(release);
  const auto kernel = release.empty() ? std::string("this kernel") : fmt::format("Linux {}", release);
  if (number && *number < kFirst)
    return {true, fmt::format("trust: {} does not support an order of trust; Linux 6.2 and later do, with "
                              "drivers that have it",
                              kernel)};
  const auto name = state.driver.empty() ? "the driver of " + interface : state.driver;
  std::string remedy = "leave trust out";
  if (driver.dscp == DscpTrust::kHardware)
    remedy += fmt::format(": {} trusts DSCPs once dscp lists any", name);
  if (driver.dscp == DscpTrust::kSoftware) remedy += fmt::format(": {} trusts the VLAN priority", name);
  return {false, fmt::format("trust: {} does not support an order of trust on {}; {}", name, kernel, remedy)};
}

std::optional<DcbRefusal> why_not_ets(const DcbDriver& driver, const std::string& interface,
                                      const DcbState& state, const Ets& ets) {
  const auto cap = classes_of(state);
  for (unsigned priority = 0; priority < model::kPriorities; ++priority) {
    const unsigned traffic_class = ets.traffic_class[priority];
    if (traffic_class >= cap)
      return DcbRefusal{"traffic_classes",
                        fmt::format("priority {} maps to traffic class {}, and {} has {} (0 to {})", priority,
                                    traffic_class, interface, cap, cap - 1),
                        ""};
  }
  const auto used = classes_in_use(ets.traffic_class);
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
          fmt::format("no priority maps to traffic class {}, so {} gives it no share", i, called(driver)),
          "leave its share out, or map a priority to it in traffic_classes"};
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
                      "write bandwidth with shares that add up to 100"};
  const unsigned highest = static_cast<unsigned>(std::bit_width(used.mask));
  if (driver.contiguous && used.mask != (1U << highest) - 1)
    return DcbRefusal{"traffic_classes",
                      fmt::format("{} needs traffic classes from 0 on without a gap", called(driver)),
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
          "leave dscp out, and give RoCE a VLAN interface whose egress-qos-map maps to the lossless "
          "priority"};
    case DscpTrust::kNone:
      return DcbRefusal{"dscp", fmt::format("{} accepts no DSCPs for {}", called(driver), interface),
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

}  // namespace rdmacfg::kinds
