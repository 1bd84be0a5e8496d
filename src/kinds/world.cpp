// SPDX-License-Identifier: Apache-2.0
#include "kinds/world.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace rdmacfg::kinds {

using model::Guid;
using system::Link;

base::Result<World> World::observe(system::Host& host) {
  auto snapshot = system::observe(host);
  if (!snapshot) return base::fail(snapshot.error());
  return World(host, std::move(*snapshot));
}

base::Result<World> World::observe_links(system::Host& host) {
  if (host.offline) return World(host, {});
  auto links = system::observe_links(host);
  if (!links) return base::fail(links.error());
  return World(host, {.links = std::move(*links), .devices = {}});
}

World::World(system::Host& host, system::Snapshot snapshot)
    : host_(&host), snapshot_(std::make_shared<const system::Snapshot>(std::move(snapshot))) {
  for (const auto& device : snapshot_->devices) {
    for (const auto& port : device.ports) {
      if (port.link_layer == "InfiniBand" && port.guid.number != 0) {
        ports_.emplace(port.guid, PortRef{&device, &port});
      }
    }
  }
  for (const auto& link : snapshot_->links) {
    by_index_.emplace(link.index, &link);
    by_name_.emplace(link.name, &link);
    for (const auto& altname : link.altnames) by_name_.emplace(altname, &link);
    if (!link.ipoib) continue;
    if (link.ipoib->child) {
      children_[link.parent].push_back(&link);
      child_of_[{link.parent, link.ipoib->pkey.partition()}].push_back(&link);
    } else {
      parents_.push_back(&link);
      if (link.ipoib->guid.number != 0) parent_of_.emplace(link.ipoib->guid, &link);
    }
  }
}

namespace {

const std::vector<const Link*> kNoLinks;

template <class Map, class Key>
auto pointer_in(const Map& map, const Key& key) -> typename Map::mapped_type {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : at->second;
}

}  // namespace

std::optional<PortRef> World::port(Guid guid) const {
  const auto at = ports_.find(guid);
  if (at == ports_.end()) return std::nullopt;
  return at->second;
}

const std::string& World::why_held(Guid guid) const {
  static const std::string kNotAtAll;
  const auto at = unresolved.ports.find(guid);
  if (at != unresolved.ports.end()) return at->second;
  return port(guid) || unresolved.meant.contains(guid) ? kNotAtAll : unresolved.elsewhere;
}

const Link* World::parent(Guid guid) const { return pointer_in(parent_of_, guid); }
const Link* World::link(int index) const { return pointer_in(by_index_, index); }
const Link* World::named(const std::string& name) const { return pointer_in(by_name_, name); }

const std::vector<const Link*>& World::children(int parent_index) const {
  const auto at = children_.find(parent_index);
  return at == children_.end() ? kNoLinks : at->second;
}

const std::vector<const Link*>& World::children(int parent_index, model::Pkey pkey) const {
  const auto at = child_of_.find({parent_index, pkey.partition()});
  return at == child_of_.end() ? kNoLinks : at->second;
}

const std::optional<std::vector<std::uint16_t>>& World::pkeys(const PortRef& port) {
  const auto [at, fresh] = pkeys_.try_emplace(port.port);
  if (fresh) {
    if (auto table = host_->rdma.observe_pkeys(port.device->name, port.port->number))
      at->second = std::move(*table);
  }
  return at->second;
}

const std::optional<system::PortMtu>& World::mtu(const PortRef& port) {
  const auto [at, fresh] = mtus_.try_emplace(port.port);
  if (fresh) at->second = host_->rdma.observe_mtu(port.device->name, port.port->number);
  return at->second;
}

std::string World::instance(const Link& link) const {
  return host_->boot_id + "/" + std::to_string(link.index);
}

namespace {

constexpr std::pair<model::Backend, const char*> kManagers[] = {
    {model::Backend::kNetworkManager, "NetworkManager.service"},
    {model::Backend::kNetworkd, "systemd-networkd.service"}};

model::Backend enabled_below(system::Files& files) {
  const auto wanted = files.list("/etc/systemd/system/multi-user.target.wants");
  for (const auto& [backend, unit] : kManagers) {
    if (wanted && std::find(wanted->begin(), wanted->end(), unit) != wanted->end()) return backend;
  }
  return model::Backend::kDirect;
}

}  // namespace

model::Backend World::manager() const {
  if (host_ == nullptr) return model::Backend::kAuto;
  if (manager_) return *manager_;
  manager_ = model::Backend::kDirect;
  if (host_->offline) return *(manager_ = enabled_below(host_->files));
  std::vector<std::string> names;
  for (const auto& [backend, unit] : kManagers) names.emplace_back(unit);
  const auto units = host_->units.observe_units(names);
  if (!units) manager_error_ = units.error();
  if (!units || !*units) return *manager_;
  // One that is only enabled counts too: at boot this runs before either has started.
  for (const bool running : {true, false}) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto& unit = (**units)[i];
      if (running ? unit.active == "active" : unit.file == "enabled") return *(manager_ = kManagers[i].first);
    }
  }
  return *manager_;
}

const base::Result<std::optional<system::NmState>>& World::network_manager() const {
  return once("NetworkManager", [this] { return host_->network_manager.observe(); });
}

void World::track(const model::Key& key, const KnownIdentity& known_identity) {
  auto& all = tracked_[key];
  if (!known_identity.instance.empty()) all.instance = known_identity.instance;
  all.ours = all.ours || known_identity.ours;
  all.before.insert(known_identity.before.begin(), known_identity.before.end());
  all.names.insert(known_identity.names.begin(), known_identity.names.end());
  all.others.insert(known_identity.others.begin(), known_identity.others.end());
}

const KnownIdentity& World::known_identity(const model::Key& key) const {
  static const KnownIdentity kNothing;
  const auto at = tracked_.find(key);
  return at == tracked_.end() ? kNothing : at->second;
}

std::vector<std::string> World::tracked(std::string_view kind) const {
  std::vector<std::string> ids;
  for (const auto& [key, known_identity] : tracked_) {
    if (key.kind == kind) ids.push_back(key.id);
  }
  return ids;
}

std::string parent_object_on(const Link* link, const World& world) {
  if (link == nullptr) return {};
  if (!link->ipoib) return world.instance(*link);
  // A child's GUID is its port's too. An interface may outlive the device for a moment: down, and ours to
  // lose.
  const auto port = world.port(link->ipoib->guid);
  if (!port) return world.instance(*link);
  return port->device->leaving ? std::string(kLeaving)
                               : world.instance(*link) + " on " + port->device->instance;
}

}  // namespace rdmacfg::kinds
