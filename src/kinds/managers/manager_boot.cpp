// SPDX-License-Identifier: Apache-2.0
#include "kinds/managers/manager_boot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "kinds/host/unit_boot.hpp"
#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Severity;

// systemd-networkd.socket starts the service on the kernel's first rtnetlink message.
ManagerUnits networkd_units() {
  return {"systemd-networkd.service", {"systemd-networkd.socket", "systemd-networkd-wait-online.service"}};
}

ManagerUnits network_manager_units() {
  return {"NetworkManager.service", {"NetworkManager-wait-online.service"}};
}

namespace {

constexpr std::string_view kWithout =
    "so the interfaces that it configures have no addresses after the next boot";
constexpr const char* kNetworkManagerState = "/var/lib/NetworkManager/NetworkManager.state";

/// The first resource of a kind that is to be configured; nullptr: none is.
const Desired* first_configured(std::string_view kind, const std::vector<Desired>& desired) {
  const auto first = std::find_if(desired.begin(), desired.end(), [&](const Desired& resource) {
    return resource.key.kind == kind && !resource.ignore && !resource.settings.empty();
  });
  return first == desired.end() ? nullptr : &*first;
}

/// The number of the line NetworkingEnabled=false in the section [main]; 0: NetworkManager is switched on.
int line_that_switches_off(std::string_view text) {
  std::string_view section;
  int number = 0, found = 0;
  for (const auto raw : base::split(text, '\n')) {
    ++number;
    const auto line = base::trim(raw);
    if (line.starts_with('[') && line.ends_with(']')) section = line;
    const auto equals = line.find('=');
    if (section != "[main]" || equals == std::string_view::npos) continue;
    if (base::trim(line.substr(0, equals)) != "NetworkingEnabled") continue;
    // Of a key that is there twice the last line counts (GKeyFile).
    const auto value = base::trim(line.substr(equals + 1));
    found = value == "false" || value == "0" ? number : 0;
  }
  return found;
}

}  // namespace

void warn_of_manager_at_boot(std::string_view kind, const ManagerUnits& manager,
                             const std::vector<Desired>& desired, World& world,
                             model::Diagnostics& diagnostics) {
  if (world.offline()) return;
  const auto* first = first_configured(kind, desired);
  if (first == nullptr || is_enabled_by_document(manager.service, desired)) return;
  if (const auto place = mask_at_boot(manager.service, world.host().files); !place.empty()) {
    diagnostics.push_back({Severity::kWarning,
                           first->where,
                           fmt::format("{} masks {} from the next boot on (systemd.mask=), {}", place,
                                       manager.service, kWithout),
                           "remove the word there, and update the boot loader's configuration",
                           {}});
    return;
  }
  std::vector<std::string> names{std::string(manager.service)};
  for (const auto starter : manager.starters) names.emplace_back(starter);
  const auto units = observe_units_by_name(names, world.host());
  if (!units) return;  // the query of the manager reports this
  const auto service = units->find(names.front());
  if (service == units->end() || !service->second.there()) return;
  const bool masked = is_masked_for_good(service->second);
  const bool left_out = std::all_of(units->begin(), units->end(), [&](const auto& named) {
    return is_left_out_at_boot(named.second, world.host().files);
  });
  if (!masked && !left_out) return;
  const auto reason = why_left_out(service->second, world.host().files);
  diagnostics.push_back({Severity::kWarning,
                         first->where,
                         fmt::format("{} is {}, {}", manager.service, reason.why, kWithout),
                         fmt::format("{}, or choose another backend for its ports", reason.remedy),
                         {}});
}

void warn_of_networking_off(std::string_view kind, const std::vector<Desired>& desired, World& world,
                            model::Diagnostics& diagnostics) {
  if (world.offline()) return;
  const auto* first = first_configured(kind, desired);
  if (first == nullptr) return;
  const auto text = world.host().files.read(kNetworkManagerState);
  const int line = text && *text ? line_that_switches_off(**text) : 0;
  if (line == 0) return;
  diagnostics.push_back(
      {Severity::kWarning,
       first->where,
       fmt::format("{}:{} switches NetworkManager off, {}", kNetworkManagerState, line, kWithout),
       "`nmcli networking on`, or choose another backend for its ports",
       {}});
}

}  // namespace rdmacfg::kinds
