// SPDX-License-Identifier: Apache-2.0
#include "kinds/pkey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "base/text.hpp"
#include "kinds/backend.hpp"
#include "kinds/luggage.hpp"
#include "kinds/name_template.hpp"
#include "kinds/nm_keyfile.hpp"
#include "kinds/pkey_names.hpp"
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

namespace {
constexpr std::string_view kKind = "pkey";
constexpr std::string_view kSection = "[[ipoib.pkey]]";
}  // namespace

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

const std::vector<const Link*>& siblings_of(const PkeyId& id, const World& world) {
  static const std::vector<const Link*> kNone;
  const auto* parent = world.parent(id.guid);
  return parent == nullptr ? kNone : world.children(parent->index, id.pkey);
}

namespace {

const Link* called(const std::vector<const Link*>& links, std::string_view name) {
  const auto at =
      std::find_if(links.begin(), links.end(), [&](const Link* one) { return one->name == name; });
  return at == links.end() ? nullptr : *at;
}

}  // namespace

const Link* child_of(const PkeyId& id, const World& world, std::string_view name) {
  const auto& all = siblings_of(id, world);
  if (!id.name.empty()) return called(all, id.name);
  if (all.empty()) return nullptr;
  if (const auto* link = name.empty() ? nullptr : called(all, name); link != nullptr) return link;
  const auto& clue = world.clue({std::string(kKind), fmt::format("{}/{}", id.guid.text(), id.pkey.text())});
  if (all.size() == 1 && clue.others.empty()) return all.front();
  std::vector<const Link*> left;
  for (const auto* link : all) {
    const auto instance = world.instance(*link);
    if (clue.others.contains(instance)) continue;
    if (clue.instance == instance) return link;
    left.push_back(link);
  }
  const auto at =
      std::find_if(left.begin(), left.end(), [&](const Link* one) { return clue.names.contains(one->name); });
  if (at != left.end()) return *at;
  return left.empty() ? nullptr : left.front();
}

const Link* child_of(const Change& change, const World& world) {
  const auto id = pkey_id(change.key);
  if (!id) return nullptr;
  std::vector<const Link*> mine;
  for (const auto* link : siblings_of(*id, world)) {
    const bool beside = !change.beside.empty() && std::find(change.beside.begin(), change.beside.end(),
                                                            world.instance(*link)) != change.beside.end();
    if (!beside) mine.push_back(link);
  }
  const auto before = text_at(change.before, "name");
  if (!id->name.empty()) return called(mine, id->name);
  if (change.operation == Operation::kDelete || detail::hands_over(change)) return called(mine, before);
  if (const auto* link = called(mine, text_at(change.after, "name")); link != nullptr) return link;
  if (const auto* link = called(mine, before); link != nullptr) return link;
  return mine.empty() ? nullptr : mine.front();
}

std::string kernel_name(std::string_view parent, model::Pkey pkey) {
  return fmt::format("{}.{:04x}", parent, pkey.full()).substr(0, model::kInterfaceNameMax);
}

}  // namespace detail

using detail::changes_hands;
using detail::child_of;
using detail::hands_over;
using detail::pkey_id;

namespace {

Diagnostic error_at(const model::Location& where, std::string message, std::string hint) {
  return {Severity::kError, where, std::move(message), std::move(hint), {}};
}

class PkeyKind final : public Kind {
 public:
  [[nodiscard]] std::string_view name() const override { return kKind; }
  [[nodiscard]] std::span<const model::FieldSpec> fields() const override { return model::specs<PkeyLink>(); }

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    PkeyNames names(diagnostics);
    for (const auto& port : bound.ports) {
      if (port.names && state_of(port) != State::kIgnore)
        names.claim(port.name, port.section->find("name")->where, "[[ipoib]]");
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
    names.check_first_names();
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    const auto theirs = nm_profiles(world.host().files);
    for (const auto* parent : world.parents()) {
      const auto port = world.port(parent->ipoib->guid);
      for (const auto* link : world.children(parent->index)) {
        Observed observed;
        observed.key = {std::string(kKind),
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
          if (other != link) change->beside.push_back(world.instance(*other));
        }
      }
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

  Result<Waited> await(std::span<const Change> changes, World& now,
                       std::chrono::milliseconds deadline) const override {
    return await_join(changes, now, deadline, links_of(changes));
  }

  Result<std::set<model::Key>> limits_standing(std::span<const Change> limited,
                                               system::Host& host) const override {
    return mtu_limits_standing(limited, host, links_of(limited));
  }

  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    // What was to be deleted is deleted again by the new plan; what was to be kept gets its luggage back.
    std::vector<Change> lost;  // between the deletion and the creation of one that is made anew
    auto world = World::observe_links(host);
    if (!world) return base::fail(world.error());
    for (const auto& change : changes) {
      if (change.operation == Operation::kDelete || hands_over(change)) continue;
      if (change.carried.empty() && !changes_hands(change)) continue;
      const auto* link = child_of(change, *world);
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

  [[nodiscard]] std::string footing(const Change& change, const World& world) const override {
    const auto id = pkey_id(change.key);
    return id ? footing_on(world.parent(id->guid), world) : std::string();
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

  static std::optional<State> state_of(const BoundPort& port) {
    const auto* entry = port.section->find("state");
    if (entry == nullptr) return std::nullopt;
    return model::from_attributes<PkeyLink>({{"state", entry->value}}).state;
  }

  static Desired parse_one(const BoundPort& port, const Section& section, PkeyNames& names,
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
    const auto of_port = state_of(port);
    desired.ignore = written.state == State::kIgnore || of_port == State::kIgnore;
    desired.absent = !desired.ignore && written.state == State::kAbsent;
    const bool has_name = !desired.ignore && !desired.absent;  // else it gets none from us
    if (!written.name && !port.name.empty()) {
      auto name = fmt::format("{}.{:04x}", port.name, pkey.full());
      const auto* key = section.find("pkey");
      const auto where = key == nullptr ? section.where : key->where;
      if (has_name && name.size() > model::kInterfaceNameMax) {
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
    if (has_name && desired.settings.contains("name")) {
      names.claim(desired.label, desired.origins.at("name"), kSection);
      if (written.mode == model::IpoibMode::kConnected && !port.name.empty())
        names.needs(detail::kernel_name(port.name, pkey), desired.label, section.where);
    }
    check_mode_and_mtu(desired, kSection, diagnostics);
    if (written.state == State::kUp && of_port == State::kDown) {
      auto& d = diagnostics.emplace_back(
          error_at(section.find("state")->where,
                   fmt::format("{} state: over a port that is down it would have no carrier, and the kernel "
                               "takes it down whenever the port goes down",
                               kSection),
                   "leave it out, then it is as the port is; or set the port to \"up\""));
      d.related.push_back({port.section->find("state")->where, "the port is to be down"});
    }
    if (!written.state)
      desired.settings["state"] =
          std::string(model::text_of(of_port == State::kDown ? State::kDown : State::kUp));
    if (desired.ignore || desired.absent || desired.pending) desired.settings.clear();
    desired.needs = {{"link_name", port.id}, {"ipoib", port.id}};
    return desired;
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
