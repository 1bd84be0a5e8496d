// SPDX-License-Identifier: Apache-2.0
// One observation of the host's links, ports and devices, with look-ups.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "model/resource.hpp"
#include "model/types.hpp"
#include "model/types/inet_types.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// A port with its device.
struct PortRef {
  const system::RdmaDevice* device = nullptr;
  const system::RdmaPort* port = nullptr;
};

/// The part of a key that tells its object from others: P_Key interfaces of one partition.
struct KnownIdentity {
  std::string instance{};          ///< that the state has of it
  bool ours = false;               ///< made by us, says the state
  std::set<std::string> names{};   ///< that it has, had or is to have
  std::set<std::string> others{};  ///< instances of what it is not
  /// The former values of settings that we have changed: they go back to them when the document drops them.
  model::Attributes before{};
};

/// Ports that entries may mean but that cannot be told now (the device has another name, or is away).
struct Unresolved {
  std::map<model::Guid, std::string> ports;  ///< those of this host, with why
  std::string elsewhere;                     ///< the same for ports that are not here; empty: none
  std::set<model::Guid> meant;               ///< by other entries: none of these
};

/// One observation of the host with the look-ups that kinds need; P_Key tables and MTUs are read at the first
/// question. Pointers stay valid as long as the World.
class World {
 public:
  static base::Result<World> observe(system::Host& host);

  /// The interfaces alone, by one dump: for what only asks about them. port() knows none.
  static base::Result<World> observe_links(system::Host& host);

  /// A world without a host, for checking a document by itself.
  World() = default;

  [[nodiscard]] system::Host& host() const { return *host_; }
  [[nodiscard]] bool has_host() const { return host_ != nullptr; }
  /// Only files may be looked at: --root, or no host at all.
  [[nodiscard]] bool offline() const { return host_ == nullptr || host_->offline; }

  bool thorough = true;  ///< read what costs a file per item (P_Key tables) also where nothing looks wrong
  bool settled = true;   ///< nothing was changed just before: a missing carrier is more than a join under way
  bool cut_short = false;  ///< or, if something was: there was too little time left to say so

  /// Resources that the run is about (of the document, the state and the plan): all that a kind observes
  /// whose resources cannot be listed in one sweep, such as systemd's units.
  void track(const model::Key& key, const KnownIdentity& known_identity = {});
  /// Knowledge of a resource from elsewhere; empty when the run is not about it.
  [[nodiscard]] const KnownIdentity& known_identity(const model::Key& key) const;
  /// Their ids, of one kind.
  [[nodiscard]] std::vector<std::string> tracked(std::string_view kind) const;

  /// Entries of the document whose port cannot be told.
  Unresolved unresolved;
  /// Why nothing is taken away from a port although no entry seems to mean it; empty when none may.
  [[nodiscard]] const std::string& why_held(model::Guid guid) const;

  [[nodiscard]] const system::Snapshot& snapshot() const { return *snapshot_; }

  /// The InfiniBand port with that GUID.
  [[nodiscard]] std::optional<PortRef> port(model::Guid guid) const;

  /// The IPoIB interface of the port itself; nullptr without one in this network namespace.
  [[nodiscard]] const system::Link* parent(model::Guid guid) const;

  /// The P_Key interfaces over a parent, by index.
  [[nodiscard]] const std::vector<const system::Link*>& children(int parent_index) const;

  /// Those of one partition: netlink lets several through.
  [[nodiscard]] const std::vector<const system::Link*>& children(int parent_index, model::Pkey pkey) const;

  [[nodiscard]] const system::Link* link(int index) const;

  /// By name or alternative name.
  [[nodiscard]] const system::Link* named(const std::string& name) const;

  /// All IPoIB interfaces that belong to a port itself.
  [[nodiscard]] const std::vector<const system::Link*>& parents() const { return parents_; }

  /// The P_Key table of a port; nothing when it cannot be read.
  const std::optional<std::vector<std::uint16_t>>& pkeys(const PortRef& port);

  /// MTUs of a port's IB link; nothing when they cannot be read.
  const std::optional<system::PortMtu>& mtu(const PortRef& port);

  /// The network manager that runs or is enabled, else direct: the meaning of backend = "auto" where nothing
  /// was decided before. Asked for once; auto without a host.
  [[nodiscard]] model::Backend manager() const;

  /// Set when manager() had to guess, since systemd did not answer; empty before the first call of manager().
  [[nodiscard]] const std::optional<base::Error>& manager_error() const { return manager_error_; }

  /// The state of NetworkManager, nothing while it does not run. Asked for once: it reads all its objects.
  [[nodiscard]] const base::Result<std::optional<system::NmState>>& network_manager() const;

  /// The outcome of a look, or of what follows from looks and from the document, made at the first question:
  /// many resources ask the same. `name` names it among all kinds.
  template <class Look>
  const std::invoke_result_t<const Look&>& once(const std::string& name, const Look& look) const {
    using Seen = std::invoke_result_t<const Look&>;
    auto& kept = once_[name];
    if (!kept) kept = std::make_shared<Seen>(look());
    return *static_cast<const Seen*>(kept.get());
  }

  /// "<boot id>/<ifindex>": another kernel object is another instance.
  [[nodiscard]] std::string instance(const system::Link& link) const;

 private:
  World(system::Host& host, system::Snapshot snapshot);

  system::Host* host_ = nullptr;
  std::shared_ptr<const system::Snapshot> snapshot_ = std::make_shared<const system::Snapshot>();
  std::map<model::Key, KnownIdentity> tracked_;
  mutable std::optional<model::Backend> manager_;
  mutable std::optional<base::Error> manager_error_;
  mutable std::map<std::string, std::shared_ptr<void>> once_;
  std::map<model::Guid, PortRef> ports_;
  std::map<model::Guid, const system::Link*> parent_of_;
  std::vector<const system::Link*> parents_;
  std::unordered_map<int, std::vector<const system::Link*>> children_;
  std::map<std::pair<int, std::uint16_t>, std::vector<const system::Link*>>
      child_of_;  // by parent and partition
  std::unordered_map<int, const system::Link*> by_index_;
  std::unordered_map<std::string, const system::Link*> by_name_;
  std::map<const system::RdmaPort*, std::optional<std::vector<std::uint16_t>>> pkeys_;
  std::map<const system::RdmaPort*, std::optional<system::PortMtu>> mtus_;
};

/// Kind::parent_object of what lives on an interface of a device that is being removed.
inline constexpr std::string_view kLeaving = "leaving";

/// Kind::parent_object of what lives on an interface; empty without one.
std::string parent_object_on(const system::Link* link, const World& world);

}  // namespace rdmacfg::kinds
