// SPDX-License-Identifier: Apache-2.0
#include "kinds/dcb_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include "kinds/dcb.hpp"
#include "kinds/roce_ports.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Diagnostic;
using model::Diagnostics;
using model::Observed;
using model::Severity;

namespace {

constexpr std::string_view kKind = "dcb";
constexpr std::string_view kEts = "ets";

void error(const Desired& one, const std::string& key, const std::string& message, const std::string& hint,
           Diagnostics& diagnostics) {
  const auto at = one.origins.find(key);
  diagnostics.push_back(Diagnostic{Severity::kError,
                                   at == one.origins.end() ? one.where : at->second,
                                   fmt::format("[[pfc]] {}: {}", key, message),
                                   hint,
                                   {}});
}

/// The driver of an interface's adapter: "mlx5_core"; empty where no RDMA device belongs to it.
std::string driver_of(const system::Link& link, const World& world) {
  const auto ports = ports_over(link, world);
  return ports.empty() ? std::string() : ports.front().device->driver;
}

/// What to write for an interface without DCB: mlx4_en built without it takes PFC when it is loaded.
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

/// mlx5 reads back 100 for an ETS class that has all, and for the only other one, which has nothing:
/// shares_of() takes the first for the one that has all.
void check_told_apart(const Desired& one, Diagnostics& diagnostics) {
  const auto wanted = model::from_attributes<InterfaceDcb>(one.settings);
  if (!wanted.bandwidth || !wanted.algorithms) return;
  std::vector<int> shares;
  for (std::size_t i = 0; i < wanted.algorithms->size(); ++i) {
    if ((*wanted.algorithms)[i] == kEts) shares.push_back(wanted.bandwidth->percent[i]);
  }
  if (shares == std::vector<int>{0, 100})
    error(one, "bandwidth",
          fmt::format("{} cannot tell a class with 0 percent from the only other one, with 100", one.key.id),
          "give it 1 percent and the other one 99", diagnostics);
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

void check_shares(const Desired& one, Diagnostics& diagnostics) {
  const auto wanted = model::from_attributes<InterfaceDcb>(one.settings);
  const auto written = model::from_attributes<InterfaceDcb>(one.policy).strict;
  const auto strict = written.value_or(model::ClassSet{});
  if (!wanted.bandwidth) {
    if (written && strict.mask != 0xff)
      error(one, "strict", "the other traffic classes need a share of the bandwidth",
            fmt::format("write bandwidth = [{}], or name all 8 classes", share_beside(strict)), diagnostics);
    return;
  }
  const auto& percent = wanted.bandwidth->percent;
  const int sum = std::accumulate(percent.begin(), percent.end(), 0);
  if (sum != 100)
    error(one, "bandwidth", fmt::format("is {} percent together, has to be 100", sum), "", diagnostics);
  for (unsigned i = 0; i < model::kPriorities; ++i) {
    if (strict.has(i) && percent[i] != 0)
      error(one, "bandwidth", fmt::format("traffic class {} is strict, so it has no share", i),
            "write 0 for it", diagnostics);
  }
}

void check_dscps(const Desired& one, Diagnostics& diagnostics) {
  const auto wanted = model::from_attributes<InterfaceDcb>(one.settings);
  if (!wanted.dscp) return;
  const auto& list = wanted.dscp->list;
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (list[i].first == list[i - 1].first)
      error(one, "dscp", fmt::format("DSCP {} is there twice", list[i].first), "", diagnostics);
  }
}

void check_offered(const Desired& one, const Observed& now, Diagnostics& diagnostics) {
  for (const auto& [field, value] : one.settings) {
    if (!now.settings.contains(field))
      error(one, field, fmt::format("the driver of {} does not offer it", one.key.id), "", diagnostics);
  }
  const auto wanted = model::from_attributes<InterfaceDcb>(one.settings);
  const auto capability = model::from_attributes<InterfaceDcb>(now.facts).pfc_capability;
  if (wanted.priorities && capability && std::popcount(wanted.priorities->mask) > *capability) {
    error(one, "priorities",
          fmt::format("{} allows {} lossless at once, not {}", one.key.id, *capability,
                      std::popcount(wanted.priorities->mask)),
          "", diagnostics);
  }
}

}  // namespace

void check_dcb_entry(const Desired& one, Diagnostics& diagnostics) {
  check_shares(one, diagnostics);
  check_dscps(one, diagnostics);
}

void check_dcb(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
               Diagnostics& diagnostics) {
  for (auto& one : desired) {
    if (one.key.kind != kKind || one.pending) continue;
    const auto* link = world.named(one.key.id);
    if (link == nullptr) {
      one.pending = fmt::format("no interface {} now", one.key.id);
      one.settings.clear();
      continue;
    }
    if (link->name != one.key.id) {
      error(one, "interface", fmt::format("{} is an alternative name of {}", one.key.id, link->name),
            fmt::format("write interface = \"{}\"", link->name), diagnostics);
      continue;
    }
    const auto at = std::find_if(observed.begin(), observed.end(),
                                 [&](const auto& other) { return other.key == one.key; });
    if (at == observed.end()) {
      error(one, "interface", fmt::format("{} has no data center bridging", one.key.id),
            hint_without_dcb(*link, world), diagnostics);
      continue;
    }
    check_offered(one, *at, diagnostics);
    if (driver_of(*link, world) == "mlx5_core") check_told_apart(one, diagnostics);
  }
}

}  // namespace rdmacfg::kinds
