// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/dcb_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "kinds/ethernet/dcb.hpp"
#include "kinds/ethernet/dcb_classes.hpp"
#include "kinds/ethernet/dcb_refusals.hpp"
#include "kinds/ethernet/roce_ports.hpp"
#include "kinds/kernel_release.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Severity;

namespace {

constexpr std::uint8_t kHostBits = system::kDcbxHost | system::kDcbxVersionIeee;

void error(const Desired& desired, const std::string& key, const std::string& message,
           const std::string& hint, Diagnostics& diagnostics) {
  const auto at = desired.origins.find(key);
  diagnostics.push_back(model::diagnose(Severity::kError,
                                        at == desired.origins.end() ? desired.where : at->second,
                                        {.section = "pfc", .key = key}, message, hint));
}

/// The driver of an interface's adapter: "mlx5_core"; empty where no RDMA device belongs to it.
std::string driver_of(const system::Link& link, const World& world) {
  const auto ports = ports_over(link, world);
  return ports.empty() ? std::string() : ports.front().device->driver;
}

/// The remedy for an interface without DCB: mlx4_en built without it takes PFC when it is loaded.
std::string hint_without_dcb(const system::Link& link, World& world) {
  constexpr std::string_view kLine =
      "write driver = \"mlx4_en\" instead of interface: it takes priorities as module options, for all of "
      "its "
      "interfaces";
  const auto driver = driver_of(link, world);
  if (driver == "mlx4_core") return std::string(kLine);
  const auto loaded = world.host().modules.observe_loaded();
  const bool mlx4 = driver.empty() && link.kind.empty() && loaded &&
                    std::find(loaded->begin(), loaded->end(), "mlx4_en") != loaded->end();
  return "its driver has no dcbnl; a bond or VLAN has none either: name the port below it" +
         (mlx4 ? fmt::format("; of a ConnectX-3 {}", kLine) : std::string());
}

/// "100, 0": all of it for the first class that is not strict.
std::string share_beside(const model::ClassSet& strict) {
  std::string out;
  bool given = false;
  for (unsigned i = 0; i < model::kPriorities && (!given || (strict.mask >> i) != 0); ++i) {
    const bool takes = !given && !strict.has(i);
    given = given || takes;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", takes ? 100 : 0);
  }
  return out;
}

void check_shares(const Desired& desired, Diagnostics& diagnostics) {
  const auto wanted = model::from_attributes<InterfaceDcb>(desired.settings);
  const auto written = model::from_attributes<InterfaceDcb>(desired.policy).strict;
  const auto strict = written.value_or(model::ClassSet{});
  if (!wanted.bandwidth) {
    if (written && strict.mask != 0xff)
      error(desired, "strict", "the other traffic classes need a share of the bandwidth",
            fmt::format("write bandwidth = [{}], or name all 8 classes", share_beside(strict)), diagnostics);
    return;
  }
  const auto& percent = wanted.bandwidth->percent;
  const int sum = std::accumulate(percent.begin(), percent.end(), 0);
  if (sum != 100)
    error(desired, "bandwidth", fmt::format("the shares are {} percent together, not 100", sum), "",
          diagnostics);
  for (unsigned i = 0; i < model::kPriorities; ++i) {
    if (strict.has(i) && percent[i] != 0)
      error(desired, "bandwidth", fmt::format("traffic class {} is strict, so it has no share", i),
            "write 0 for it", diagnostics);
  }
}

void check_dscps(const Desired& desired, Diagnostics& diagnostics) {
  const auto wanted = model::from_attributes<InterfaceDcb>(desired.settings);
  if (!wanted.dscp) return;
  const auto& list = wanted.dscp->list;
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (list[i].first == list[i - 1].first)
      error(desired, "dscp", fmt::format("DSCP {} is listed twice", list[i].first), "", diagnostics);
  }
}

void error(const Desired& desired, const DcbRefusal& refusal, Diagnostics& diagnostics) {
  if (!refusal.field.empty()) {
    error(desired, refusal.field, refusal.why, refusal.hint, diagnostics);
    return;
  }
  diagnostics.push_back(
      model::diagnose(Severity::kError, desired.where, {.section = "pfc"}, refusal.why, refusal.hint));
}

/// Everything as it is going to be: as written, as it was before where the document no longer writes it, as
/// it is.
InterfaceDcb as_it_will_be(const Desired& desired, const Observed& observed, const World& world) {
  auto all = observed.settings;
  if (const auto& known_identity = world.known_identity(desired.key);
      known_identity.instance == observed.instance) {
    for (const auto& [field, value] : known_identity.before) all.insert_or_assign(field, value);
  }
  for (const auto& [field, value] : desired.settings) all.insert_or_assign(field, value);
  return model::from_attributes<InterfaceDcb>(all);
}

/// The algorithms from before our first change of an interface.
enum class FormerAlgorithms {
  kNone,
  kGoBack,  ///< as far as they fit: idle classes may have changed since
};

/// Completes what follows from the adapter.
void derive(Desired& desired, const DcbDriver& driver, const InterfaceDcb& then,
            const system::DcbState& state, FormerAlgorithms former) {
  const auto wanted = model::from_attributes<InterfaceDcb>(desired.settings);
  const auto dscp = then.dscp.value_or(model::DscpMap{});
  const auto now = describe_dcb(state);
  InterfaceDcb derived;
  const bool goes_back = !wanted.algorithms && former == FormerAlgorithms::kGoBack;
  const auto& asked = goes_back ? then.algorithms : wanted.algorithms;
  // With the first DSCP ice makes each of its classes ETS, whatever they were when somebody looked.
  const auto unasked = has_identity(driver, then, now) ? std::vector<std::string>(model::kPriorities, "ets")
                                                       : now.algorithms.value_or(std::vector<std::string>{});
  if (asked)
    derived.algorithms = algorithms_for(*asked, classes_then(driver, then, state),
                                        then.bandwidth.value_or(model::Bandwidth{}), unasked);
  auto bits = state.dcbx;
  if (bits && then.dcbx != now.dcbx) bits = then.dcbx == model::Dcbx::kHost ? kHostBits : 0;
  const auto follow = [&](const char* field, std::initializer_list<const char*> from) {
    for (const auto* key : from) {
      const auto at = desired.origins.find(key);
      if (at == desired.origins.end()) continue;
      desired.origins.insert_or_assign(field, at->second);
      return;
    }
  };
  // The driver's classes go back with the DSCPs.
  if (wanted.dscp && has_identity(driver, then, now) && !wanted.traffic_classes) {
    derived.traffic_classes = classes_then(driver, then, state);
    follow("traffic_classes", {"dscp"});
  }
  if (wanted.dscp || wanted.trust) {
    derived.classified_by = std::string(text_of(classifier_of(driver, dscp, bits, then.trust)));
    follow("classified_by", {"dscp", "trust"});
  }
  if (then.priorities && state.pfc && (wanted.priorities || wanted.dscp || wanted.trust)) {
    derived.switch_port = switch_port_of(driver, *then.priorities, dscp, bits, then.trust);
    follow("switch_port", {"priorities", "dscp", "trust"});
  }
  if (driver.keeps_willing && (wanted.traffic_classes || wanted.bandwidth || derived.traffic_classes)) {
    derived.willing = false;
    follow("willing", {"traffic_classes", "bandwidth", "dscp"});
  }
  for (auto& [field, value] : model::to_attributes(derived)) desired.settings.insert_or_assign(field, value);
}

/// The number of lossless traffic classes, as pfc_cap counts them.
void check_lossless(const Desired& desired, const DcbDriver& driver, const InterfaceDcb& wanted,
                    const system::DcbState& state, Diagnostics& diagnostics) {
  if (!wanted.priorities || state.pfc_capability == 0) return;
  unsigned lossless = 0;
  const auto of = classes_then(driver, wanted, state).of;
  for (unsigned priority = 0; priority < model::kPriorities; ++priority) {
    // Without classes each priority counts by itself.
    if (wanted.priorities->has(priority)) lossless |= 1U << (state.ets ? of[priority] : priority);
  }
  if (std::popcount(lossless) <= state.pfc_capability) return;
  error(desired, "priorities",
        fmt::format("{} traffic classes would be lossless, and {} allows {} at once", std::popcount(lossless),
                    desired.key.id, state.pfc_capability),
        state.ets ? "map the lossless priorities to the same traffic class" : "", diagnostics);
}

/// Everything that the driver would refuse.
void check_driver(Desired& desired, const Observed& observed, const system::DcbState& state, World& world,
                  Diagnostics& diagnostics) {
  const auto& driver = dcb_driver(state.driver);
  const auto& interface = desired.key.id;
  const bool can_not_now = driver.always_both && !state.ets && !state.pfc;
  if (can_not_now && (desired.settings.contains("priorities") || desired.settings.contains("bandwidth") ||
                      desired.settings.contains("traffic_classes"))) {
    desired.pending = fmt::format("DCB of {} cannot be read now: {}", interface, driver.cannot_be_asked);
    desired.settings.clear();
    return;
  }
  if (!state.trust) desired.settings.erase("trust");
  for (const auto& [field, value] : desired.settings) {
    if (!observed.settings.contains(field))
      error(desired, field, fmt::format("the driver of {} does not offer it", interface), "", diagnostics);
  }
  const auto then = as_it_will_be(desired, observed, world);
  const auto& known_identity = world.known_identity(desired.key);
  const bool remembered =
      known_identity.instance == observed.instance && known_identity.before.contains("algorithms");
  derive(desired, driver, then, state, remembered ? FormerAlgorithms::kGoBack : FormerAlgorithms::kNone);
  const auto wanted = model::from_attributes<InterfaceDcb>(desired.settings);
  if (wanted.dscp) {
    if (const auto refused_dscp = why_not_dscp(driver, interface, state, *wanted.dscp))
      error(desired, *refused_dscp, diagnostics);
  }
  const bool differs =
      std::any_of(desired.settings.begin(), desired.settings.end(), [&](const auto& setting) {
        const auto at = observed.settings.find(setting.first);
        return at != observed.settings.end() && at->second != setting.second;
      });
  if (!differs) return;
  auto refused = why_not_ours(driver, interface, state, then.dcbx);
  if (!refused) refused = why_not_in_its_bond(driver, interface, world);
  if (refused) {
    error(desired, *refused, diagnostics);
    return;
  }
  const auto classes = classes_then(driver, then, state);
  if (wanted.traffic_classes && *wanted.traffic_classes != classes) {
    error(desired, "traffic_classes",
          fmt::format("with dscp, {} makes priority N traffic class N of {}", driver.name, interface),
          fmt::format("leave traffic_classes out, or write {}",
                      model::text_of(model::Codec<model::TrafficClasses>::value(classes))),
          diagnostics);
    return;
  }
  check_lossless(desired, driver, then, state, diagnostics);
  if (!state.ets || !(wanted.traffic_classes || wanted.bandwidth || wanted.algorithms)) return;
  // Said already, by check_shares().
  if (model::from_attributes<InterfaceDcb>(desired.policy).strict && !wanted.bandwidth) return;
  auto written = then;
  written.algorithms = wanted.algorithms;
  if (const auto refused_ets = why_not_ets(driver, interface, state, ets_for(driver, written, state)))
    error(desired, *refused_ets, diagnostics);
}

}  // namespace

std::optional<DcbRefusal> why_not_in_its_bond(const DcbDriver& driver, const std::string& interface,
                                              World& world) {
  const auto* link = world.named(interface);
  const auto* master = link == nullptr || link->master == 0 ? nullptr : world.link(link->master);
  if (driver.refuses_in_bond_from == 0 || master == nullptr || master->kind != "bond") return std::nullopt;
  return why_not_bonded(driver, interface, master->name, kernel_release(world));
}

void check_dcb_entry(const Desired& desired, Diagnostics& diagnostics) {
  check_shares(desired, diagnostics);
  check_dscps(desired, diagnostics);
}

void check_dcb(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
               Diagnostics& diagnostics) {
  const auto now = model::by_key(observed);
  for (auto& resource : desired) {
    if (resource.key.kind != kDcbKind || resource.pending) continue;
    const auto* link = world.named(resource.key.id);
    if (link == nullptr) {
      resource.pending = fmt::format("interface {} does not exist", resource.key.id);
      resource.settings.clear();
      continue;
    }
    if (link->name != resource.key.id) {
      error(resource, "interface",
            fmt::format("{} is an alternative name of {}", resource.key.id, link->name),
            fmt::format("write interface = \"{}\"", link->name), diagnostics);
      continue;
    }
    const auto at = now.find(resource.key);
    if (at == now.end()) {
      error(resource, "interface", fmt::format("{} has no data center bridging", resource.key.id),
            hint_without_dcb(*link, world), diagnostics);
      continue;
    }
    const auto state = world.host().dcb.observe_dcb(resource.key.id);
    if (state && *state) check_driver(resource, *at->second, **state, world, diagnostics);
  }
}

}  // namespace rdmacfg::kinds
