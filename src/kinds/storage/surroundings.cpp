// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/surroundings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "kinds/host/package_table.hpp"
#include "kinds/host/unit_boot.hpp"
#include "kinds/units.hpp"
#include "model/types/inet_types.hpp"

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

std::optional<std::size_t> covered_address(const std::vector<std::string>& addresses) {
  std::set<model::Family> wildcards;
  for (const auto& text : addresses) {
    const auto address = model::IpAddress::parse(text);
    if (address && address->unspecified()) wildcards.insert(address->family);
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto address = model::IpAddress::parse(addresses[i]);
    if (address && !address->unspecified() && wildcards.contains(address->family)) return i;
  }
  return std::nullopt;
}

std::set<std::string> mounted_devices(system::Files& files) {
  std::set<std::string> out{""};
  for (const auto& [where, mount] : observe_mounts(files)) {
    if (is_anybodys(mount)) continue;
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

void warn_of_remote_fs(std::string_view kind, const std::vector<model::Desired>& desired, World& world,
                       model::Diagnostics& diagnostics) {
  constexpr const char* kRemoteFs = "remote-fs.target";
  if (world.offline()) return;
  const auto first = std::find_if(desired.begin(), desired.end(), [&](const model::Desired& resource) {
    return resource.key.kind == kind && model::value_of(resource.settings, "at_boot") == model::Value{true};
  });
  if (first == desired.end() || is_enabled_by_document(kRemoteFs, desired)) return;
  if (const auto place = mask_at_boot(kRemoteFs, world.host().files); !place.empty()) {
    diagnostics.push_back(
        {model::Severity::kWarning,
         first->where,
         fmt::format("[[{}]]: {} masks {} from the next boot on (systemd.mask=), so that boot does not start "
                     "what it wants",
                     kind, place, kRemoteFs),
         "remove the word there, and update the boot loader's configuration",
         {}});
    return;
  }
  const auto unit = observe_unit(kRemoteFs, world.host());
  if (!unit || !*unit || !(*unit)->there() || !is_left_out_at_boot(**unit, world.host().files)) return;
  auto reason = why_left_out(**unit, world.host().files);
  diagnostics.push_back({model::Severity::kWarning,
                         first->where,
                         fmt::format("[[{}]]: {} is {}, so its units do not start at the next boot", kind,
                                     kRemoteFs, reason.why),
                         std::move(reason.remedy),
                         {}});
}

std::string why_no_program(const NeededProgram& program, const std::string& unit, system::Host& host) {
  const auto found = observe_unit(unit, host);
  if (!found || !*found) return kNoSystemd;
  if (is_installed(*find_package(program.package), host.packages)) return {};
  return without_program(program.name, program.package, host.files);
}

}  // namespace rdmacfg::kinds
