// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_units.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kinds/opensm/opensm_interrupts.hpp"
#include "kinds/opensm/opensm_launch.hpp"
#include "kinds/opensm/opensm_own.hpp"
#include "kinds/opensm/opensm_running.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Guid;
using system::UnitAction;

namespace {

// In Change::carried: opensm.service before it, as undoing may find nothing of that in the file.
constexpr std::string_view kDisabled = "opensm.service is disabled";
constexpr std::string_view kStopped = "opensm.service is stopped";
// And what of that the file said, as undoing may find it gone.
constexpr std::string_view kWasDisabled = "opensm.service was disabled";
constexpr std::string_view kWasStopped = "opensm.service was stopped";
// That lines of ours name the port, as undoing may find that others' do so, too, and those are gone.
constexpr std::string_view kWasListed = "our lines name it";
// Of ports that the document drops: others' lines go on starting them.
constexpr std::string_view kStaysEnabled = "opensm.service stays enabled";

Result<std::string> read_defaults(system::Files& files, OpensmLayout layout) {
  auto text = files.read(opensm_defaults_path(layout));
  if (!text) return base::fail(text.error());
  return text->value_or("");
}

/// opensm.service, and the file that names its ports.
struct ServiceNow {
  OpensmLayout layout = OpensmLayout::kNone;
  std::string text;  ///< of the file
  OpensmUnits units;
};

Result<ServiceNow> observe_service(system::Host& host) {
  ServiceNow out;
  out.layout = observe_opensm_layout(host.files);
  auto text = read_defaults(host.files, out.layout);
  if (!text) return base::fail(text.error());
  out.text = std::move(*text);
  auto units = observe_opensm_units(host, {});
  if (!units) return base::fail(units.error());
  out.units = std::move(*units);
  return out;
}

/// Files of others by which RHEL's opensm.service starts subnet managers; none elsewhere.
Result<LaunchFiles> launch_files(system::Files& files, OpensmLayout layout, const std::string& text) {
  return layout == OpensmLayout::kRhel ? observe_launch_files(files, text)
                                       : Result<LaunchFiles>(LaunchFiles());
}

/// Whether the file names the port, and the part of it that is ours is as it would be written now.
bool is_listed(const std::string& text, OpensmLayout layout, Guid guid) {
  const auto defaults = parse_opensm_defaults(text);
  return names_port(text, layout, guid) &&
         (!defaults.ports.contains(guid) || render_opensm_defaults(defaults, layout) == text);
}

bool carries(std::span<const Change> changes, std::string_view what) {
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    return std::find(change.carried.begin(), change.carried.end(), what) != change.carried.end();
  });
}

/// Whether others have Debian's opensm.service start it, where that is enabled; then the file needs nothing
/// of ours.
bool named_by_others(const OpensmDefaults& defaults, Guid guid, OpensmLayout layout) {
  return layout == OpensmLayout::kDebian && !defaults.was_disabled && !defaults.ports.contains(guid) &&
         names_port(defaults.others, layout, guid);
}

/// Files and lines of others that start OpenSM on a port.
struct Starters {
  bool file = false;  ///< a file of its own
  bool line = false;  ///< named_by_others()
};

/// Whether others' files or lines go on starting one that is to be enabled.
bool left_to_others(const Change& change, const Starters& others, const OpensmUnits& units) {
  const std::span<const Change> only(&change, 1);
  if (carries(only, kWasListed)) return false;
  const bool enabled = is_enabled(units) || carries(only, kOpensmOfOthers);
  return others.file || (others.line && enabled && !carries(only, kWasDisabled));
}

/// Whether it is to run and did not count as running: one that runs all the same has lost its port.
bool revives(const Change& change) {
  return model::from_attributes<Opensm>(change.after).running == true &&
         model::from_attributes<Opensm>(change.before).running == false && change.differs_in("running");
}

/// Starts one again that runs without its port. It does not end by itself where it waits for an answer from
/// that port, and systemd gives it TimeoutStopSec= (90 s) without a subnet manager: it is killed. Its
/// files (guid2lid) are written under another name first (osm_db_files.c).
Result<void> revive(const std::string& unit, std::int64_t pid, Guid guid, system::Host& host) {
  const auto world = World::observe(host);
  if (!world) return base::fail(world.error());
  if (const auto port = world->port(guid); port && lost_port(host.files, *port, pid)) {
    if (auto done = host.units.kill(unit); !done) return done;
  }
  return host.units.act(UnitAction::kRestart, unit);
}

/// The file with what changes want of it, and opensm.service enabled as long as ports of ours are in it.
Result<bool> set_defaults(std::span<const Change> changes, system::Host& host, OpensmLayout layout,
                          const OpensmUnits& units) {
  const auto text = read_defaults(host.files, layout);
  if (!text) return base::fail(text.error());
  auto defaults = parse_opensm_defaults(*text);
  const auto before = defaults;
  const auto theirs = launch_files(host.files, layout, *text);
  if (!theirs) return base::fail(theirs.error());
  bool had = !defaults.ports.empty(), others_start = false;
  for (const auto& change : changes) {
    const auto wanted = model::from_attributes<Opensm>(change.after);
    const auto guid = Guid::parse(change.key.id);
    if (!guid) continue;
    // Dropped entries have no lines of ours, whatever becomes of the port.
    if (wanted.enabled == false || (!wanted.enabled && change.origins.empty())) defaults.ports.erase(*guid);
    if (wanted.enabled != true) continue;
    const Starters others{.file = wanted.own_conf != true && theirs->contains(*guid),
                          .line = named_by_others(before, *guid, layout)};
    if (left_to_others(change, others, units)) {
      others_start = true;
      continue;
    }
    auto& priority = defaults.ports[*guid];
    priority.reset();
    if (layout != OpensmLayout::kRhel) continue;
    if (wanted.priority) priority = static_cast<int>(*wanted.priority);
    defaults.in_files = wanted.own_conf == true;  // of all or of none: check() sees to that
  }
  const bool has = !defaults.ports.empty();
  if (has && !had) {
    defaults.was_disabled = !is_enabled(units) || carries(changes, kWasDisabled);
    defaults.was_stopped =
        layout == OpensmLayout::kRhel && (!runs(units, kOpensmService) || carries(changes, kWasStopped));
  } else if (!has && !had && !others_start) {
    defaults.was_disabled = defaults.was_disabled || carries(changes, kDisabled);
    defaults.was_stopped = defaults.was_stopped || carries(changes, kStopped);
    had = defaults.was_disabled || defaults.was_stopped;
  }
  const auto path = opensm_defaults_path(layout);
  if (before.damage && defaults != before) return base::fail(error_of(*before.damage, path));
  // First what follows from the file, as it holds what was before.
  if (!has && had && defaults.was_disabled && is_enabled(units) && !carries(changes, kStaysEnabled)) {
    if (auto done = host.units.set_enabled(kOpensmService, false); !done) return base::fail(done.error());
  }
  if (!has && had && defaults.was_stopped && !rests(units, kOpensmService)) {
    if (auto done = host.units.act(UnitAction::kStop, kOpensmService); !done) return base::fail(done.error());
  }
  const auto content = render_opensm_defaults(defaults, layout);
  const bool differs = !before.damage && content != *text;
  if (differs) {
    auto done = content.empty() ? host.files.remove(path) : host.files.edit(path, content);
    if (!done) return base::fail(done.error());
  }
  if ((has || others_start) && !is_enabled(units)) {
    if (auto done = host.units.set_enabled(kOpensmService, true); !done) return base::fail(done.error());
  }
  return differs;
}

Result<void> apply_instances(std::span<const Change> changes, system::Host& host, bool stale) {
  std::set<Guid> guids;
  std::set<std::string> restart;
  for (const auto& change : changes) {
    const auto guid = Guid::parse(change.key.id);
    if (!guid) continue;
    guids.insert(*guid);
    const auto wanted = model::from_attributes<Opensm>(change.after);
    const auto path = opensm_drop_in(*guid);
    const auto before = host.files.read(path);
    if (!before) return base::fail(before.error());
    const auto conf = own_conf_of(host.files, *guid);
    if (!conf) return base::fail(conf.error());
    const auto text = render_opensm_drop_in(wanted.priority, *conf);
    auto done = text.empty() ? host.files.remove(path) : host.files.write(path, text);
    if (!done) return done;
    const bool touched = stale && change.differs_in("priority");
    if (touched || parse_opensm_drop_in(before->value_or("")) != wanted.priority)
      restart.insert(opensm_unit(*guid));
  }
  const auto units = observe_opensm_units(host, guids);
  if (!units) return base::fail(units.error());
  if (units->empty()) return base::fail(base::Code::kUnsupported, "opensm: no systemd answers");
  if (auto done = set_defaults(changes, host, OpensmLayout::kDebian, *units); !done)
    return base::fail(done.error());
  if (std::any_of(units->begin(), units->end(), [](const auto& unit) { return unit.second.needs_reload; })) {
    if (auto done = host.units.reload_manager(); !done) return done;
  }
  for (const auto& change : changes) {
    const auto wanted = model::from_attributes<Opensm>(change.after);
    const auto guid = Guid::parse(change.key.id);
    if (!guid || !wanted.running) continue;
    const auto name = opensm_unit(*guid);
    const bool running = runs(*units, name);
    Result<void> done;
    if (running && revives(change)) {
      done = revive(name, units->at(name).main_pid, *guid, host);
    } else if (*wanted.running ? !running : !rests(*units, name)) {
      done = host.units.act(*wanted.running ? UnitAction::kStart : UnitAction::kStop, name);
    } else if (running && restart.contains(name)) {
      done = host.units.act(UnitAction::kRestart, name);
    }
    if (!done) return done;
    // Two that start at once both make /var/cache/opensm, and the later one ends (osm_db_files.c). Whether it
    // runs is looked at afterwards, when one has ended that refuses its options.
    if (*wanted.running && (!running || restart.contains(name))) (void)host.units.await_handler(name, SIGHUP);
  }
  return {};
}

/// One service runs them all, so what concerns one of them restarts them all.
Result<void> apply_service(std::span<const Change> changes, system::Host& host, bool stale) {
  const auto units = observe_opensm_units(host, {});
  if (!units) return base::fail(units.error());
  if (units->empty()) return base::fail(base::Code::kUnsupported, "opensm: no systemd answers");
  const auto differs = set_defaults(changes, host, OpensmLayout::kRhel, *units);
  if (!differs) return base::fail(differs.error());
  const bool wanted = std::any_of(changes.begin(), changes.end(), [](const auto& change) {
    return model::from_attributes<Opensm>(change.after).running == true;
  });
  const auto now = observe_opensm_units(host, {});
  if (!now) return base::fail(now.error());
  if (!runs(*now, kOpensmService)) {
    return wanted ? host.units.act(UnitAction::kStart, kOpensmService) : Result<void>{};
  }
  for (const auto& change : changes) {
    const auto guid = Guid::parse(change.key.id);
    if (guid && revives(change)) return revive(kOpensmService, now->at(kOpensmService).main_pid, *guid, host);
  }
  return *differs || stale ? host.units.act(UnitAction::kRestart, kOpensmService) : Result<void>{};
}

}  // namespace

Result<std::map<Guid, OpensmNow>> observe_opensm(system::Host& host, OpensmLayout layout,
                                                 const std::set<Guid>& guids) {
  std::map<Guid, OpensmNow> out;
  if (layout == OpensmLayout::kNone) return out;
  const bool debian = layout == OpensmLayout::kDebian;
  const auto text = read_defaults(host.files, layout);
  if (!text) return base::fail(text.error());
  const auto units = observe_opensm_units(host, debian ? guids : std::set<Guid>{});
  if (!units) return base::fail(units.error());
  const auto defaults = parse_opensm_defaults(*text);
  const auto theirs = launch_files(host.files, layout, *text);
  if (!theirs) return base::fail(theirs.error());
  for (const auto guid : guids) {
    const auto unit = units->find(debian ? opensm_unit(guid) : kOpensmService);
    if (unit == units->end() || !unit->second.there()) continue;
    Opensm now;
    const bool by_file = theirs->contains(guid) && !defaults.ports.contains(guid);
    const bool listed = by_file || is_listed(*text, layout, guid);
    now.enabled = listed && is_enabled(*units);
    // Lines that are not as they would be written have been read all the same.
    const bool named = by_file || names_port(*text, layout, guid);
    now.running = runs(*units, unit->first) && (debian || named);
    if (debian) {
      auto drop_in = host.files.read(opensm_drop_in(guid));
      if (!drop_in) return base::fail(drop_in.error());
      now.priority = parse_opensm_drop_in(drop_in->value_or(""));
    } else if (const auto at = defaults.ports.find(guid); at != defaults.ports.end()) {
      now.priority = at->second;
      if (defaults.in_files) now.own_conf = true;
    } else if (by_file) {
      now.priority = theirs->at(guid).priority;
    }
    const bool starts = is_enabled(*units) || (!debian && now.running == true);
    const bool by_others = listed && starts && !defaults.damage && !defaults.ports.contains(guid);
    out.emplace(guid, OpensmNow{now, named, by_others, unit->second.main_pid});
  }
  return out;
}

Result<void> give_back_opensm(std::span<Change*> changes, system::Host& host) {
  const auto service = observe_service(host);
  if (!service) return base::fail(service.error());
  const auto& [layout, text, units] = *service;
  const auto now = parse_opensm_defaults(text);
  auto then = now;
  bool stays_enabled = false;
  const auto dropped = [](const Change& change) { return change.origins.empty(); };
  for (const auto* change : changes) {
    const auto guid = Guid::parse(change->key.id);
    if (!guid || !dropped(*change)) continue;
    then.ports.erase(*guid);
    // It was enabled before the document had the port, whatever somebody did to it since.
    stays_enabled = stays_enabled || (model::from_attributes<Opensm>(change->after).enabled == true &&
                                      names_port(now.others, layout, *guid));
  }
  const bool last = then.ports.empty() && !now.ports.empty();
  const bool enabled = is_enabled(units) && (!last || !now.was_disabled || stays_enabled);
  const bool running = runs(units, kOpensmService) && (!last || !now.was_stopped);
  const auto rest = render_opensm_defaults(then, layout);
  const auto theirs = launch_files(host.files, layout, rest);
  if (!theirs) return base::fail(theirs.error());
  for (auto* change : changes) {
    const auto guid = Guid::parse(change->key.id);
    if (!guid || !dropped(*change)) continue;
    if (stays_enabled) change->carried.emplace_back(kStaysEnabled);
    const bool named = theirs->contains(*guid) || names_port(rest, layout, *guid);
    const auto becomes = [&](const std::string& field, bool on) {
      const auto at = change->after.find(field);
      if (at == change->after.end()) return;
      std::erase(change->fields, field);
      if (on) {  // by others' lines: nothing to be given back
        change->after.erase(at);
        return;
      }
      at->second = false;
      if (model::value_of(change->before, field) != model::Value{false}) change->fields.push_back(field);
    };
    becomes("enabled", named && enabled);
    if (layout == OpensmLayout::kRhel && (!named || running)) becomes("running", named);
  }
  return {};
}

Result<void> prepare_opensm(std::span<Change*> changes, const World& world) {
  const auto service = observe_service(world.host());
  if (!service) return base::fail(service.error());
  const auto& [layout, text, units] = *service;
  const bool rhel = layout == OpensmLayout::kRhel;
  const bool running = runs(units, kOpensmService);
  const auto defaults = parse_opensm_defaults(text);
  const bool first = defaults.ports.empty();
  for (auto* change : changes) {
    if (rhel && running) change->interrupts.emplace_back("every OpenSM of this host is restarted");
    if (first && !is_enabled(units)) change->carried.emplace_back(kDisabled);
    if (first && rhel && !running) change->carried.emplace_back(kStopped);
    if (defaults.was_disabled) change->carried.emplace_back(kWasDisabled);
    if (defaults.was_stopped) change->carried.emplace_back(kWasStopped);
    const auto guid = Guid::parse(change->key.id);
    if (guid && defaults.ports.contains(*guid)) change->carried.emplace_back(kWasListed);
  }
  if (takes_first_port(text, layout) && (running || is_enabled(units))) {
    const auto instances = observe_opensm_instances(world.host().files);
    if (!instances) return base::fail(instances.error());
    if (instances->empty()) detail::name_first_port(changes, world);
  }
  const auto theirs = launch_files(world.host().files, layout, text);
  if (!theirs) return base::fail(theirs.error());
  if (rhel) detail::name_prefixes(changes, text, *theirs, world);
  return {};
}

Result<void> apply_opensm(std::span<const Change> changes, system::Host& host, OpensmFiles files) {
  const bool stale = files == OpensmFiles::kMaybeUnread;
  return observe_opensm_layout(host.files) == OpensmLayout::kRhel ? apply_service(changes, host, stale)
                                                                  : apply_instances(changes, host, stale);
}

}  // namespace rdmacfg::kinds
