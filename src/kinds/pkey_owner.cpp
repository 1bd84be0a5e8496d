// SPDX-License-Identifier: Apache-2.0
// How P_Key interfaces go from one backend to another.
#include <algorithm>
#include <map>
#include <optional>

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
  std::optional<bool> runs;
  std::map<std::string, Desired*> interfaces;  // that are there, and not NetworkManager's
  for (auto& one : desired) {
    if (one.key.kind != kKind || one.ignore || one.absent || one.pending) continue;
    const bool there = std::any_of(observed.begin(), observed.end(), [&](const Observed& now) {
      return now.key == one.key && !now.settings.contains(kManagedBy);
    });
    if (there) interfaces.emplace(one.key.id, &one);
  }
  for (auto& profile : desired) {
    const auto at = profile.key.kind == kProfile ? interfaces.find(profile.key.id) : interfaces.end();
    // One that is not activated leaves the interface alone.
    if (at == interfaces.end() || profile.ignore ||
        model::value_of(profile.settings, "autoconnect") != model::Value(true))
      continue;
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
