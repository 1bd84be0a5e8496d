// SPDX-License-Identifier: Apache-2.0
#include "catalog/removed.hpp"

#include <algorithm>
#include <map>

#include "catalog/connectivity.hpp"

namespace rdmacfg::kinds {

using model::Change;
using model::Operation;

Removed removed_by(const model::Plan& plan) {
  // The addresses and routes that the plan gives, by interface; routes over any.
  std::map<std::string, Connectivity> given;
  std::map<std::string, std::set<std::string>> carriers;  // kinds, by interface
  std::set<Connectivity::Route> routes;
  const auto interface_of = [](const model::Key& key) {
    const auto id = interface_in(key);
    return id.substr(0, id.find('#'));  // another interface of the same partition
  };
  for (const auto& change : plan.changes) {
    const auto id = interface_of(change.key);
    if (change.operation == Operation::kDelete || id.empty()) continue;
    auto connectivity = connectivity_of(change.key, change.after);
    auto& mine = given[id];
    carriers[id].insert(change.key.kind);
    mine.addresses.merge(connectivity.addresses);
    routes.merge(connectivity.routes);
  }
  const auto again = [&](const Change& change) {
    const auto id = interface_of(change.key);
    const auto at = given.find(id);
    const auto before = connectivity_of(change.key, change.before);
    if (change.key.kind == "route")
      return !before.routes.empty() &&
             std::includes(routes.begin(), routes.end(), before.routes.begin(), before.routes.end());
    if (at == given.end()) return false;
    if (change.key.kind == "address") {
      return !before.addresses.empty() &&
             std::includes(at->second.addresses.begin(), at->second.addresses.end(), before.addresses.begin(),
                           before.addresses.end());
    }
    const auto& kinds = carriers[id];
    if (change.key.kind == "pkey") return kinds.contains("pkey") || kinds.contains("nm_profile");
    // The interface has moved from the backend of this profile or file to another one.
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](const auto& kind) { return kind != change.key.kind && addresses_by(kind); });
  };
  Removed out;
  for (const auto& change : plan.changes) {
    if (change.operation != Operation::kDelete || again(change)) continue;
    out.keys.insert(change.key);
    out.labels.push_back(change.label);
  }
  return out;
}

}  // namespace rdmacfg::kinds
