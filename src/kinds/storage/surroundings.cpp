// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/surroundings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "kinds/host/package_table.hpp"
#include "kinds/units.hpp"
#include "model/inet_types.hpp"

namespace rdmacfg::kinds {

namespace {

/// The backing file of a loop device or of a partition on one; empty for other devices.
std::string file_behind(const std::string& device, system::Files& files) {
  constexpr std::string_view kLoop = "/dev/loop";
  if (!device.starts_with(kLoop)) return {};
  const auto rest = std::string_view(device).substr(kLoop.size());
  const auto number = base::parse_number(rest.substr(0, rest.find('p')));
  if (!number) return {};
  const auto text = files.read(fmt::format("/sys/devices/virtual/block/loop{}/loop/backing_file", *number));
  return text && *text ? std::string(base::trim(**text)) : std::string();
}

}  // namespace

std::set<std::string_view> ids_of(const std::vector<model::Desired>& desired, std::string_view kind) {
  std::set<std::string_view> out;
  for (const auto& resource : desired) {
    if (resource.key.kind == kind) out.insert(resource.key.id);
  }
  return out;
}

std::map<std::string, model::Key> given_addresses(const std::vector<model::Desired>& desired) {
  std::map<std::string, model::Key> out;
  for (const auto& resource : desired) {
    if (resource.key.kind != "address" || resource.ignore) continue;
    const auto prefix = resource.key.id.substr(resource.key.id.rfind(' ') + 1);
    out.emplace(prefix.substr(0, prefix.find('/')), resource.key);
  }
  return out;
}

std::optional<std::string> covered_address(const std::vector<std::string>& addresses) {
  std::set<model::Family> wildcards;
  for (const auto& text : addresses) {
    const auto address = model::IpAddress::parse(text);
    if (address && address->unspecified()) wildcards.insert(address->family);
  }
  for (const auto& text : addresses) {
    const auto address = model::IpAddress::parse(text);
    if (address && !address->unspecified() && wildcards.contains(address->family)) return text;
  }
  return std::nullopt;
}

std::map<std::string, Mounted> observe_mounts(system::Files& files) {
  for (const auto* path : {"/proc/1/mountinfo", "/proc/self/mountinfo"}) {
    const auto text = files.read(path);
    if (text && *text) return parse_mountinfo(**text);
  }
  return {};
}

std::set<std::string> mounted_devices(system::Files& files) {
  std::set<std::string> out{""};
  for (const auto& [where, mount] : observe_mounts(files)) {
    out.insert(mount.source);
    out.insert(file_behind(mount.source, files));
  }
  return out;
}

bool wants_any(const std::vector<model::Desired>& desired, std::string_view kind) {
  return std::any_of(desired.begin(), desired.end(), [&](const model::Desired& resource) {
    return resource.key.kind == kind && !resource.settings.empty();
  });
}

std::string why_no_unit(const std::string& unit, std::string_view package, system::Host& host) {
  const auto found = observe_unit(unit, host);
  if (!found || !*found) return kNoSystemd;
  return (*found)->there() ? std::string() : without_program(unit, package, host.files);
}

std::string why_no_program(const NeededProgram& program, const std::string& unit, system::Host& host) {
  const auto found = observe_unit(unit, host);
  if (!found || !*found) return kNoSystemd;
  if (is_installed(*find_package(program.package), host.packages)) return {};
  return without_program(program.name, program.package, host.files);
}

std::vector<std::string> LeavingSessions::all() const {
  std::vector<std::string> out;
  for (const auto& [id, names] : by_id) out.insert(out.end(), names.begin(), names.end());
  return out;
}

std::vector<std::string> LeavingSessions::siblings(const std::string& id) const {
  std::vector<std::string> out;
  for (const auto& [other, names] : by_id) {
    if (other != id) out.insert(out.end(), names.begin(), names.end());
  }
  return out;
}

base::Result<LeavingSessions> with_use(LeavingSessions leaving, const DiskUses& uses) {
  const auto why = why_disks_stay(leaving.all(), {}, uses);
  if (!why) return base::fail(why.error());
  leaving.in_use = !why->empty();
  return leaving;
}

std::string why_sessions_held(const base::Result<LeavingSessions>& leaving, const std::string& id,
                              const DiskUses& uses, std::string_view remedy) {
  if (!leaving || !leaving->in_use) return {};
  const auto at = leaving->by_id.find(id);
  if (at == leaving->by_id.end()) return {};
  const auto why = why_disks_stay(at->second, leaving->siblings(id), uses);
  return why && !why->empty() ? fmt::format("{}; {}", *why, remedy) : std::string();
}

Verdict judge_sessions(const std::vector<std::string>& sessions, const std::optional<std::string>& job,
                       const SessionWords& words) {
  Verdict verdict;
  if (std::any_of(sessions.begin(), sessions.end(),
                  [&](const std::string& session) { return session.ends_with(words.live); }))
    return verdict;
  verdict.sort = Verdict::Sort::kPending;
  verdict.fields = {std::string(words.field)};
  if (job) {
    verdict.reason =
        fmt::format("systemd has the {} job of {} in its queue, behind other jobs", *job, words.unit);
  } else if (!sessions.empty()) {
    verdict.reason = fmt::format("{}: {}", sessions.front(), words.retry);
  } else {
    verdict.reason = words.missing;
  }
  return verdict;
}

base::Result<std::string> why_disks_stay(const std::vector<std::string>& going,
                                         const std::vector<std::string>& others, const DiskUses& uses) {
  if (going.empty()) return std::string();
  auto found = uses(going);
  if (!found) return base::fail(found.error());
  if (found->empty() && !others.empty()) {
    const auto without = uses(others);
    if (!without) return base::fail(without.error());
    auto all = going;
    all.insert(all.end(), others.begin(), others.end());
    found = uses(all);
    if (!found) return base::fail(found.error());
    std::erase_if(*found, [&](const auto& use) {
      return std::find(without->begin(), without->end(), use) != without->end();
    });
  }
  constexpr std::size_t kUsesNamed = 3;
  return base::join_first(kUsesNamed, *found, ", ");
}

base::Result<void> require_unused(std::string_view label, const std::vector<std::string>& names,
                                  const DiskUses& uses) {
  const auto why = why_disks_stay(names, {}, uses);
  if (!why) return base::fail(why.error());
  if (why->empty()) return {};
  return base::fail(base::Code::kBusy, fmt::format("{}: {}", label, *why));
}

base::Result<void> reach_targets(const TargetStart& start, system::Host& host) {
  auto missing = start.missing();
  if (!missing) return base::fail(missing.error());
  if (!start.always && missing->empty()) return {};
  const auto started = start.start();
  missing = start.missing();
  if (!missing) return base::fail(missing.error());
  if (missing->empty()) return {};
  if (!started) return started;
  const auto unit = observe_unit(start.unit, host);
  if (!host.holding || (unit && *unit && !(*unit)->job.empty())) return {};
  return base::fail(base::Code::kTimeout, fmt::format("{}: {}", base::join(*missing, ", "), start.failed));
}

}  // namespace rdmacfg::kinds
