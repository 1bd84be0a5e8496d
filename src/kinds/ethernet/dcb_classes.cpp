// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/dcb_classes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace rdmacfg::kinds {

using model::Bandwidth;
using model::DscpMap;
using model::TrafficClasses;
using model::TrustOrder;
using model::TrustSelector;
using system::DcbState;
using system::Ets;
using system::Tsa;

namespace {

constexpr std::string_view kIdle = "idle";

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

bool firmware_has_dcb(std::uint8_t bits) { return (bits & system::kDcbxFirmware) != 0; }

model::ClassSet classes_in_use(const std::array<std::uint8_t, model::kPriorities>& of) {
  model::ClassSet out;
  for (const auto traffic_class : of) {
    if (traffic_class < model::kPriorities) out.mask |= 1U << traffic_class;
  }
  return out;
}

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
  const auto used = classes_in_use(ets.traffic_class);
  for (unsigned i = 0; i < model::kPriorities; ++i) {
    const bool idle = !used.has(i) && ets.bandwidth[i] == 0;
    if (!idle && wanted.algorithms && i < wanted.algorithms->size() && (*wanted.algorithms)[i] != kIdle)
      ets.tsa[i] = tsa_of((*wanted.algorithms)[i]);
    if (idle && (ets.tsa[i] == Tsa::kEts || ets.tsa[i] == Tsa::kShaper || i >= classes_of(state)))
      ets.tsa[i] = Tsa::kStrict;
  }
  return ets;
}

std::optional<TrustOrder> trust_of(const DcbState& state) {
  if (!state.trust) return std::nullopt;
  TrustOrder out;
  for (const auto number : *state.trust) {
    const auto selector = model::trust_selector(number);
    if (selector && !out.trusts(*selector)) out.list.push_back(*selector);
  }
  return out;
}

std::string_view text_of(Classifier classifier) {
  switch (classifier) {
    case Classifier::kDscp:
      return "DSCP";
    case Classifier::kVlanPriority:
      return "VLAN priority";
    case Classifier::kDefaultPriority:
      return "default priority";
    case Classifier::kFirmware:
      return "firmware";
  }
  return {};
}

Classifier classifier_of(const DcbDriver& driver, const DscpMap& dscp, std::optional<std::uint8_t> dcbx,
                         const std::optional<TrustOrder>& trust) {
  if ((dcbx && firmware_has_dcb(*dcbx) && driver.agent_refuses) || driver.reads_negotiated)
    return Classifier::kFirmware;
  const bool by_dscp =
      !dscp.list.empty() && (driver.dscp == DscpTrust::kHardware || driver.dscp == DscpTrust::kUnknown);
  if (!trust) return by_dscp ? Classifier::kDscp : Classifier::kVlanPriority;
  for (const auto selector : trust->list) {
    if (selector == TrustSelector::kDscp && by_dscp) return Classifier::kDscp;
    if (selector == TrustSelector::kPcp) return Classifier::kVlanPriority;
  }
  return Classifier::kDefaultPriority;
}

std::string switch_port_of(const DcbDriver& driver, const model::Priorities& lossless, const DscpMap& dscp,
                           std::optional<std::uint8_t> dcbx, const std::optional<TrustOrder>& trust) {
  if (lossless.mask == 0) return "no PFC";
  const auto priorities = model::numbers_in(lossless.mask);
  std::vector<std::string> pairs;
  for (const auto& [number, priority] : dscp.list) {
    if (lossless.has(priority)) pairs.push_back(fmt::format("{} is priority {}", number, priority));
  }
  const auto by = classifier_of(driver, dscp, dcbx, trust);
  return fmt::format(
      "PFC on {} {}; {}", priorities.size() == 1 ? "priority" : "priorities", base::join(priorities, ", "),
      by == Classifier::kFirmware ? "DCBX in IEEE mode, which recommends the same"
      : by == Classifier::kDscp   ? "trust DSCP" + (pairs.empty() ? "" : ": " + base::join(pairs, ", "))
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
  const auto used = classes_in_use(ets.traffic_class);
  const auto shares = shares_of(ets);
  for (unsigned i = 0; i < model::kPriorities; ++i)
    out.push_back(used.has(i) || shares.percent[i] != 0 ? word_of(ets.tsa[i]) : std::string(kIdle));
  return out;
}

std::vector<std::string> algorithms_for(const std::vector<std::string>& asked, const TrafficClasses& of,
                                        const Bandwidth& shares, const std::vector<std::string>& now) {
  auto out = asked;
  const auto used = classes_in_use(of.of);
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
