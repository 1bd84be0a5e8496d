// SPDX-License-Identifier: Apache-2.0
#include "kinds/managers/nm_forwarding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kinds/address/coming_names.hpp"
#include "kinds/host/sysctl_entry.hpp"
#include "model/value.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Diagnostics;

namespace {

constexpr std::string_view kIpv4Settings = "net/ipv4/conf/";
constexpr std::string_view kForwardingEnd = "/forwarding";
constexpr const char* kDefaultForwarding = "net/ipv4/conf/default/forwarding";
/// A write to the first two sets the default as well (inet_forward_change() of net/ipv4/devinet.c).
constexpr auto kDefaultsByPath = std::to_array<std::string_view>(
    {"net/ipv4/ip_forward", "net/ipv4/conf/all/forwarding", "net/ipv4/conf/default/forwarding"});

/// Whether one runs here, and leaves forwarding alone.
bool leaves_forwarding_alone(const World& world) {
  if (world.offline()) return false;
  const auto& state = world.network_manager();
  return state && *state && !(*state)->version.empty() && ::strverscmp((*state)->version.c_str(), "1.54") < 0;
}

}  // namespace

void warn_of_nm_forwarding(const std::vector<Desired>& desired, const World& world,
                           Diagnostics& diagnostics) {
  std::map<std::string, const Desired*> entries;  // of [[sysctl]], by interface
  std::string initial;                            // the value of new interfaces
  for (const auto& resource : desired) {
    if (resource.key.kind != kSysctlKind || resource.ignore) continue;
    const std::string_view path = resource.key.id;
    const auto value = model::text_at(resource.settings, "file");
    if (value.empty()) continue;
    if (std::find(kDefaultsByPath.begin(), kDefaultsByPath.end(), path) != kDefaultsByPath.end()) {
      if (initial.empty() || path == kDefaultForwarding) initial = value;
    } else if (path.starts_with(kIpv4Settings) && path.ends_with(kForwardingEnd)) {
      entries.emplace(sysctl_interface(path), &resource);
    }
  }
  if (entries.empty() || leaves_forwarding_alone(world)) return;
  if (initial.empty() && !world.offline())
    initial = world.host().sysctl.read(kDefaultForwarding).value_or(std::string());
  if (initial.empty()) initial = "0";
  const ComingNames names(desired, world);
  for (const auto& resource : desired) {
    if (resource.key.kind != "nm_profile" || resource.ignore || resource.settings.empty()) continue;
    const auto entry = entries.find(names.of(resource.key.id));
    if (entry == entries.end()) continue;
    const auto& setting = *entry->second;
    if (same_sysctl_value(model::text_at(setting.settings, "file"), initial)) continue;
    diagnostics.push_back(
        {model::Severity::kWarning,
         setting.where,
         fmt::format("NetworkManager 1.54 and newer set forwarding of {} to {}, the value of "
                     "net.ipv4.conf.default.forwarding, whenever they configure the interface",
                     entry->first, initial),
         "set net/ipv4/conf/default/forwarding or net/ipv4/ip_forward as well, or use backend = \"direct\"",
         {}});
  }
}

}  // namespace rdmacfg::kinds
