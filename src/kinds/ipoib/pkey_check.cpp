// SPDX-License-Identifier: Apache-2.0
// Rules of P_Key interfaces that need the host: partitions that have two, names that are taken.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kinds/address/backend.hpp"
#include "kinds/address/profiles/foreign_profiles.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"
#include "kinds/entry.hpp"
#include "kinds/ipoib/link_name.hpp"
#include "kinds/ipoib/link_settings.hpp"
#include "kinds/ipoib/pkey.hpp"
#include "kinds/ports/pkey_removal.hpp"

namespace rdmacfg::kinds::detail {

using model::Desired;
using model::Diagnostic;
using model::Diagnostics;
using model::Observed;
using model::Severity;
using model::text_at;
using system::Link;

namespace {

constexpr std::string_view kChildSection = "[[ipoib.pkey]]";

const Link* link_of(const Desired& desired, const World& world) {
  if (desired.key.kind == kPkeyKind) {
    const auto id = pkey_id(desired.key);
    return id ? child_of(*id, world) : nullptr;
  }
  if (desired.key.kind != "link_name") return nullptr;
  const auto guid = model::Guid::parse(desired.key.id);
  return guid ? world.parent(*guid) : nullptr;
}

Diagnostic child_error(const model::Location& where, std::string message, std::string hint) {
  return {Severity::kError, where, std::move(message), std::move(hint), {}};
}

class Checker {
 public:
  Checker(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
          Diagnostics& diagnostics)
      : world_(world), diagnostics_(diagnostics), leaving_(leaving(desired, observed, world)) {
    for (const auto& resource : observed) {
      if (resource.key.kind == kPkeyKind) now_.emplace(resource.key, &resource);
    }
    for (const auto& resource : desired) {
      const auto* link = resource.ignore ? nullptr : link_of(resource, world);
      if (link == nullptr) continue;
      const auto name = text_at(resource.settings, "name");
      if (resource.key.kind == "link_name" && !name.empty()) ports_.emplace(link->index, name);
      moving_.insert(link->index);
      if (!name.empty() && name != link->name) renamed_.insert(link->index);
    }
  }

  void check(Desired& desired) {
    const auto id = pkey_id(desired.key);
    const auto* parent = id ? world_.parent(id->guid) : nullptr;
    if (parent == nullptr) return;
    if (id->pkey == parent->ipoib->pkey) {
      if (desired.absent) return;
      error(
          desired.where,
          fmt::format("{} pkey: {} is the P_Key of {} itself", kChildSection, id->pkey.text(), parent->name),
          "leave the entry out: the port's own interface is in that partition");
      return;
    }
    const auto* link = child_of(*id, world_);
    if (link != nullptr && doubled(desired, *id, *link, *parent)) return;
    if (desired.absent) return;
    const auto at = now_.find(desired.key);
    check_capability(desired, at == now_.end() ? nullptr : at->second, link != nullptr ? *link : *parent,
                     kChildSection, id->guid, world_, diagnostics_);
    if (link != nullptr) {
      check_master(desired, *link);
      warn_of_mtu_in_bond(desired, *link, kChildSection, world_, diagnostics_);
    }
    check_names(desired, *id, link, *parent);
  }

 private:
  void error(const model::Location& where, std::string message, std::string hint) {
    diagnostics_.push_back(child_error(where, std::move(message), std::move(hint)));
  }

  [[nodiscard]] bool made_anew(const Desired& desired, const Link& link) const {
    const auto at = now_.find(desired.key);
    const bool hands = at != now_.end() && model::value_of(desired.settings, kManagedBy) !=
                                               model::value_of(at->second->settings, kManagedBy);
    const auto wanted = model::from_attributes<PkeyLink>(desired.settings);
    return hands ||
           (wanted.mode && *wanted.mode != link.ipoib->mode && !world_.host().ipoib.has_mode_file(link.name));
  }

  /// A re-created interface would not be in its bond any more, and a bond of IPoIB interfaces goes with its
  /// last one (bond_slave_netdev_event()).
  void check_master(const Desired& desired, const Link& link) {
    const auto* master = link.master == 0 ? nullptr : world_.link(link.master);
    if (master == nullptr || !made_anew(desired, link)) return;
    const auto mode = desired.origins.find("mode");
    error(mode == desired.origins.end() ? desired.where : mode->second,
          fmt::format("{}: {} must be deleted and re-created for this, and is in {}", kChildSection,
                      link.name, master->name),
          fmt::format("remove it from there first: ip link set {} nomaster", link.name));
  }

  /// Of two interfaces of one partition only one can be meant; with the other one there the entry would not
  /// hold, or the wrong one would be taken. Every other use of the key must find the same one: the first.
  bool doubled(const Desired& desired, const PkeyId& id, const Link& link, const Link& parent) {
    if (!id.name.empty()) return false;
    std::vector<const Link*> staying;
    for (const auto* other : siblings_of(id, world_)) {
      if (other == &link || !leaving_.contains(other->index)) staying.push_back(other);
    }
    if (staying.size() < 2) return false;
    const auto wanted = text_at(desired.settings, "name");
    const auto* other = staying.front() != &link ? staying.front() : staying[1];
    for (const auto* each : staying) {
      if (each != &link && each->name == wanted) other = each;
    }
    if (!desired.absent && staying.front() == &link && other->name != wanted && !made_anew(desired, link)) {
      warn_of_a_second(desired, id, *other, parent);
      return false;
    }
    error(desired.where,
          fmt::format("{}: {} and {} are both interfaces of P_Key {} over {}", kChildSection, link.name,
                      other->name, id.pkey.text(), parent.name),
          how_to_remove(*other, link, wanted));
    return true;
  }

  /// The entry's own holds, but the port is in the partition twice. With the backend networkmanager its kind
  /// warns of such profiles.
  void warn_of_a_second(const Desired& desired, const PkeyId& id, const Link& other, const Link& parent) {
    if (nm_profiles(world_.host().files).contains(desired.key.id)) return;
    const auto profile = profile_that_makes(other, world_);
    if (!profile) return;
    diagnostics_.push_back({Severity::kWarning,
                            desired.where,
                            fmt::format("{}: {} is a second interface of P_Key {} over {}", kChildSection,
                                        other.name, id.pkey.text(), parent.name),
                            how_to_stop(*profile, other.name),
                            {}});
  }

  /// One that NetworkManager has made for a profile of somebody else's is re-created after it is deleted.
  [[nodiscard]] std::string how_to_remove(const Link& other, const Link& link, const std::string& wanted) {
    if (const auto profile = profile_that_makes(other, world_)) return how_to_stop(*profile, other.name);
    const auto profile = link.name == wanted ? std::nullopt : profile_that_makes(link, world_);
    if (profile) return how_to_stop(*profile, link.name);
    return fmt::format("remove the extra one: ip link del {}", other.name);
  }

  void check_names(const Desired& desired, const PkeyId& id, const Link* link, const Link& parent) {
    const auto wanted = text_at(desired.settings, "name");
    const auto at = [&](const char* field) {
      const auto origin = desired.origins.find(field);
      return origin == desired.origins.end() ? desired.where : origin->second;
    };
    const auto* holder = world_.named(wanted);
    if (holder != nullptr && holder != link && !leaving_.contains(holder->index)) {
      if (holder->name != wanted) {
        error(at("name"),
              fmt::format("{} name: \"{}\" is an alternative name of interface {} (index {})", kChildSection,
                          wanted, holder->name, holder->index),
              remove_altname(*holder, wanted));
        return;
      }
      if (!moving_.contains(holder->index)) {
        error(at("name"),
              fmt::format("{}: \"{}\" is already the name of another interface (index {})", kChildSection,
                          wanted, holder->index),
              "give this entry another name = \"…\", or remove that interface first");
        return;
      }
    }
    const auto mode = model::from_attributes<PkeyLink>(desired.settings).mode;
    if (mode != model::IpoibMode::kConnected || (link != nullptr && !made_anew(desired, *link))) return;
    const auto port = ports_.find(parent.index);
    const auto& over = port == ports_.end() ? parent.name : port->second;
    for (const auto& first : first_names(over, id.pkey, world_)) {
      if (first != wanted) check_first_name(first, link, at("mode"));
    }
  }

  /// A connected interface cannot be made while another interface has the name that the kernel gives at
  /// first.
  void check_first_name(const std::string& first, const Link* link, const model::Location& where) {
    const auto* holder = world_.named(first);
    if (holder == nullptr || holder == link || leaving_.contains(holder->index)) return;
    const bool altname = holder->name != first;  // those stay with a rename
    if (!altname && renamed_.contains(holder->index)) return;
    error(where,
          fmt::format(
              "{} mode: the kernel calls a new connected interface \"{}\" at first, and that is {} "
              "(index {})",
              kChildSection, first,
              altname ? "an alternative name of interface " + holder->name : "the name of another interface",
              holder->index),
          altname ? remove_altname(*holder, first) : "give that interface another name, or remove it first");
  }

  World& world_;
  Diagnostics& diagnostics_;
  std::set<int> leaving_;
  std::map<model::Key, const Observed*> now_;
  std::map<int, std::string> ports_;  ///< names that ports are to have, by index
  std::set<int> moving_;              ///< interfaces that the document names, or wants to go
  std::set<int> renamed_;             ///< those that get another name
};

}  // namespace

void check_children(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
                    Diagnostics& diagnostics) {
  add_pruned(desired, observed);
  take_from_network_manager(kPkeyKind, desired, observed);
  hand_to_network_manager(desired, observed, world);
  Checker checker(desired, observed, world, diagnostics);
  for (auto& resource : desired) {
    if (resource.key.kind == kPkeyKind && !resource.ignore && !resource.pending) checker.check(resource);
  }
}

}  // namespace rdmacfg::kinds::detail
