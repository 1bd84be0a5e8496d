// SPDX-License-Identifier: Apache-2.0
// How P_Key interfaces go from one backend to another.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kinds/address/backend.hpp"
#include "kinds/address/profiles/foreign_profiles.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"
#include "kinds/entry.hpp"
#include "kinds/ipoib/pkey.hpp"

namespace rdmacfg::kinds::detail {

using base::Result;
using model::Change;
using model::Desired;
using model::Observed;
using system::NmState;

namespace {

constexpr std::string_view kProfile = "nm_profile";
constexpr std::string_view kCarried = "nm-profile ";  // before the carried state, which passes it over
constexpr std::chrono::seconds kActivation(45);

/// A profile of a P_Key interface as its file has it.
struct ChildProfile {
  std::string uuid;  ///< empty where the file says none: then NetworkManager makes one up
  std::string id;
};

/// Nothing of a file that is for something else. Sources: nm-keyfile.c; nms-ifcfg-rh-reader.c,
/// make_connection_name().
std::optional<ChildProfile> child_profile(const std::string& file, const std::string& text) {
  const auto name = file.substr(file.rfind('/') + 1);
  constexpr std::string_view kIfcfg = "ifcfg-", kSuffix = ".nmconnection";
  if (name.starts_with(kIfcfg)) {
    if (assigned(text, "PKEY_ID").empty() && assigned(text, "PKEY_ID_NM").empty()) return std::nullopt;
    auto id = assigned(text, "NAME");
    if (id.empty()) id = fmt::format("System {}", name.substr(kIfcfg.size()));
    return ChildProfile{assigned(text, "UUID"), std::move(id)};
  }
  auto sections = keyfile_sections(text);
  const auto pkey = sections["infiniband"]["p-key"];
  if (pkey.empty() || pkey == "-1") return std::nullopt;
  auto id = sections["connection"]["id"];
  if (id.empty()) id = name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
  return ChildProfile{sections["connection"]["uuid"], std::move(id)};
}

/// Profiles of others for P_Key interfaces, of all that NetworkManager has loaded.
std::vector<ChildProfile> child_profiles(const NmState& state, system::Files& files) {
  std::vector<ChildProfile> out;
  for (const auto& file : state.files) {
    if (nm_id(std::string_view(file).substr(file.rfind('/') + 1))) continue;
    const auto text = files.read(file);
    auto profile = text && *text ? child_profile(file, **text) : std::nullopt;
    if (profile) out.push_back(std::move(*profile));
  }
  return out;
}

/// Whether a profile is one of these: NetworkManager gives P_Key interfaces profiles of its own making, too,
/// which go with them, and at times that of the port.
bool makes_children(const NmState& state, const std::vector<ChildProfile>& profiles,
                    const std::string& uuid) {
  const auto active = std::find_if(state.active.begin(), state.active.end(),
                                   [&](const auto& connection) { return connection.uuid == uuid; });
  return std::any_of(profiles.begin(), profiles.end(), [&](const ChildProfile& profile) {
    return profile.uuid.empty() ? active != state.active.end() && active->id == profile.id
                                : profile.uuid == uuid;
  });
}

std::optional<std::string> profile_of(const Change& change) {
  if (change.carried.empty() || !change.carried.front().starts_with(kCarried)) return std::nullopt;
  return change.carried.front().substr(kCarried.size());
}

bool is_active(const NmState& state, const std::string& uuid) {
  return std::any_of(state.active.begin(), state.active.end(),
                     [&](const auto& connection) { return connection.uuid == uuid; });
}

/// By request: then it does not come up again by itself, as it does when its interface is merely deleted
/// (nm-policy.c, device_state_changed()).
Result<void> take_down(const std::vector<Change>& changes, system::Host& host) {
  for (const auto& change : changes) {
    const auto uuid = profile_of(change);
    if (!uuid) continue;
    if (auto done = host.network_manager.deactivate(*uuid); !done) return done;
  }
  return {};
}

/// Has NetworkManager make an interface again for the profile that it had it for. False where there was none,
/// or it does not come up: then the interface is made as it was. `state`: of NetworkManager, read for the
/// first of them.
bool brought_back(const Change& change, std::optional<Result<std::optional<NmState>>>& state,
                  system::Host& host) {
  const auto uuid = profile_of(change);
  if (!uuid) return false;
  if (!state) state.emplace(host.network_manager.observe());
  if (!*state || !**state) return false;
  if (is_active(***state, *uuid)) return true;
  return delete_children({&change, 1}, host) && host.network_manager.activate(*uuid, "", kActivation);
}

}  // namespace

bool hands_over(const Change& change) {
  return model::text_at(change.after, kManagedBy) == model::text_of(model::Backend::kNetworkManager);
}

bool changes_hands(const Change& change) { return change.differs_in(kManagedBy); }

Result<void> update_or_hand_over(std::span<const Change> changes, system::Host& host) {
  std::vector<Change> going, ours;
  const auto theirs = nm_profiles(host.files);
  std::optional<Result<std::optional<NmState>>> state;
  for (const auto& change : changes) {
    if (!hands_over(change)) {
      if (!brought_back(change, state, host)) ours.push_back(change);
    } else if (!theirs.contains(change.key.id)) {
      going.push_back(change);
    }
  }
  if (auto done = take_down(going, host); !done) return done;
  if (auto done = delete_children(going, host); !done || ours.empty()) return done;
  return update_children(ours, host);
}

Result<void> carry_profiles(std::span<Change*> changes, const World& world) {
  if (std::none_of(changes.begin(), changes.end(), [](const Change* change) { return hands_over(*change); }))
    return {};
  auto& host = world.host();
  const auto& state = world.network_manager();
  if (!state) return base::fail(state.error());
  if (!*state) return {};
  std::optional<std::vector<ChildProfile>> profiles;  // read when the first interface asks
  for (auto* change : changes) {
    const auto* link = hands_over(*change) ? child_of(*change, world) : nullptr;
    if (link == nullptr) continue;
    for (const auto& device : (*state)->devices) {
      if (device.interface != link->name || device.active.empty()) continue;
      if (!profiles) profiles = child_profiles(**state, host.files);
      if (!makes_children(**state, *profiles, device.active)) continue;
      change->carried.insert(change->carried.begin(), std::string(kCarried) + device.active);
    }
  }
  return {};
}

std::vector<std::string> profiles_not_back(std::span<const Change> changes, system::Host& host) {
  std::map<std::string, const Change*> profiles;  // by uuid
  for (const auto& change : changes) {
    const auto uuid = hands_over(change) ? profile_of(change) : std::nullopt;
    if (uuid) profiles.emplace(*uuid, &change);
  }
  if (profiles.empty()) return {};
  const auto state = host.network_manager.observe();
  auto world = World::observe(host);
  if (!state || !*state || !world) return {};  // nobody knows; the interfaces themselves are compared
  std::vector<std::string> out;
  for (const auto& [uuid, change] : profiles) {
    const auto id = pkey_id(change->key);
    const auto* parent = id ? world->parent(id->guid) : nullptr;
    if (is_active(**state, uuid) || parent == nullptr ||
        parent_object_on(parent, *world) != change->parent_object)
      continue;
    out.push_back(
        fmt::format("{} {}: its NetworkManager profile is no longer active (nmcli connection up {})",
                    kPkeyKind, change->label, uuid));
  }
  return out;
}

void hand_to_network_manager(std::vector<Desired>& desired, const std::vector<Observed>& observed,
                             World& world) {
  // One that is not activated leaves the interface alone.
  const auto activates = [](const Desired& resource) {
    return resource.key.kind == kProfile && !resource.ignore &&
           model::value_of(resource.settings, "autoconnect") == model::Value(true);
  };
  if (std::none_of(desired.begin(), desired.end(), activates)) return;
  std::set<std::string_view> there;  // and not NetworkManager's
  for (const auto& now : observed) {
    if (now.key.kind == kPkeyKind && !now.settings.contains(kManagedBy)) there.insert(now.key.id);
  }
  std::map<std::string, Desired*> interfaces;
  for (auto& resource : desired) {
    if (resource.key.kind != kPkeyKind || resource.ignore || resource.absent || resource.pending) continue;
    if (there.count(resource.key.id) != 0) interfaces.emplace(resource.key.id, &resource);
  }
  std::optional<bool> runs;
  for (auto& profile : desired) {
    if (!activates(profile)) continue;
    const auto at = interfaces.find(profile.key.id);
    if (at == interfaces.end()) continue;
    if (!runs) {
      const auto& state = world.network_manager();
      runs = state && *state;
    }
    if (!*runs) return;
    at->second->settings = {{std::string(kManagedBy), std::string(text_of(model::Backend::kNetworkManager))}};
    profile.needs.push_back(at->second->key);
  }
}

}  // namespace rdmacfg::kinds::detail
