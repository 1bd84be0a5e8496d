// SPDX-License-Identifier: Apache-2.0
// How P_Key interfaces go from one backend to another.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "kinds/backend.hpp"
#include "kinds/nm_keyfile.hpp"
#include "kinds/pkey.hpp"

namespace rdmacfg::kinds::detail {

using base::Result;
using model::Change;
using model::Desired;
using model::Observed;

namespace {
constexpr std::string_view kKind = "pkey";
constexpr std::string_view kProfile = "nm_profile";
}  // namespace

bool hands_over(const Change& change) {
  return model::text_at(change.after, kManagedBy) == model::text_of(model::Backend::kNetworkManager);
}

bool changes_hands(const Change& change) {
  return std::find(change.fields.begin(), change.fields.end(), kManagedBy) != change.fields.end();
}

Result<void> update_or_hand_over(std::span<const Change> changes, system::Host& host) {
  std::vector<Change> going, ours;
  const auto theirs = nm_profiles(host.files);
  for (const auto& change : changes) {
    if (!hands_over(change)) {
      ours.push_back(change);
    } else if (!theirs.contains(change.key.id)) {
      going.push_back(change);
    }
  }
  if (auto done = delete_children(going, host); !done || ours.empty()) return done;
  return update_children(ours, host);
}

void hand_to_network_manager(std::vector<Desired>& desired, const std::vector<Observed>& observed,
                             World& world) {
  // One that is not activated leaves the interface alone.
  const auto activates = [](const Desired& one) {
    return one.key.kind == kProfile && !one.ignore &&
           model::value_of(one.settings, "autoconnect") == model::Value(true);
  };
  if (std::none_of(desired.begin(), desired.end(), activates)) return;
  std::set<std::string_view> there;  // and not NetworkManager's
  for (const auto& now : observed) {
    if (now.key.kind == kKind && !now.settings.contains(kManagedBy)) there.insert(now.key.id);
  }
  std::map<std::string, Desired*> interfaces;
  for (auto& one : desired) {
    if (one.key.kind != kKind || one.ignore || one.absent || one.pending) continue;
    if (there.count(one.key.id) != 0) interfaces.emplace(one.key.id, &one);
  }
  std::optional<bool> runs;
  for (auto& profile : desired) {
    if (!activates(profile)) continue;
    const auto at = interfaces.find(profile.key.id);
    if (at == interfaces.end()) continue;
    if (!runs) {
      const auto state = world.host().network_manager.observe();
      runs = state && *state;
    }
    if (!*runs) return;
    at->second->settings = {{std::string(kManagedBy), std::string(text_of(model::Backend::kNetworkManager))}};
    profile.needs.push_back(at->second->key);
  }
}

}  // namespace rdmacfg::kinds::detail
