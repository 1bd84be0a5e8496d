// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_running.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Guid;
using system::UnitAction;

namespace {

constexpr std::string_view kRan = "it ran: ";
constexpr std::uint64_t kTick = 10'000;  ///< microseconds of USER_HZ (proc(5))
/// A subnet manager that is started as soon as its port is there begins before udev has dealt with the
/// device. Where the kernel does not say when it made the device, udev has so long for it.
constexpr std::uint64_t kUdevIsLate = 5'000'000;

std::string content(system::Files& files, const std::string& path) {
  const auto text = files.read(path);
  return text && *text ? std::string(base::trim(**text)) : std::string();
}

/// When the MAD device of a port came, microseconds since boot.
struct UmadSince {
  std::uint64_t seen = 0;             ///< when udev first saw it
  std::optional<std::uint64_t> made;  ///< not before that time, where the kernel says when it made the device
};

/// udev may be late, as long as it is at boot: by no more than its record is younger than the device.
std::optional<std::uint64_t> made_at(system::Files& files, const std::string& device,
                                     const std::string& record, std::uint64_t seen) {
  const auto device_born = files.born(device), record_born = files.born(record);
  if (!device_born || !record_born || *record_born < *device_born) return std::nullopt;
  const auto late = *record_born - *device_born;
  return late < seen ? std::optional(seen - late) : std::nullopt;
}

std::optional<UmadSince> umad_since(system::Files& files, const PortRef& port) {
  const std::string folder = "/sys/class/infiniband_mad";
  const auto names = files.list(folder);
  if (!names) return std::nullopt;
  for (const auto& name : *names) {
    const auto at = folder + "/" + name;
    if (!name.starts_with("umad") || content(files, at + "/ibdev") != port.device->name ||
        base::parse_number(content(files, at + "/port")) != static_cast<std::uint64_t>(port.port->number))
      continue;
    const auto record = "/run/udev/data/c" + content(files, at + "/dev");
    const auto database = content(files, record);
    for (const auto line : base::split(database, '\n')) {
      const auto seen = line.starts_with("I:") ? base::parse_number(line.substr(2)) : std::nullopt;
      if (seen) return UmadSince{*seen, made_at(files, "/dev/infiniband/" + name, record, *seen)};
    }
  }
  return std::nullopt;
}

/// Where systemd has not read their drop-ins.
Result<void> read_drop_ins(const std::set<Guid>& ports, system::Host& host) {
  if (ports.empty()) return {};
  const auto units = observe_opensm_units(host, ports);
  if (!units) return base::fail(units.error());
  const bool stale =
      std::any_of(units->begin(), units->end(), [](const auto& unit) { return unit.second.needs_reload; });
  return stale ? host.units.reload_manager() : Result<void>{};
}

}  // namespace

std::optional<std::uint64_t> process_began(system::Files& files, std::int64_t pid) {
  constexpr std::size_t kStartTime = 20;  // 22nd of all, and the second ends with the last ')'
  const auto text = content(files, fmt::format("/proc/{}/stat", pid));
  const auto end = text.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  const auto fields = base::split(std::string_view(text).substr(end + 1), ' ');
  const auto ticks = fields.size() > kStartTime ? base::parse_number(fields[kStartTime]) : std::nullopt;
  return ticks ? std::optional(*ticks * kTick) : std::nullopt;
}

bool lost_port(system::Files& files, const PortRef& port, std::int64_t pid) {
  if (pid <= 0) return false;
  const auto since = umad_since(files, port);
  const auto start = since ? process_began(files, pid) : std::nullopt;
  if (!start || since->seen <= *start) return false;
  return since->seen > *start + kUdevIsLate || since->made.value_or(0) > *start + kTick;
}

Result<OpensmUnits> observe_opensm_units(system::Host& host, const std::set<Guid>& guids) {
  std::vector<std::string> names{kOpensmService};
  for (const auto guid : guids) names.push_back(opensm_unit(guid));
  return observe_units_by_name(names, host);
}

bool runs(const OpensmUnits& units, const std::string& name) {
  const auto at = units.find(name);
  return at != units.end() && is_up(at->second);
}

bool rests(const OpensmUnits& units, const std::string& name) {
  const auto at = units.find(name);
  return at == units.end() || (!is_up(at->second) && !waits_for_restart(at->second));
}

bool is_enabled(const OpensmUnits& units) {
  const auto at = units.find(kOpensmService);
  return at != units.end() && at->second.file == "enabled";
}

std::set<Guid> infiniband_ports(const World& world) {
  std::set<Guid> out;
  for (const auto& device : world.snapshot().devices) {
    for (const auto& port : device.ports) {
      if (port.link_layer == "InfiniBand" && port.guid.number != 0) out.insert(port.guid);
    }
  }
  return out;
}

Result<std::vector<std::string>> running_opensm(system::Host& host) {
  const auto world = World::observe(host);
  if (!world) return base::fail(world.error());
  const auto units = observe_opensm_units(host, infiniband_ports(*world));
  if (!units) return base::fail(units.error());
  const auto layout = observe_opensm_layout(host.files);
  std::vector<std::string> out;
  for (const auto& [name, unit] : *units) {
    // Debian's opensm.service only starts the others.
    const bool starter = layout == OpensmLayout::kDebian && name == kOpensmService;
    if (unit.active == "active" && !starter && (layout == OpensmLayout::kRhel || unit.main_pid != 0))
      out.push_back(name);
  }
  return out;
}

Result<std::vector<std::string>> running_readers(system::Host& host, const OpensmReaders& of) {
  if (of.none()) return std::vector<std::string>{};
  auto running = running_opensm(host);
  if (!running || of.all) return running;
  std::set<std::string> own;
  for (const auto port : of.own) own.insert(opensm_unit(port));
  const auto layout = observe_opensm_layout(host.files);
  const auto sysconfig = layout == OpensmLayout::kRhel
                             ? content(host.files, opensm_defaults_path(OpensmLayout::kRhel))
                             : std::string();
  const bool in_files = parse_opensm_defaults(sysconfig).in_files;
  const auto reads_common = [&](const std::string& unit) {
    return !in_files && !names_own_conf(content(host.files, opensm_drop_in(unit)));
  };
  // RHEL's service runs them all, and goes on with a file that was removed.
  const bool service_reads = takes_files(sysconfig, layout) && !own.empty();
  const auto reads_own = [&](const std::string& unit) { return service_reads || own.contains(unit); };
  std::erase_if(*running, [&](const std::string& unit) {
    return !reads_own(unit) && !(of.common && reads_common(unit));
  });
  return running;
}

Result<std::vector<std::string>> RunningByPort::of(std::optional<Guid> port, const OpensmReaders& readers) {
  const auto at = known_.find(port);
  if (at != known_.end()) return at->second;
  auto units = running_readers(host_, readers);
  if (units) known_.emplace(port, *units);
  return units;
}

namespace {

/// Restarts one, and sees whether it goes on: OpenSM ends at options that it refuses.
Result<void> restart_opensm(const std::string& unit, bool one_process, system::Host& host) {
  if (auto done = host.units.act(UnitAction::kRestart, unit); !done) return done;
  if (one_process) (void)host.units.await_handler(unit, SIGHUP);
  const auto now = observe_unit(unit, host);
  if (!now) return base::fail(now.error());
  if (!*now || is_up(**now)) return {};
  return base::fail(base::Code::kIo,
                    fmt::format("{0}: exited after its restart; `journalctl -u {0}` shows why", unit));
}

/// Of those that ran before a change which is undone now: subnet managers that it ended.
Result<std::set<std::string>> ended(const std::set<std::string>& ran, system::Host& host) {
  std::set<std::string> out;
  const std::vector<std::string> names(ran.begin(), ran.end());
  const auto units = observe_units_by_name(names, host);
  if (!units) return base::fail(units.error());
  for (const auto& [name, unit] : *units) {
    if (unit.active == "failed" || waits_for_restart(unit)) out.insert(name);
  }
  return out;
}

}  // namespace

Result<void> tell_opensm(system::Host& host, const OpensmReaders& restart, const OpensmReaders& reread,
                         const std::set<std::string>& ran) {
  if (restart.none() && reread.none()) return {};
  if (auto done = read_drop_ins(restart.own, host); !done) return done;
  // RHEL's main process is the shell that starts them, which a signal would end; others' may be one, too.
  const bool signals = observe_opensm_layout(host.files) == OpensmLayout::kDebian;
  const auto ends = running_readers(host, restart), goes_on = running_readers(host, reread);
  if (!ends) return base::fail(ends.error());
  if (!goes_on) return base::fail(goes_on.error());
  auto restarted = ended(ran, host);
  if (!restarted) return base::fail(restarted.error());
  restarted->insert(ends->begin(), ends->end());
  if (!signals) restarted->insert(goes_on->begin(), goes_on->end());
  for (const auto& unit : *restarted) {
    if (auto done = restart_opensm(unit, signals, host); !done) return done;
  }
  for (const auto& unit : *goes_on) {
    if (restarted->contains(unit)) continue;
    if (auto done = host.units.signal(unit, SIGHUP); !done) return done;
  }
  return {};
}

std::string carried_unit(const std::string& unit) { return std::string(kRan) + unit; }

std::set<std::string> units_that_ran(std::span<const model::Change> changes) {
  std::set<std::string> out;
  for (const auto& change : changes) {
    // One that the document drops may be stopped by the same plan, and a stop may count as a failure.
    if (change.origins.empty()) continue;
    for (const auto& text : change.carried) {
      if (text.starts_with(kRan)) out.insert(text.substr(kRan.size()));
    }
  }
  return out;
}

Result<void> reread_partitions(system::Host& host, const std::set<std::string>& ran) {
  return tell_opensm(host, {}, {.all = true}, ran);
}

}  // namespace rdmacfg::kinds
