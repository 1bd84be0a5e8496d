// SPDX-License-Identifier: Apache-2.0
#include "kinds/ipoib/pkey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "kinds/abilities.hpp"
#include "kinds/address/backend.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"
#include "kinds/carried_state.hpp"
#include "kinds/competitors.hpp"
#include "kinds/entry.hpp"
#include "kinds/ipoib/link_settings.hpp"
#include "kinds/kernel_release.hpp"
#include "kinds/ports/held_by_port.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Operation;
using model::State;
using model::text_at;
using system::Link;

using detail::changes_hands;
using detail::child_of;
using detail::hands_over;
using detail::pkey_id;

namespace {

class PkeyKind final : public Kind,
                       public AwaitsKernel,
                       public TestsLimits,
                       public ClearsAway,
                       public NeedsWatching,
                       public MakesObjects,
                       public HeldByPort {
 public:
  PkeyKind()
      : Kind({.name = kPkeyKind,
              .fields = model::specs<PkeyLink>(),
              .traits = {.on_rdma_port = true, .names_interface = true},
              .competitors = kInterfaceManagers}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    detail::parse_children(bound, out, diagnostics);
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    const auto theirs = nm_profiles(world.host().files);
    for (const auto* parent : world.parents()) {
      const auto port = world.port(parent->ipoib->guid);
      for (const auto* link : world.children(parent->index)) {
        Observed observed;
        observed.key = {std::string(kPkeyKind),
                        fmt::format("{}/{}", parent->ipoib->guid.text(), link->ipoib->pkey.text())};
        if (child_of({parent->ipoib->guid, link->ipoib->pkey, {}}, world) != link)
          observed.key.id += "#" + link->name;
        observed.label = link->name;
        observed.instance = world.instance(*link);
        observed.settings["name"] = link->name;
        describe(*link, observed.settings);
        if (theirs.contains(observed.key.id))
          observed.settings[std::string(kManagedBy)] = std::string(text_of(model::Backend::kNetworkManager));
        PkeyLink facts;
        facts.carrier = link->carrier;
        facts.parent = parent->name;
        if (port && (world.thorough || !link->carrier)) {
          facts.membership = std::string(text_of(membership(*port, link->ipoib->pkey, world)));
        }
        observed.facts = model::to_attributes(facts);
        out.push_back(std::move(observed));
      }
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    detail::check_children(desired, observed, world, diagnostics);
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    std::vector<Link> links;
    std::vector<std::pair<Change*, int>> carrying;
    for (auto* change : changes) {
      const auto id = pkey_id(change->key);
      const auto* link = id ? child_of(*id, world, text_at(change->before, "name")) : nullptr;
      if (id && id->name.empty()) {
        for (const auto* other : detail::siblings_of(*id, world)) {
          if (other != link) change->siblings.push_back(world.instance(*other));
        }
      }
      if (link == nullptr || !explain(*change, *link, world)) continue;
      carrying.emplace_back(change, link->index);
      links.push_back(*link);
    }
    if (links.empty()) return {};
    auto carried_states = observe_carried_states(world.host(), links);
    if (!carried_states) return base::fail(carried_states.error());
    std::unordered_map<int, const CarriedState*> by_index;
    for (const auto& state : *carried_states) by_index.emplace(state.carried.index, &state);
    for (auto& [change, index] : carrying) {
      auto state = *by_index.at(index);
      const auto wanted = text_at(change->after, "name");
      if (wanted != state.carried.name) state.carried.becomes = wanted;
      change->carried = pack({&state, 1});
    }
    return detail::carry_profiles(changes, world);
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    if (changes.empty()) return {};
    switch (changes.front().operation) {
      case Operation::kCreate:
        return detail::create_children(changes, host);
      case Operation::kUpdate:
        return detail::update_or_hand_over(changes, host);
      case Operation::kDelete:
        return detail::delete_children(changes, host);
    }
    return {};
  }

  Result<Waited> await(std::span<const Change> changes, World& now, const TimeLeft& left) const override {
    return await_join(changes, now, left.carrier, links_of(changes));
  }

  Result<std::set<model::Key>> limits_standing(std::span<const Change> limited,
                                               system::Host& host) const override {
    return mtu_limits_standing(limited, host, links_of(limited));
  }

  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    // The new plan deletes again the objects that were to be deleted; those that were to be kept get their
    // carried state back.
    std::vector<Change> lost;  // between the deletion and the creation of one that is re-created
    auto world = World::observe_links(host);
    if (!world) return base::fail(world.error());
    for (const auto& change : changes) {
      if (change.operation == Operation::kDelete || hands_over(change)) continue;
      if (change.carried.empty() && !changes_hands(change)) continue;
      const auto* link = child_of(change, *world);
      auto carried_states = unpack(change.carried);
      if (link == nullptr && change.operation == Operation::kUpdate && reachable(change.key, *world))
        lost.push_back(change);
      if (link == nullptr || carried_states.empty()) continue;
      if (auto done = restore_labels(host, carried_states.front(), *link, world->snapshot().links); !done)
        return done;
      if (text_at(change.after, "state") == "down") continue;
      if (!link->up && carried_states.front().up) {
        const std::vector<system::LinkRequest> up{system::SetLink{.index = link->index, .up = true}};
        if (auto done = host.links.execute(up); !done) return done;
      }
      if (auto done = host.links.restore_carried(carried_states.front().carried, link->index, link->name);
          !done && !stops_ipv6(change))
        return done;
    }
    return lost.empty() ? Result<void>{} : detail::update_children(lost, host);
  }

  std::vector<std::string> clear_away(std::span<const Change> changes, system::Host& host) const override {
    return detail::profiles_not_back(changes, host);
  }

  Verdict judge(const Desired& desired, const Observed* /*observed*/,
                const std::vector<std::string>& differing, World& world) const override {
    const auto id = pkey_id(desired.key);
    if (!id || desired.ignore || desired.absent) return {};
    const auto* link = child_of(*id, world);
    const auto port = world.port(id->guid);
    if (link == nullptr) {
      Verdict verdict;  // not there yet: say beforehand that it will not get carrier
      if (port && membership(*port, id->pkey, world) == Membership::kNone) {
        verdict.warnings.push_back(
            fmt::format("P_Key {} is not in the table of {} port {} yet: no carrier until the "
                        "subnet manager makes it a member",
                        id->pkey.text(), port->device->name, port->port->number));
      }
      // Nothing of ours makes it: its profile does, once that is there and active.
      if (desired.policy.contains(detail::kMadeWhenActive) && !desired.pending) {
        verdict.sort = Verdict::Sort::kPending;
        verdict.reason = "NetworkManager creates it when it activates the profile";
      }
      return verdict;
    }
    if (std::find(differing.begin(), differing.end(), "mtu") != differing.end()) {
      if (auto why = why_mtu_limited(desired, *link); !why.empty())
        return {Verdict::Sort::kLimited, std::move(why), {"mtu"}, {}};
    }
    if (auto why = why_no_carrier(*link, port, world); !why.empty()) {
      return {Verdict::Sort::kLimited, std::move(why), {}, {}};
    }
    Verdict verdict;
    // mlx5's children have channels of their own, and the parent's queue pair takes their packets in
    // (mlx5i_pkey_open(), ipoib_vlan.c); elsewhere the kernel takes children down with their parent.
    if (const auto* parent = world.link(link->parent);
        parent != nullptr && link->up && !parent->up && !link->ipoib->connected_capable)
      verdict.warnings.push_back(fmt::format(
          "{} is down: {} is up but receives nothing, as its IPoIB is enhanced", parent->name, link->name));
    if (port && (world.thorough || !link->carrier) &&
        membership(*port, id->pkey, world) == Membership::kLimited) {
      verdict.warnings.push_back(
          fmt::format("limited member of partition {}: it reaches full members only", id->pkey.text()));
    }
    return verdict;
  }

  void watched(const model::ResourceReport& resource, system::Settings& out) const override {
    watch_transport(resource, IpoibLink::kPkey, out);
  }

  [[nodiscard]] bool returns(std::string_view field, const model::Attributes& before,
                             const model::Attributes& then) const override {
    if (field == "mtu" && !before.contains("mtu")) {
      // Of one that we made nobody knows the MTU that it would have, but an MTU of connected mode goes with
      // the mode.
      const auto will_be = model::from_attributes<PkeyLink>(then);
      return will_be.mode == model::IpoibMode::kDatagram && will_be.mtu &&
             will_be.mtu->bytes > model::kMtuDatagramMax;
    }
    return field != "state" && field != "name" && mtu_fits_mode(field, before, then);
  }

  [[nodiscard]] model::Attributes when_new() const override {
    PkeyLink fresh;
    fresh.mode = model::IpoibMode::kDatagram;
    fresh.umcast = false;
    return model::to_attributes(fresh);
  }

  [[nodiscard]] bool takes_over(const Change& change) const override {
    return changes_hands(change) && !hands_over(change);
  }

  [[nodiscard]] bool reachable(const model::Key& key, const World& world) const override {
    const auto id = pkey_id(key);
    return id && world.parent(id->guid) != nullptr;
  }

  [[nodiscard]] std::string parent_object(const Change& change, const World& world) const override {
    const auto id = pkey_id(change.key);
    return id ? parent_object_on(world.parent(id->guid), world) : std::string();
  }

 private:
  /// Finds the interfaces of changes by their keys.
  static std::function<const Link*(const model::Key&, const World&)> links_of(
      std::span<const Change> changes) {
    std::map<model::Key, const Change*> by_key;
    for (const auto& change : changes) by_key.emplace(change.key, &change);
    return [by_key = std::move(by_key)](const model::Key& key, const World& world) {
      const auto at = by_key.find(key);
      return at == by_key.end() ? nullptr : child_of(*at->second, world);
    };
  }

  /// Fills in what a change interrupts; true when it takes something away that must be carried over.
  static bool explain(Change& change, const Link& link, World& world) {
    if (change.operation == Operation::kDelete) {
      const auto* master = link.master == 0 ? nullptr : world.link(link.master);
      change.interrupts.push_back(
          (link.up ? "the interface is deleted, with its addresses and connections" : "the interface goes") +
          (master == nullptr ? std::string() : fmt::format("; {} loses it", master->name)));
      return true;
    }
    if (changes_hands(change)) {
      change.interrupts.emplace_back(hands_over(change)
                                         ? "the interface is deleted, and NetworkManager re-creates it"
                                         : "the interface is deleted with its profile, and re-created");
      return hands_over(change);
    }
    const auto wanted = model::from_attributes<PkeyLink>(change.after);
    bool carries = false;
    if (wanted.mode && *wanted.mode != link.ipoib->mode) {
      if (!world.host().ipoib.has_mode_file(link.name)) {
        change.interrupts.emplace_back(
            "deleted and re-created, since the kernel cannot change the mode of this one "
            "safely; addresses and routes are restored, its own kernel settings (sysctl) are not");
        carries = true;
      } else if (link.up) {
        change.interrupts.emplace_back("traffic stalls for a moment while paths are set up again");
      }
    }
    if (wanted.name && wanted.name->text != link.name && link.up && !renames_running_links(world)) {
      change.interrupts.emplace_back(
          "link down for a moment (kernels before 6.2); addresses, routes and rules are restored");
    }
    if (wanted.name && wanted.name->text != link.name) carries = true;
    if (link.up && wanted.state == State::kDown) {
      change.interrupts.emplace_back("link down; its IPv6 addresses and routes are removed");
      carries = true;
    }
    if (wanted.mtu && wanted.mtu->bytes < model::kMtuIpv6Min && link.mtu >= model::kMtuIpv6Min) {
      change.interrupts.push_back(
          fmt::format("IPv6 stops on {}: it needs an MTU of {}", link.name, model::kMtuIpv6Min));
      carries = true;
    }
    return carries;
  }
};

}  // namespace

const Kind& pkey() {
  static const PkeyKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
