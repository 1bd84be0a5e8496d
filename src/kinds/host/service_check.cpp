// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/service_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "formats/boot_command_line.hpp"
#include "formats/drop_ins.hpp"
#include "kinds/host/boot_targets.hpp"
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

/// The units that `systemctl enable` of this unit enables in its place: its file has no rules of its own
/// beside Also=, so that it stays "indirect" (unit_file_lookup_state() in install.c). Nothing for others.
std::optional<std::vector<std::string>> enabled_instead(const system::Unit& unit, system::Files& files) {
  constexpr std::array<std::string_view, 4> kRules{"Alias", "WantedBy", "RequiredBy", "UpheldBy"};
  if (unit.file != "indirect") return std::nullopt;
  const auto at = unit.name.find('@');
  const auto type = unit.name.substr(std::min(unit.name.rfind('.'), unit.name.size()));
  const auto file = at == std::string::npos ? unit.name : unit.name.substr(0, at + 1) + type;
  for (const auto folder : kUnitLoadPath) {
    const auto text = files.read_linked(fmt::format("{}/{}", folder, file));
    if (!text || !*text) continue;
    const bool own = std::any_of(kRules.begin(), kRules.end(), [&](std::string_view rule) {
      return !assigned_values(**text, rule).empty();
    });
    if (own) return std::nullopt;  // enabling it makes links, and it is indirect for another's
    std::vector<std::string> out;
    for (const auto& value : assigned_values(**text, "Also")) {
      for (const auto word : base::words_of(value)) out.emplace_back(word);
    }
    return out;
  }
  return std::nullopt;  // the apply will tell
}

}  // namespace

void warn_of_sockets(const std::vector<Desired>& desired, World& world, Diagnostics& diagnostics) {
  const auto services = by_socket(desired);
  if (services.empty() || world.offline()) return;
  std::vector<std::string> names;
  for (const auto& service : services) names.push_back(service.first);
  const auto units = observe_units_by_name(names, world.host());
  if (!units) return;  // the services' own look says so
  const auto entries = model::by_key(desired);
  for (const auto& service : services) {
    const auto& socket = service.first;
    const auto* resource = service.second;
    const auto at = units->find(socket);
    if (at == units->end() || !at->second.there()) continue;
    const auto own = entries.find({"service", socket});
    const auto stays = [&](std::string_view setting, bool now) {
      return now && is_off(*resource, setting) && (own == entries.end() || !is_off(*own->second, setting));
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

void warn_of_boot_words(const std::vector<Desired>& desired, system::Files& files, Diagnostics& diagnostics) {
  std::map<std::string, std::string> masked, started;  // places by unit
  for (const auto& boot : boot_command_lines(files)) {
    const auto place_of = [&](std::string_view key) {
      return fmt::format("{}:{}", boot.file, boot.line_of(key));
    };
    for (auto& unit : units_masked_by(boot.words))
      masked.try_emplace(std::move(unit), place_of("systemd.mask="));
    for (auto& unit : units_wanted_by(boot.words))
      started.try_emplace(std::move(unit), place_of("systemd.wants="));
  }
  const auto tell = [&](const Desired& resource, const std::string& key, const std::string& what) {
    const auto at = resource.origins.find(key);
    diagnostics.push_back({Severity::kWarning,
                           at == resource.origins.end() ? resource.where : at->second,
                           fmt::format("[[service]] {}: {}", key, what),
                           "remove the word there, and update the boot loader's configuration",
                           {}});
  };
  for (const auto& resource : desired) {
    if (resource.key.kind != "service") continue;
    const auto& id = resource.key.id;
    for (const auto* key : {"enabled", "running"}) {
      const auto place = masked.find(id);
      if (place == masked.end() || model::value_of(resource.settings, key) != model::Value{true}) continue;
      tell(resource, key,
           fmt::format("{} masks {} from the next boot on (systemd.mask=)", place->second, id));
      break;
    }
    if (const auto place = started.find(id); place != started.end() && is_off(resource, "enabled"))
      tell(resource, "enabled",
           fmt::format("{} starts {} at the next boot (systemd.wants=)", place->second, id));
  }
}

void warn_of_unreached(const std::vector<Desired>& desired, std::span<const system::Unit> units,
                       system::Files& files, Diagnostics& diagnostics) {
  const auto entries = model::by_key(desired);
  const auto is_to_be_enabled = [&](const system::Unit& unit) {
    const auto entry = entries.find({"service", unit.name});
    return entry != entries.end() && unit.load != "masked" &&
           model::value_of(entry->second->settings, "enabled") == model::Value{true};
  };
  BootTargets targets(files);
  for (const auto& unit : units) {
    if (is_to_be_enabled(unit)) targets.enable(unit);  // one of them may start another
  }
  for (const auto& unit : units) {
    const bool linkable = unit.file == "enabled" || unit.file == "disabled" || unit.file == "enabled-runtime";
    if (!is_to_be_enabled(unit) || !linkable) continue;
    const auto unreached = targets.unreached(unit);
    if (!unreached) continue;
    const auto entry = entries.find({"service", unit.name});
    const auto place = entry->second->origins.find("enabled");
    diagnostics.push_back({Severity::kWarning,
                           place == entry->second->origins.end() ? entry->second->where : place->second,
                           fmt::format("[[service]] enabled: {} does not start at the next boot: it is {}",
                                       unit.name, unreached->text()),
                           unreached->remedy(unit.name),
                           {}});
  }
}

std::string remedy_of_mask(const system::Unit& unit, system::Files& files) {
  const auto masked = units_masked_by(running_command_line(files));
  if (std::find(masked.begin(), masked.end(), unit.name) != masked.end())
    return fmt::format("remove systemd.mask={} from the kernel command line and reboot, or leave it out here",
                       unit.name);
  return fmt::format("systemctl unmask {}{}, or leave it out here",
                     unit.file == "masked-runtime" ? "--runtime " : "", unit.name);
}

void leave_indirect(Desired& desired, const system::Unit& unit, system::Files& files,
                    Diagnostics& diagnostics) {
  if (!desired.settings.contains("enabled")) return;
  const auto others = enabled_instead(unit, files);
  if (!others) return;
  const auto named = others->empty() ? std::string("those units") : base::join(*others, ", ");
  const auto place = desired.origins.find("enabled");
  diagnostics.push_back(
      {Severity::kWarning,
       place == desired.origins.end() ? desired.where : place->second,
       fmt::format(
           "[[service]] enabled: {} itself can be neither enabled nor disabled, as its unit file only "
           "names other units (Also=)",
           unit.name),
       fmt::format("write entries for {}, and leave enabled out here", named),
       {}});
  desired.settings.erase("enabled");
}

base::Result<void> start_service(const std::string& unit, system::Host& host) {
  if (auto done = host.units.act(system::UnitAction::kStart, unit); !done) return done;
  const auto now = observe_unit(unit, host);
  if (!now) return base::fail(now.error());
  if (!*now || is_up(**now) || waits_for_restart(**now)) return {};
  if ((*now)->active == "failed")
    return base::fail(base::Code::kIo,
                      fmt::format("{0}: exited right after its start; `journalctl -u {0}` shows why", unit));
  if (const auto condition = host.units.unmet_condition(unit); !condition.empty())
    return base::fail(base::Code::kIo,
                      fmt::format("{}: systemd skips its start, as {} of its unit file does not hold; leave "
                                  "running out, or write running = false",
                                  unit, condition));
  return base::fail(
      base::Code::kIo,
      fmt::format("{0}: is {1} after its start: the service has ended, or a condition of its unit "
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
    refuse(*enabled, "[[service]] enabled = false: the host would no longer be managed after its next boot",
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
        "no such unit: systemd 260 and newer generate none from the init script {}; write a unit that "
        "starts it",
        script);
  const auto* package = package_of_unit(name);
  return "there is no such unit" + (package == nullptr ? "" : how_to_get(*package, files));
}

}  // namespace rdmacfg::kinds
