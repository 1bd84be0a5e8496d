// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/service_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Diagnostics;
using model::Severity;

namespace {

constexpr std::string_view kServiceEnd = ".service";

bool is_off(const Desired& resource, std::string_view setting) {
  return model::value_of(resource.settings, setting) == model::Value{false};
}

/// Entries that stop or disable a service, by the name that its socket has unless its unit file says
/// otherwise.
std::map<std::string, const Desired*> by_socket(const std::vector<Desired>& desired) {
  std::map<std::string, const Desired*> out;
  for (const auto& resource : desired) {
    const auto& name = resource.key.id;
    if (resource.key.kind != "service" || !name.ends_with(kServiceEnd)) continue;
    if (!is_off(resource, "running") && !is_off(resource, "enabled")) continue;
    out.emplace(name.substr(0, name.size() - kServiceEnd.size()) + ".socket", &resource);
  }
  return out;
}

}  // namespace

void warn_of_sockets(const std::vector<Desired>& desired, World& world, Diagnostics& diagnostics) {
  const auto services = by_socket(desired);
  if (services.empty() || world.offline()) return;
  std::vector<std::string> names;
  for (const auto& service : services) names.push_back(service.first);
  const auto units = observe_units_by_name(names, world.host());
  if (!units) return;  // the services' own look says so
  for (const auto& service : services) {
    const auto& socket = service.first;
    const auto* resource = service.second;
    const auto at = units->find(socket);
    if (at == units->end() || !at->second.there()) continue;
    const auto own = std::find_if(desired.begin(), desired.end(), [&](const Desired& other) {
      return other.key.kind == "service" && other.key.id == socket;
    });
    const auto stays = [&](std::string_view setting, bool now) {
      return now && is_off(*resource, setting) && (own == desired.end() || !is_off(*own, setting));
    };
    const bool listens = stays("running", at->second.active == "active");
    if (!listens && !stays("enabled", at->second.file == "enabled")) continue;
    const auto* const setting = listens ? "running" : "enabled";
    const auto place = resource->origins.find(setting);
    diagnostics.push_back(
        {Severity::kWarning,
         place == resource->origins.end() ? resource->where : place->second,
         listens ? fmt::format("[[service]] running: {} starts {} at the next connection", socket,
                               resource->key.id)
                 : fmt::format("[[service]] enabled: {} is enabled, and starts {} at a connection after boot",
                               socket, resource->key.id),
         fmt::format("write an entry with name = \"{}\" and {} = false, too", socket, setting),
         {}});
  }
}

base::Result<void> start_service(const std::string& unit, system::Host& host) {
  if (auto done = host.units.act(system::UnitAction::kStart, unit); !done) return done;
  const auto now = observe_unit(unit, host);
  if (!now) return base::fail(now.error());
  if (!*now || is_up(**now) || waits_for_restart(**now)) return {};
  if ((*now)->active == "failed")
    return base::fail(base::Code::kIo,
                      fmt::format("{0}: it ended right after its start; `journalctl -u {0}` says why", unit));
  return base::fail(base::Code::kIo,
                    fmt::format("{0}: it is {1} after its start: it has ended, or a condition of its unit "
                                "file is not met; `systemctl status {0}` says which",
                                unit, (*now)->active));
}

}  // namespace rdmacfg::kinds
