// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/service_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/host/package_table.hpp"
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

void refuse_against_opensm(std::span<const model::Section* const> managers, const model::Section& section,
                           const std::string& id, Diagnostics& diagnostics) {
  const bool theirs = id == "opensm.service" || (id.starts_with("opensm@") && id.ends_with(".service"));
  if (managers.empty() || !theirs) return;
  for (const auto* key : {"enabled", "running"}) {
    const auto* found = section.find(key);
    if (found == nullptr || found->value != model::Value{false}) continue;
    auto& d = diagnostics.emplace_back(
        model::Diagnostic{Severity::kError,
                          found->where,
                          fmt::format("[[service]] {} = false: [[opensm]] enables and starts {}", key, id),
                          "remove one of the two",
                          {}});
    d.related.push_back({managers.front()->where, "the subnet manager"});
  }
}

void refuse_own_unit(const model::Section& section, const std::string& id, Diagnostics& diagnostics) {
  if (!is_own_unit(id)) return;
  const auto refuse = [&](const model::Entry& setting, std::string what, std::string hint) {
    diagnostics.push_back({Severity::kError, setting.where, std::move(what), std::move(hint), {}});
  };
  if (const auto* running = section.find("running"))
    refuse(*running, fmt::format("[[service]] running: {} is part of what applies this document", id),
           "leave running out; systemctl starts and stops it");
  const auto* enabled = section.find("enabled");
  if (enabled != nullptr && enabled->value == model::Value{false} && id == "rdma-configd.service")
    refuse(*enabled, "[[service]] enabled = false: the host would be left alone from its next start on",
           "remove the line; `rdma-configctl withdraw` hands the host over");
}

namespace {

bool is_listed_in(std::string_view name, const std::string& folder, system::Files& files) {
  const auto names = files.list(folder);
  return names && std::find(names->begin(), names->end(), name) != names->end();
}

/// "/etc/init.d/openibd", of which systemd makes no unit: the generator is gone in release 260.
std::string script_without_unit(std::string_view unit, system::Files& files) {
  for (const std::string root : {"/usr/lib", "/lib"}) {
    if (is_listed_in("systemd-sysv-generator", root + "/systemd/system-generators", files)) return {};
  }
  const auto name = unit.substr(0, unit.rfind('.'));
  for (const std::string folder : {"/etc/init.d", "/etc/rc.d/init.d"}) {
    if (is_listed_in(name, folder, files)) return fmt::format("{}/{}", folder, name);
  }
  return {};
}

}  // namespace

std::string why_not_there(const std::string& name, system::Files& files) {
  if (const auto script = script_without_unit(name, files); !script.empty())
    return fmt::format(
        "there is no such unit, and systemd makes none here of the init script {} (from release 260 on it "
        "makes none anywhere): write a unit that starts it",
        script);
  const auto* package = package_of_unit(name);
  return "there is no such unit" + (package == nullptr ? "" : how_to_get(*package, files));
}

}  // namespace rdmacfg::kinds
