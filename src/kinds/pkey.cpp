// SPDX-License-Identifier: Apache-2.0
#include "kinds/pkey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text.hpp"
#include "kinds/backend.hpp"
#include "kinds/luggage.hpp"
#include "kinds/name_template.hpp"
#include "kinds/nm_keyfile.hpp"
#include "kinds/transport.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostic;
using model::Diagnostics;
using model::Observed;
using model::Operation;
using model::Section;
using model::Severity;
using model::State;
using model::text_at;
using system::Link;

namespace detail {

std::optional<PkeyId> pkey_id(const model::Key& key) {
  const auto slash = key.id.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto hash = key.id.find('#', slash);
  auto guid = model::Guid::parse(std::string_view(key.id).substr(0, slash));
  auto pkey = model::Pkey::parse(
      std::string_view(key.id).substr(slash + 1, hash == std::string::npos ? hash : hash - slash - 1));
  if (!guid || !pkey) return std::nullopt;
  return PkeyId{*guid, *pkey, hash == std::string::npos ? std::string() : key.id.substr(hash + 1)};
}

const Link* child_of(const PkeyId& id, const World& world, std::string_view name) {
  const auto* parent = world.parent(id.guid);
  if (parent == nullptr) return nullptr;
  return world.child(parent->index, id.pkey, id.name.empty() ? name : id.name);
}

}  // namespace detail

using detail::changes_hands;
using detail::child_of;
using detail::hands_over;
using detail::pkey_id;

namespace {

constexpr std::string_view kKind = "pkey";
constexpr std::string_view kSection = "[[ipoib.pkey]]";

Diagnostic error_at(const model::Location& where, std::string message, std::string hint) {
  return {Severity::kError, where, std::move(message), std::move(hint), {}};
}

/// Names that the document gives, each once.
class NameBook {
 public:
  explicit NameBook(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void claim(const std::string& name, const model::Location& where, std::string_view section) {
    const auto [first, fresh] = names_.try_emplace(name, where);
    if (fresh) return;
    auto d = error_at(where, fmt::format("{} name: \"{}\" is the name of another entry too", section, name),
                      "every interface needs a name of its own");
    d.related.push_back({first->second, "first used here"});
    diagnostics_.push_back(std::move(d));
  }

 private:
  Diagnostics& diagnostics_;
  std::map<std::string, model::Location> names_;
};

class PkeyKind final : public Kind {
 public:
  [[nodiscard]] std::string_view name() const override { return kKind; }
  [[nodiscard]] std::span<const model::FieldSpec> fields() const override { return model::specs<PkeyLink>(); }

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    NameBook names(diagnostics);
    for (const auto& port : bound.ports) {
      if (port.names) names.claim(port.name, port.section->find("name")->where, "[[ipoib]]");
    }
    const Backends backends(bound);
    for (const auto& port : bound.ports) {
      const bool theirs = backends.of(port) == model::Backend::kNetworkManager;
      for (const auto& section : port.section->children) {
        if (section.path != "ipoib.pkey") continue;
        out.push_back(parse_one(port, section, names, diagnostics));
        // NetworkManager makes it from its profile; this only looks.
        if (theirs) observe_only(out.back(), bound);
      }
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    std::set<std::string> seen;
    const auto theirs = nm_profiles(world.host().files);
    for (const auto* parent : world.parents()) {
      const auto port = world.port(parent->ipoib->guid);
      for (const auto* link : world.children(parent->index)) {
        Observed observed;
        observed.key = {std::string(kKind),
                        fmt::format("{}/{}", parent->ipoib->guid.text(), link->ipoib->pkey.text())};
        if (!seen.insert(observed.key.id).second) observed.key.id += "#" + link->name;
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
    std::map<model::Key, const Observed*> now;
    for (const auto& one : observed) {
      if (one.key.kind == kKind) now.emplace(one.key, &one);
    }
    add_pruned(desired, now);
    take_from_network_manager(kKind, desired, observed);
    detail::hand_to_network_manager(desired, observed, world);
    std::set<int> moving;  // interfaces that get another name, or go, in this plan
    for (const auto& one : desired) {
      const auto* link = one.ignore ? nullptr : link_of(one, world);
      if (link != nullptr) moving.insert(link->index);
    }
    for (auto& one : desired) {
      if (one.key.kind != kKind || one.ignore || one.pending || one.absent) continue;
      const auto id = pkey_id(one.key);
      const auto* parent = id ? world.parent(id->guid) : nullptr;
      if (parent == nullptr) continue;
      if (id->pkey == parent->ipoib->pkey) {
        diagnostics.push_back(error_at(
            one.where,
            fmt::format("{} pkey: {} is the P_Key of {} itself", kSection, id->pkey.text(), parent->name),
            "leave the entry out: the port's own interface is in that partition"));
        continue;
      }
      const auto at = now.find(one.key);
      const auto* link = child_of(*id, world, text_at(one.settings, "name"));
      if (at != now.end() && link != nullptr && link->name != at->second->label) {
        diagnostics.push_back(
            error_at(one.where,
                     fmt::format("{}: {} and {} are both interfaces of P_Key {} over {}", kSection,
                                 at->second->label, link->name, id->pkey.text(), parent->name),
                     fmt::format("remove the one that is too many: ip link del {}", at->second->label)));
        continue;
      }
      check_capability(one, at == now.end() ? nullptr : at->second, link != nullptr ? *link : *parent,
                       kSection, id->guid, world, diagnostics);
      const auto wanted = text_at(one.settings, "name");
      const auto* holder = world.named(wanted);
      if (holder == nullptr || holder == link || moving.contains(holder->index)) continue;
      const auto origin = one.origins.find("name");
      diagnostics.push_back(
          error_at(origin == one.origins.end() ? one.where : origin->second,
                   fmt::format("{}: \"{}\" is already the name of another interface (index {})", kSection,
                               wanted, holder->index),
                   "give this entry a name = \"…\" of its own, or remove that interface first"));
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    std::vector<Link> links;
    std::vector<std::pair<Change*, int>> carrying;
    for (auto* change : changes) {
      const auto id = pkey_id(change->key);
      const auto* link = id ? child_of(*id, world, text_at(change->before, "name")) : nullptr;
      if (link == nullptr || !explain(*change, *link, world)) continue;
      carrying.emplace_back(change, link->index);
      links.push_back(*link);
    }
    if (links.empty()) return {};
    auto luggage = observe_luggage(world.host(), links);
    if (!luggage) return base::fail(luggage.error());
    std::unordered_map<int, const Luggage*> by_index;
    for (const auto& one : *luggage) by_index.emplace(one.carried.index, &one);
    for (auto& [change, index] : carrying) {
      auto one = *by_index.at(index);
      const auto wanted = text_at(change->after, "name");
      if (wanted != one.carried.name) one.carried.becomes = wanted;
      change->carried = pack({&one, 1});
    }
    return {};
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

  Result<Waited> await(std::span<const Change> changes, World& now,
                       std::chrono::milliseconds deadline) const override {
    return await_join(changes, now, deadline, link_at);
  }

  Result<std::set<model::Key>> limits_standing(std::span<const Change> limited,
                                               system::Host& host) const override {
    return mtu_limits_standing(limited, host, link_at);
  }

  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    // What was to be deleted is deleted again by the new plan; what was to be kept gets its luggage back.
    std::vector<Change> lost;  // between the deletion and the creation of one that is made anew
    auto world = World::observe_links(host);
    if (!world) return base::fail(world.error());
    for (const auto& change : changes) {
      if (change.operation == Operation::kDelete || hands_over(change)) continue;
      if (change.carried.empty() && !changes_hands(change)) continue;
      const auto id = pkey_id(change.key);
      const auto* link = id ? child_of(*id, *world, text_at(change.after, "name")) : nullptr;
      auto luggage = unpack(change.carried);
      if (link == nullptr && change.operation == Operation::kUpdate && reachable(change.key, *world))
        lost.push_back(change);
      if (link == nullptr || luggage.empty()) continue;
      if (auto done = restore_labels(host, luggage.front(), *link, world->snapshot().links); !done)
        return done;
      if (text_at(change.after, "state") == "down") continue;
      if (!link->up && luggage.front().up) {
        const std::vector<system::LinkRequest> up{system::SetLink{.index = link->index, .up = true}};
        if (auto done = host.links.execute(up); !done) return done;
      }
      if (auto done = host.links.restore_carried(luggage.front().carried, link->index, link->name);
          !done && !stops_ipv6(change))
        return done;
    }
    return lost.empty() ? Result<void>{} : detail::update_children(lost, host);
  }

  Verdict judge(const Desired& desired, const Observed* /*observed*/,
                const std::vector<std::string>& differing, World& world) const override {
    const auto id = pkey_id(desired.key);
    if (!id || desired.ignore || desired.absent) return {};
    const auto* link = child_of(*id, world, text_at(desired.settings, "name"));
    const auto port = world.port(id->guid);
    if (link == nullptr) {
      Verdict verdict;  // not there yet: say beforehand that it will not get carrier
      if (port && membership(*port, id->pkey, world) == Membership::kNone) {
        verdict.warnings.push_back(
            fmt::format("P_Key {} is not in the table of {} port {} yet: no carrier until the "
                        "subnet manager makes it a member",
                        id->pkey.text(), port->device->name, port->port->number));
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
    if (port && (world.thorough || !link->carrier) &&
        membership(*port, id->pkey, world) == Membership::kLimited) {
      verdict.warnings.push_back(
          fmt::format("limited member of partition {}: it reaches full members only", id->pkey.text()));
    }
    return verdict;
  }

  [[nodiscard]] bool returns(std::string_view field, const model::Attributes& before,
                             const model::Attributes& then) const override {
    return field != "state" && field != "name" && mtu_fits_mode(field, before, then);
  }

  [[nodiscard]] bool takes_over(const Change& change) const override {
    return changes_hands(change) && !hands_over(change);
  }

  [[nodiscard]] bool reachable(const model::Key& key, const World& world) const override {
    const auto id = pkey_id(key);
    return id && world.parent(id->guid) != nullptr;
  }

  [[nodiscard]] std::string footing(const Change& change, const World& world) const override {
    const auto id = pkey_id(change.key);
    return id ? footing_on(world.parent(id->guid), world) : std::string();
  }

 private:
  static const Link* link_at(const model::Key& key, const World& world) {
    const auto id = pkey_id(key);
    return id ? child_of(*id, world) : nullptr;
  }

  /// Wants it as it is.
  static void observe_only(Desired& desired, const Bound& bound) {
    const auto name = text_at(desired.settings, "name");
    desired.settings.clear();
    const auto id = pkey_id(desired.key);
    const auto* link = id && bound.world != nullptr ? child_of(*id, *bound.world, name) : nullptr;
    if (link == nullptr || desired.ignore || desired.absent) return;
    desired.settings["name"] = link->name;
    describe(*link, desired.settings);
  }

  static Desired parse_one(const BoundPort& port, const Section& section, NameBook& names,
                           Diagnostics& diagnostics) {
    Desired desired;
    const auto written = model::from_attributes<PkeyLink>(section.attributes());
    const auto pkey = written.pkey.value_or(model::Pkey{});
    desired.key = {std::string(kKind), fmt::format("{}/{}", port.id, pkey.text())};
    desired.where = section.where;
    desired.pending = port.pending;
    if (const auto* name = section.find("name")) {
      if (auto usable = expand(model::NameTemplate{model::text_of(name->value)}, std::nullopt); !usable) {
        diagnostics.push_back(
            error_at(name->where, fmt::format("{} name: {}", kSection, usable.error().message), ""));
      }
    }
    for (const auto& spec : model::specs<PkeyLink>()) {
      const auto* entry = section.find(spec.name);
      if (entry == nullptr || spec.role == model::Role::kFact || spec.role == model::Role::kIdentity)
        continue;
      (spec.role == model::Role::kPolicy ? desired.policy : desired.settings)
          .emplace(spec.name, entry->value);
      desired.origins.emplace(spec.name, entry->where);
    }
    if (!written.name && !port.name.empty()) {
      auto name = fmt::format("{}.{:04x}", port.name, pkey.full());
      const auto* key = section.find("pkey");
      const auto where = key == nullptr ? section.where : key->where;
      if (name.size() > model::kInterfaceNameMax) {
        diagnostics.push_back(
            error_at(where,
                     fmt::format("{}: the name \"{}\" would have {} characters, the kernel takes at "
                                 "most {}",
                                 kSection, name, name.size(), model::kInterfaceNameMax),
                     fmt::format("add name = \"…\" here, or give the port a name of at most {} characters",
                                 model::kInterfaceNameMax - 5)));
      }
      desired.origins.emplace("name", where);
      desired.settings["name"] = std::move(name);
    }
    desired.label = desired.settings.contains("name")
                        ? text_at(desired.settings, "name")
                        : fmt::format("P_Key {} of {}", pkey.text(), port.label);
    if (desired.settings.contains("name")) names.claim(desired.label, desired.origins.at("name"), kSection);
    check_mode_and_mtu(desired, kSection, diagnostics);
    const auto* parent_state = port.section->find("state");
    desired.ignore = written.state == State::kIgnore ||
                     (parent_state != nullptr && model::text_of(parent_state->value) == "ignore");
    desired.absent = !desired.ignore && written.state == State::kAbsent;
    if (!written.state) {
      const bool down = parent_state != nullptr && model::text_of(parent_state->value) == "down";
      desired.settings["state"] = std::string(model::text_of(down ? State::kDown : State::kUp));
    }
    if (desired.ignore || desired.absent || desired.pending) desired.settings.clear();
    desired.needs = {{"link_name", port.id}, {"ipoib", port.id}};
    return desired;
  }

  static void add_pruned(std::vector<Desired>& desired, const std::map<model::Key, const Observed*>& now) {
    std::map<std::string, const Desired*> pruning;  // by the port's GUID
    std::set<model::Key> listed;
    for (const auto& one : desired) {
      const auto* prune = std::get_if<bool>(&model::value_of(one.policy, "prune"));
      if (one.key.kind == "ipoib" && prune != nullptr && *prune && !one.ignore)
        pruning.emplace(one.key.id, &one);
      if (one.key.kind == kKind) listed.insert(one.key);
    }
    std::vector<Desired> removals;
    for (const auto& [key, observed] : now) {
      const auto parent = pruning.find(key.id.substr(0, key.id.rfind('/')));
      if (parent == pruning.end() || listed.contains(key)) continue;
      Desired removal;
      removal.key = key;
      removal.label = observed->label;
      removal.where = parent->second->origins.at("prune");
      removal.origins["prune"] = removal.where;
      removal.absent = true;
      removals.push_back(std::move(removal));
    }
    desired.insert(desired.end(), removals.begin(), removals.end());
  }

  static const Link* link_of(const Desired& one, const World& world) {
    if (one.key.kind == kKind) {
      const auto id = pkey_id(one.key);
      return id ? child_of(*id, world, text_at(one.settings, "name")) : nullptr;
    }
    if (one.key.kind != "link_name") return nullptr;
    const auto guid = model::Guid::parse(one.key.id);
    return guid ? world.parent(*guid) : nullptr;
  }

  /// Fills in what a change interrupts; true when it takes something away that has to be carried over.
  static bool explain(Change& change, const Link& link, World& world) {
    if (change.operation == Operation::kDelete) {
      change.interrupts.emplace_back(link.up ? "the interface goes, with its addresses and connections"
                                             : "the interface goes");
      return true;
    }
    if (changes_hands(change)) {
      change.interrupts.emplace_back(hands_over(change)
                                         ? "the interface goes, and NetworkManager makes it anew"
                                         : "the interface goes with its profile, and is made anew");
      return hands_over(change);
    }
    const auto wanted = model::from_attributes<PkeyLink>(change.after);
    bool carries = false;
    if (wanted.mode && *wanted.mode != link.ipoib->mode) {
      if (!world.host().ipoib.has_mode_file(link.name)) {
        change.interrupts.emplace_back(
            "deleted and created anew, since the kernel cannot change the mode of this one "
            "safely; addresses and routes are put back");
        carries = true;
      } else if (link.up) {
        change.interrupts.emplace_back("traffic stalls for a moment while paths are set up anew");
      }
    }
    if (wanted.name && wanted.name->text != link.name && link.up) {
      change.interrupts.emplace_back(
          "link down for a moment (kernels before 6.2); addresses, routes and rules are put back");
    }
    if (wanted.name && wanted.name->text != link.name) carries = true;
    if (link.up && wanted.state == State::kDown) {
      change.interrupts.emplace_back("link down; its IPv6 addresses and routes go");
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
