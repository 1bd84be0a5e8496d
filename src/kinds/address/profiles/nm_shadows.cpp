// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/profiles/nm_shadows.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "kinds/address/profiles/nm_keyfile.hpp"

namespace rdmacfg::kinds {

std::string profile_uuid(const std::string& text) { return keyfile_sections(text)["connection"]["uuid"]; }

bool is_tombstone(system::Files& files, const std::string& path, std::string_view uuid) {
  if (files.masks(path)) return true;
  const auto text = files.read(path);
  if (!text || !*text) return false;
  auto meta = keyfile_sections(**text)["nmmeta"];
  return meta["uuid"] == uuid && meta["loaded-path"] == "/dev/null";
}

namespace {

/// Files in /run by the UUID of the profile that they replace or delete: of two profiles with one UUID
/// NetworkManager takes that of /run. `nmcli connection modify --temporary` writes them.
std::map<std::string, std::string> shadows_by_uuid(World& world) {
  std::map<std::string, std::string> out;
  auto& files = world.host().files;
  const auto names = files.list(std::string(kNmRunFolder));
  for (const auto& name : names ? *names : std::vector<std::string>()) {
    auto path = fmt::format("{}/{}", kNmRunFolder, name);
    std::string uuid;
    if (name.ends_with(kNmMeta)) {
      uuid = name.substr(0, name.size() - kNmMeta.size());
      if (!is_tombstone(files, path, uuid)) continue;
    } else if (const auto text = files.read_linked(path); text && *text) {
      uuid = profile_uuid(**text);
    }
    if (!uuid.empty()) out.emplace(std::move(uuid), std::move(path));
  }
  return out;
}

}  // namespace

void warn_of_shadows(const std::vector<model::Desired>& desired, World& world,
                     model::Diagnostics& diagnostics) {
  const auto shadows = shadows_by_uuid(world);
  for (const auto& resource : desired) {
    if (resource.key.kind != "nm_profile" || resource.ignore) continue;
    const auto at = shadows.find(nm_uuid(resource.key.id));
    if (at == shadows.end()) continue;
    diagnostics.push_back(
        {model::Severity::kWarning,
         resource.where,
         fmt::format("{} has the UUID of this profile, and NetworkManager uses that file instead",
                     at->second),
         "remove that file, and run nmcli connection reload",
         {}});
  }
}

}  // namespace rdmacfg::kinds
