// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_started.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "formats/managed_block.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "formats/opensm/opensm_files.hpp"
#include "formats/opensm/opensm_options.hpp"
#include "kinds/opensm/opensm_own.hpp"
#include "kinds/opensm/opensm_running.hpp"
#include "model/value.hpp"
#include "system/files.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Guid;
using model::Observed;

namespace {

constexpr std::uint64_t kMicroseconds = 1'000'000;  ///< of a second
/// The time of boot is in whole seconds, and processes begin in ticks.
constexpr std::uint64_t kRounding = 2 * kMicroseconds;

using Owner = std::optional<Guid>;  ///< of an opensm.conf; nothing: the one for all

/// Microseconds since 1970, by the clock as it is set now.
struct HostTimes {
  std::uint64_t boot = 0;
  std::uint64_t now = 0;
};

std::optional<HostTimes> host_times(system::Files& files) {
  constexpr std::string_view kBoot = "btime ";
  const auto uptime = files.read("/proc/uptime"), stat = files.read("/proc/stat");
  if (!uptime || !*uptime || !stat || !*stat) return std::nullopt;
  const auto up = base::parse_number((*uptime)->substr(0, (*uptime)->find('.')));
  if (!up) return std::nullopt;
  for (const auto line : base::split(**stat, '\n')) {
    const auto boot =
        line.starts_with(kBoot) ? base::parse_number(base::trim(line.substr(kBoot.size()))) : std::nullopt;
    if (boot) return HostTimes{*boot * kMicroseconds, (*boot + *up) * kMicroseconds};
  }
  return std::nullopt;
}

/// The path of an opensm.conf, and those of files that it names and that are read at start.
std::vector<std::string> read_at_start(system::Files& files, const std::string& conf) {
  std::vector<std::string> out{conf};
  const auto text = files.read(conf);
  if (!text || !*text) return out;
  const auto marked = parse_marked(**text, kOpensmMarks);
  for (const auto& file : opensm_side_files()) {
    if (!file.at_start) continue;
    auto named = last_opensm_option(marked.lines, file.option, OpensmLines::kAll);
    if (named && named->value.starts_with('/')) out.push_back(std::move(named->value));
  }
  return out;
}

/// The first of these files that was written after a process had begun; empty: none was.
std::string written_after(system::Files& files, const std::vector<std::string>& paths, std::uint64_t began,
                          const HostTimes& times) {
  for (const auto& path : paths) {
    const auto at = files.modified(path);
    if (at && *at > times.boot + began + kRounding && *at <= times.now + kRounding) return path;
  }
  return {};
}

/// Whether OpenSM is restarted when a file of the document is written (OpensmFileKind::prepare()).
bool restarts_its_readers(const Desired& file, OpensmLayout layout) {
  const auto* side = opensm_side_file(OpensmOwner::of(file.key.id).option);
  return side != nullptr && !file.ignore && (side->at_start || layout != OpensmLayout::kDebian);
}

bool any_setting_differs(const Desired& resource, const Observed* now) {
  return std::any_of(resource.settings.begin(), resource.settings.end(), [&](const auto& setting) {
    return now == nullptr || model::value_of(now->settings, setting.first) != setting.second;
  });
}

/// The first entry in each opensm.conf, of those with no entry that differs, and no file whose change
/// restarts OpenSM.
std::map<Owner, const Desired*> settled_entries(std::span<const Desired> desired,
                                                std::span<const Observed> observed, OpensmLayout layout) {
  std::map<model::Key, const Observed*> now;
  for (const auto& resource : observed) now.emplace(resource.key, &resource);
  std::map<Owner, const Desired*> out;
  std::set<Owner> differ;
  for (const auto& resource : desired) {
    const auto owner = OpensmOwner::of(resource.key.id).port;
    const auto at = now.find(resource.key);
    if (resource.key.kind == "opensm_file" && restarts_its_readers(resource, layout) &&
        any_setting_differs(resource, at == now.end() ? nullptr : at->second))
      differ.insert(owner);
    if (resource.key.kind != "opensm_option") continue;
    out.emplace(owner, &resource);
    if (at == now.end() ||
        model::value_of(at->second->settings, "value") != model::value_of(resource.settings, "value"))
      differ.insert(owner);
  }
  for (const auto& owner : differ) out.erase(owner);
  return out;
}

/// Which opensm.conf a port's subnet manager reads.
class ConfOfPort {
 public:
  ConfOfPort(system::Files& files, const std::string& folder) : layout_(observe_opensm_layout(files)) {
    if (auto confs = observe_own_confs(files, folder)) confs_ = std::move(*confs);
    if (layout_ != OpensmLayout::kRhel) return;
    const auto sysconfig = files.read(opensm_defaults_path(layout_));
    in_files_ = sysconfig && parse_opensm_defaults(sysconfig->value_or("")).in_files;
  }

  [[nodiscard]] std::string unit(Guid port) const {
    return layout_ == OpensmLayout::kRhel ? std::string(kOpensmService) : opensm_unit(port);
  }
  /// Outer nothing: none that is known.
  [[nodiscard]] std::optional<Owner> owner(Guid port) const {
    const auto at = confs_.find(port);
    if (at != confs_.end() && at->second.is_read) return std::optional<Owner>(std::in_place, port);
    if (in_files_) return std::nullopt;
    return std::optional<Owner>(std::in_place);
  }
  [[nodiscard]] std::string path(const Owner& owner, const std::string& folder) const {
    return owner ? own_conf_path(layout_, folder, *owner) : folder + "/opensm.conf";
  }

 private:
  OpensmLayout layout_;
  std::map<Guid, OwnConf> confs_;
  bool in_files_ = false;
};

}  // namespace

void warn_of_earlier_start(std::span<const Desired> desired, std::span<const Observed> observed,
                           const std::string& folder, const World& world, model::Diagnostics& diagnostics) {
  auto& host = world.host();
  const auto entries = settled_entries(desired, observed, observe_opensm_layout(host.files));
  if (entries.empty()) return;
  const auto ports = infiniband_ports(world);
  const auto units = observe_opensm_units(host, ports);
  if (!units) return;
  const ConfOfPort confs(host.files, folder);
  std::optional<HostTimes> times;
  std::set<std::pair<std::string, Owner>> seen;
  for (const auto port : ports) {
    const auto owner = confs.owner(port);
    const auto entry = owner ? entries.find(*owner) : entries.end();
    const auto unit = confs.unit(port);
    if (entry == entries.end() || !runs(*units, unit) || !seen.emplace(unit, *owner).second) continue;
    const auto began = process_began(host.files, units->at(unit).main_pid);
    if (began && !times) times = host_times(host.files);
    if (!began || !times) continue;
    const auto paths = read_at_start(host.files, confs.path(*owner, folder));
    const auto path = written_after(host.files, paths, *began, *times);
    if (path.empty()) continue;
    diagnostics.push_back(
        {model::Severity::kWarning,
         entry->second->where,
         fmt::format("[[{}]]: {} was started before {} was last written, and may run with other options",
                     *owner ? "opensm.option" : "opensm_option", unit, path),
         fmt::format("OpenSM reads that file when it starts: `systemctl restart {}`", unit),
         {}});
  }
}

}  // namespace rdmacfg::kinds
