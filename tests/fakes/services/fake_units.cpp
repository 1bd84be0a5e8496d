// SPDX-License-Identifier: Apache-2.0
#include "fakes/services/fake_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/text.hpp"

namespace rdmacfg::fakes {

using base::fail;
using base::fail_errno;
using base::Result;

namespace {

constexpr const char* kMounts = "/proc/1/mountinfo";
constexpr std::string_view kUnitFiles = "/etc/systemd/system/";
constexpr std::string_view kMountUnit = ".mount";

bool is_oneshot(std::string_view path, std::string_view text) {
  return path.ends_with(".service") && text.find("\nType=oneshot\n") != std::string_view::npos;
}

/// The value of a line "Key=value" of a unit, with specifiers undone.
std::string line_of(const std::string& unit, const std::string& key) {
  const auto at = unit.find("\n" + key + "=");
  if (at == std::string::npos) return {};
  const auto start = at + key.size() + 2;
  auto value = unit.substr(start, unit.find('\n', start) - start);
  for (std::size_t i = 0; (i = value.find("%%", i)) != std::string::npos; ++i) value.erase(i, 1);
  return value;
}

/// The last LimitMEMLOCK= of drop-ins; systemd 252's default without one.
std::string memlock_of(const std::string& drop_ins) {
  std::string limit = "8388608";
  for (const auto line : base::split(drop_ins, '\n')) {
    if (line.starts_with("LimitMEMLOCK=")) limit = std::string(line.substr(13));
  }
  return limit;
}

base::Failure no_systemd() { return fail(base::Code::kUnsupported, "no systemd answers"); }

base::Failure no_unit(const std::string& unit) {
  return fail(base::Code::kNotFound, "Unit " + unit + " not found.");
}

}  // namespace

FakeUnit& FakeUnits::add(const std::string& name, const FakeUnit& unit) {
  auto& added = units[name] = unit;
  added.drop_ins = drop_ins_of(name);
  if (added.running) start(added);
  return added;
}

void FakeUnits::start(FakeUnit& unit) {
  unit.running = !unit.oneshot;
  unit.pid = next_pid_++;
  unit.memlock = memlock_of(unit.drop_ins);
  ++unit.starts_seen;
  const bool ends = unit.ends && unit.ends();
  if (ends) unit.running = false;
  unit.restarting = ends && unit.restarts;
  unit.failed = ends && !unit.restarts;
}

void FakeUnits::reboot() {
  files_.content.erase(kMounts);
  read_fragments();
  const auto at_boot = drop_ins_of("remote-fs.target");
  for (auto& [name, unit] : units) {
    unit.drop_ins = drop_ins_of(name);
    unit.running = unit.restarting = unit.failed = false;
    if (!unit.fragment.empty() && unit.starts &&
        at_boot.find("\nWants=" + name + "\n") != std::string::npos) {
      start(unit);
      if (name.ends_with(kMountUnit)) mount(name, unit);
      if (started) started(name);
    }
    if (unit.enabled && unit.starts && !unit.masked && !name.ends_with("@.service")) {
      start(unit);
      if (started) started(name);
    }
  }
}

void FakeUnits::read_fragments() {
  for (const auto& [path, text] : files_.content) {
    if (!path.starts_with(kUnitFiles) || !(path.ends_with(kMountUnit) || is_oneshot(path, text))) continue;
    const auto [at, made] = units.try_emplace(path.substr(kUnitFiles.size()));
    if (made) at->second.installable = false;
    if (made) at->second.oneshot = is_oneshot(path, text);
    at->second.fragment = text;
  }
  std::erase_if(units, [&](const auto& entry) {
    return !entry.second.fragment.empty() && !entry.second.running &&
           !files_.content.contains(std::string(kUnitFiles) + entry.first);
  });
}

void FakeUnits::mount(const std::string& /*name*/, const FakeUnit& unit) {
  const auto options = line_of(unit.fragment, "Options");
  const auto shown = options.starts_with("_netdev,") ? options.substr(8) : options;
  files_.content[kMounts] +=
      fmt::format("40 25 0:42 / {} rw,relatime shared:1 - nfs4 {} rw,{}\n", line_of(unit.fragment, "Where"),
                  line_of(unit.fragment, "What"), shown);
}

void FakeUnits::unmount(const FakeUnit& unit) {
  std::string left;
  for (const auto line : base::split(files_.content[kMounts], '\n')) {
    const auto words = base::split(line, ' ');
    if (words.size() > 4 && words[4] != line_of(unit.fragment, "Where")) left += std::string(line) + "\n";
  }
  files_.content[kMounts] = left;
  if (left.empty()) files_.content.erase(kMounts);
}

std::string FakeUnits::dump() const {
  std::string out;
  for (const auto& [name, unit] : units) {
    if (name.ends_with("@.service")) continue;
    // An instance that nobody enabled or started is as if it were not there.
    if (name.find('@') != std::string::npos && !unit.enabled && !unit.running && !unit.restarting &&
        !unit.failed)
      continue;
    out += fmt::format("unit {}{}{}", name, unit.enabled ? " enabled" : " disabled",
                       unit.running ? " running" : " stopped");
    if (unit.masked) out += " masked";
    if (unit.restarting) out += " restarting";
    if (unit.failed) out += " failed";
    if (unit.running && unit.fragment.empty()) out += " memlock " + unit.memlock;
    const auto file = files_.content.find(std::string(kUnitFiles) + name);
    const bool stale =
        !unit.fragment.empty() && (file == files_.content.end() || file->second != unit.fragment);
    if (stale || unit.drop_ins != drop_ins_of(name)) out += " needs-reload";
    out += "\n";
  }
  return out;
}

std::string FakeUnits::drop_ins_of(const std::string& name) const {
  std::string all;
  const auto add = [&](const std::string& unit) {
    for (const auto& [path, text] : files_.content) {
      if (path.starts_with("/etc/systemd/system/" + unit + ".d/") && path.ends_with(".conf"))
        all += text + "\n";
    }
  };
  const auto at = name.find('@');
  if (at != std::string::npos && !name.ends_with("@.service")) add(name.substr(0, at + 1) + ".service");
  add(name);
  if (const auto unit = units.find(name); unit != units.end() && unit->second.enabled) {
    for (const auto& alias : unit->second.aliases) add(alias);
  }
  return all;
}

std::string FakeUnits::own_name(const std::string& name) const {
  for (const auto& [own, unit] : units) {
    if (unit.enabled && std::find(unit.aliases.begin(), unit.aliases.end(), name) != unit.aliases.end())
      return own;
  }
  return name;
}

/// Loaded when somebody asks for it.
FakeUnit* FakeUnits::find_oneshot(const std::string& name) {
  const auto path = std::string(kUnitFiles) + name;
  const auto file = files_.content.find(path);
  if (file == files_.content.end() || !is_oneshot(path, file->second)) return nullptr;
  auto& unit = units[name];
  unit.installable = false;
  unit.oneshot = true;
  unit.fragment = file->second;
  unit.drop_ins = drop_ins_of(name);
  return &unit;
}

/// Loaded when somebody asks for it; active while something is mounted there, whoever did it.
FakeUnit* FakeUnits::find_mount(const std::string& name) {
  const auto file = files_.content.find(std::string(kUnitFiles) + name);
  if (!units.contains(name) && file == files_.content.end()) return nullptr;
  auto& unit = units[name];
  if (unit.fragment.empty() && file != files_.content.end()) {
    unit.installable = false;
    unit.fragment = file->second;
  }
  const auto mounts = files_.content.find(kMounts);
  unit.running = mounts != files_.content.end() &&
                 mounts->second.find(" " + line_of(unit.fragment, "Where") + " ") != std::string::npos;
  return &unit;
}

FakeUnit* FakeUnits::find(const std::string& name) {
  const auto own = own_name(name);
  if (own.ends_with(kMountUnit)) return find_mount(own);
  if (const auto at = units.find(own); at != units.end()) return &at->second;
  if (auto* unit = find_oneshot(own)) return unit;
  const auto at = own.find('@');
  if (at == std::string::npos) return nullptr;
  const auto model = units.find(own.substr(0, at + 1) + ".service");
  if (model == units.end()) return nullptr;
  auto& made = units[own] = model->second;
  made.drop_ins = drop_ins_of(own);
  return &made;
}

Result<std::optional<std::vector<system::Unit>>> FakeUnits::observe_units(
    std::span<const std::string> names) {
  if (observe_error != 0) return fail_errno(observe_error, "ListUnitsByNames");
  if (!answers) return std::optional<std::vector<system::Unit>>{};
  std::vector<system::Unit> all;
  for (const auto& name : names) {
    // As systemd 252 has it: a template fails the whole call, a name without a suffix is skipped.
    if (name.find("@.") != std::string::npos) return fail_errno(EINVAL, "ListUnitsByNames: " + name);
    if (name.find('.') == std::string::npos) continue;
    system::Unit unit;
    unit.name = name;
    unit.id = own_name(name);
    const auto* from = find(name);
    unit.load = from == nullptr ? "not-found" : from->masked ? "masked" : "loaded";
    unit.active = "inactive";
    unit.sub = "dead";
    if (from != nullptr) {
      if (from->running) {
        unit.active = "active";
        unit.sub = "running";
      } else if (from->restarting) {
        unit.active = "activating";
        unit.sub = "auto-restart";
      } else if (from->failed) {
        unit.active = unit.sub = "failed";
      }
      unit.file = from->masked         ? "masked"
                  : from->generated    ? "generated"
                  : from->transient    ? "transient"
                  : from->indirect     ? "indirect"
                  : !from->installable ? "static"
                  : from->enabled      ? "enabled"
                                       : "disabled";
      unit.main_pid = from->running ? from->pid : 0;
      const auto file = files_.content.find(std::string(kUnitFiles) + unit.id);
      const bool stale =
          !from->fragment.empty() && (file == files_.content.end() || file->second != from->fragment);
      unit.needs_reload = stale || from->drop_ins != drop_ins_of(unit.id);
      unit.ends_by_itself = from->oneshot;
      unit.stops_unneeded = !from->needed;
    }
    all.push_back(std::move(unit));
  }
  return std::optional(std::move(all));
}

Result<std::optional<std::vector<system::Unit>>> FakeUnits::observe_instances(const std::string& unit) {
  if (observe_error != 0) return fail_errno(observe_error, "ListUnitsByPatterns");
  if (!answers) return std::optional<std::vector<system::Unit>>{};
  std::vector<system::Unit> all;
  for (const auto& [name, instance] : units) {
    if (name == unit || !instance.running || !name.starts_with(unit.substr(0, unit.find('@') + 1))) continue;
    auto& found = all.emplace_back();
    found.name = found.id = name;
    found.load = "loaded";
    found.active = "active";
    found.sub = "running";
    found.main_pid = instance.pid;
  }
  return std::optional(std::move(all));
}

Result<void> FakeUnits::set_enabled(const std::string& name, bool enabled) {
  if (!answers) return no_systemd();
  auto* unit = find(name);
  if (unit == nullptr) return no_unit(name);
  if (unit->indirect) return {};  // what Also= names is enabled, and its state stays
  if (unit->generated || unit->transient)
    return fail(base::Code::kInvalid, "Unit file " + name + " is transient or generated.");
  if (enabled && (unit->masked || !unit->installable)) {
    return fail(base::Code::kUnsupported, name + ": its unit file has no [Install] section");
  }
  const std::string what = fmt::format("{}: {}", name, enabled ? "enable" : "disable");
  const int err = faults_.call(what, [&] {
    unit->enabled = enabled;
    return 0;
  });
  return err == 0 ? Result<void>() : fail_errno(err, what);
}

Result<void> FakeUnits::act(system::UnitAction action, const std::string& name) {
  if (!answers) return no_systemd();
  auto* unit = find(name);
  if (unit == nullptr) return no_unit(name);
  const std::string what = fmt::format("{}: {}", name, text_of(action));
  const int err = faults_.call(what, [&]() -> int {
    using system::UnitAction;
    switch (action) {
      case UnitAction::kStart:
        if (unit->running) return 0;
        [[fallthrough]];
      case UnitAction::kRestart:
        if (unit->running && (unit->busy || unit->hangs)) return EIO;
        if (unit->running && !unit->fragment.empty()) unmount(*unit);
        unit->running = false;
        if (unit->masked || !unit->starts) return EIO;
        if (!unit->refuses.empty() && unit->refuses == memlock_of(unit->drop_ins)) return EIO;
        if (!unit->condition.empty()) return 0;
        if (unit->needed) start(*unit);
        if (unit->needed && started) started(name);
        if (name.ends_with(kMountUnit) && !unit->fragment.empty()) mount(name, *unit);
        return 0;
      case UnitAction::kStop:
        if (unit->running && (unit->busy || unit->hangs)) return EIO;
        if (unit->running && !unit->fragment.empty()) unmount(*unit);
        unit->running = unit->restarting = false;
        return 0;
      case UnitAction::kReload:
        if (!unit->running || !unit->reloads) return EOPNOTSUPP;
        ++unit->hangups;
        return 0;
    }
    return 0;
  });
  return err == 0 ? Result<void>() : fail_errno(err, what);
}

std::string FakeUnits::unmet_condition(const std::string& name) {
  const auto* unit = answers ? find(name) : nullptr;
  return unit == nullptr ? std::string() : unit->condition;
}

Result<void> FakeUnits::signal(const std::string& name, int number) {
  if (!answers) return no_systemd();
  auto* unit = find(name);
  if (unit == nullptr) return no_unit(name);
  const std::string what = fmt::format("{}: signal {}", name, number);
  const int err = faults_.call(what, [&] {
    if (!unit->running) return ESRCH;
    if (number == SIGHUP) ++unit->hangups;
    return 0;
  });
  return err == 0 ? Result<void>() : fail_errno(err, what);
}

Result<void> FakeUnits::kill(const std::string& name) {
  if (!answers) return no_systemd();
  auto* unit = find(name);
  if (unit == nullptr) return no_unit(name);
  const int err = faults_.call(name + ": kill", [&] {
    unit->running = unit->hangs = false;
    return 0;
  });
  return err == 0 ? Result<void>() : fail_errno(err, name + ": kill");
}

std::optional<model::LockLimit> FakeUnits::observe_memlock(std::int64_t pid) {
  for (const auto& [name, unit] : units) {
    if (!unit.running || unit.pid != pid) continue;
    if (unit.memlock == "infinity") return model::LockLimit{};
    const auto kib = unit.memlock.ends_with('K')
                         ? base::parse_number(unit.memlock.substr(0, unit.memlock.size() - 1))
                         : base::parse_number(unit.memlock);
    if (kib)
      return model::LockLimit{static_cast<std::int64_t>(unit.memlock.ends_with('K') ? *kib : *kib / 1024)};
  }
  return std::nullopt;
}

Result<void> FakeUnits::reload_manager() {
  if (!answers) return no_systemd();
  const int err = faults_.call("systemd: daemon-reload", [&] {
    read_fragments();
    for (auto& [name, unit] : units) unit.drop_ins = drop_ins_of(name);
    return 0;
  });
  return err == 0 ? Result<void>() : fail_errno(err, "daemon-reload");
}

}  // namespace rdmacfg::fakes
