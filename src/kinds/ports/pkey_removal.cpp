// SPDX-License-Identifier: Apache-2.0
#include "kinds/ports/pkey_removal.hpp"

#include <map>
#include <string>

#include "kinds/ports/held_by_port.hpp"
#include "kinds/ports/pkey_link.hpp"

namespace rdmacfg::kinds::detail {

using model::Desired;
using model::Observed;

namespace {

/// The entries whose ports have prune = true, by the port's GUID.
std::map<std::string, const Desired*> pruning(const std::vector<Desired>& desired) {
  std::map<std::string, const Desired*> out;
  for (const auto& resource : desired) {
    const auto* prune = std::get_if<bool>(&model::value_of(resource.policy, "prune"));
    if (resource.key.kind == "ipoib" && prune != nullptr && *prune && !resource.ignore)
      out.emplace(resource.key.id, &resource);
  }
  return out;
}

std::map<std::string, const Desired*> listed(const std::vector<Desired>& desired) {
  std::map<std::string, const Desired*> out;
  for (const auto& resource : desired) {
    if (resource.key.kind == kPkeyKind) out.emplace(resource.key.id, &resource);
  }
  return out;
}

/// The consequences of prune for an interface: the port's entry when it has to go. A second interface of a
/// partition that is left alone is left alone too.
const Desired* pruned_by(const std::string& id, const std::map<std::string, const Desired*>& ports,
                         const std::map<std::string, const Desired*>& entries) {
  const auto port = ports.find(id.substr(0, id.rfind('/')));
  if (port == ports.end() || entries.contains(id)) return nullptr;
  const auto entry = entries.find(id.substr(0, id.find('#')));
  return entry != entries.end() && entry->second->ignore ? nullptr : port->second;
}

}  // namespace

void add_pruned(std::vector<Desired>& desired, const std::vector<Observed>& observed) {
  const auto ports = pruning(desired);
  if (ports.empty()) return;
  const auto entries = listed(desired);
  std::vector<Desired> removals;
  for (const auto& resource : observed) {
    if (resource.key.kind != kPkeyKind) continue;
    const auto* port = pruned_by(resource.key.id, ports, entries);
    if (port == nullptr) continue;
    Desired removal;
    removal.key = resource.key;
    removal.label = resource.label;
    removal.netdev = model::text_at(resource.settings, "name");
    removal.where = port->origins.at("prune");
    removal.origins["prune"] = removal.where;
    removal.absent = true;
    removal.needs = {{"ipoib", port->key.id}};  // an entry that is set aside removes nothing
    removals.push_back(std::move(removal));
  }
  desired.insert(desired.end(), removals.begin(), removals.end());
}

std::set<int> leaving(const std::vector<Desired>& desired, const std::vector<Observed>& observed,
                      const World& world) {
  const auto ports = pruning(desired);
  const auto entries = listed(desired);
  std::set<int> out;
  for (const auto& resource : observed) {
    if (resource.key.kind != kPkeyKind) continue;
    const auto entry = entries.find(resource.key.id);
    const auto& known_identity = world.known_identity(resource.key);
    const bool dropped = known_identity.ours && known_identity.instance == resource.instance &&
                         why_port_held(resource.key, world).empty();
    const bool goes = entry != entries.end()
                          ? entry->second->absent && !entry->second->ignore
                          : dropped || pruned_by(resource.key.id, ports, entries) != nullptr;
    const auto* link = goes ? world.named(resource.label) : nullptr;
    if (link != nullptr) out.insert(link->index);
  }
  return out;
}

}  // namespace rdmacfg::kinds::detail
