// SPDX-License-Identifier: Apache-2.0
// Rules of ports' names that need the host: names that are taken, files of others that give names, rules of
// ports that are away.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "formats/udev/udev_netdev_names.hpp"
#include "kinds/ipoib/link_name.hpp"
#include "kinds/ports/pkey_link.hpp"
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

/// While a port is away, what a match or device + port means cannot be told: a rule of a port that is not
/// here may well be that entry's. It would be gone just when the port comes and needs it. But a name that
/// the document gives to another port is no longer its: udev would try to give it to both.
void settle_rules_of_absent_ports(std::vector<Desired>& desired, const std::vector<Observed>& observed,
                                  const World& world) {
  std::set<model::Key> listed;
  std::map<std::string, const Desired*> given;
  const Desired* open_ended = nullptr;
  for (const auto& resource : desired) {
    if (resource.key.kind != kLinkNameKind) continue;
    listed.insert(resource.key);
    if (const auto name = text_at(resource.settings, "rule"); !name.empty() && !resource.ignore)
      given.emplace(name, &resource);
    if (resource.policy.contains(kFloating)) open_ended = &resource;
  }
  std::vector<Desired> settled;
  for (const auto& resource : observed) {
    const auto guid = link_name_guid(resource.key);
    if (resource.key.kind != kLinkNameKind || listed.contains(resource.key) || !guid ||
        world.parent(*guid) != nullptr)
      continue;
    if (open_ended == nullptr && world.why_held(*guid).empty()) continue;  // it is dropped
    const auto heir = given.find(text_at(resource.settings, "rule"));
    const auto* entry = heir == given.end() ? open_ended : heir->second;
    if (entry == nullptr) continue;
    Desired settle;
    settle.key = resource.key;
    settle.label = resource.label;
    settle.where = entry->where;
    settle.origins = entry->origins;
    if (heir == given.end()) {
      settle.settings["rule"] = model::value_of(resource.settings, "rule");
    } else {
      settle.absent = true;
      settle.needs = {entry->key};  // an entry that is set aside takes no name away
    }
    settled.push_back(std::move(settle));
  }
  desired.insert(desired.end(), settled.begin(), settled.end());
}

/// The entry of a P_Key interface that is to get another name; nullptr without one.
const Desired* renaming(const Link& child, const std::vector<Desired>& desired, const World& world) {
  if (!child.ipoib || !child.ipoib->child) return nullptr;
  const auto at = std::find_if(desired.begin(), desired.end(), [&](const Desired& resource) {
    const auto name = text_at(resource.settings, "name");
    if (resource.key.kind != kPkeyKind || resource.ignore || name.empty() || name == child.name) return false;
    const auto id = pkey_id(resource.key);
    return id && child_of(*id, world) == &child;
  });
  return at == desired.end() ? nullptr : &*at;
}

void check_taken(const Desired& resource, const std::string& wanted, const Link* mine,
                 const std::vector<Desired>& desired, const World& world, const std::set<int>& moving,
                 Diagnostics& diagnostics) {
  const auto* holder = world.named(wanted);
  if (mine == nullptr || holder == nullptr || holder == mine) return;
  const bool altname = holder->name != wanted;
  if (!altname && moving.contains(holder->index)) return;  // it gets another name in the same plan
  if (const auto* entry = altname ? nullptr : renaming(*holder, desired, world); entry != nullptr) {
    // Ports get their names before what is over them: P_Key interfaces are called after their ports.
    auto& d = diagnostics.emplace_back(
        Diagnostic{Severity::kError,
                   resource.origins.at("name"),
                   fmt::format("[[ipoib]] name: \"{}\" is still the name of the interface of P_Key {}, which "
                               "is renamed only after the port",
                               wanted, holder->ipoib->pkey.text()),
                   "rename that interface first, then this one",
                   {}});
    d.related.push_back({entry->where, "the entry of that interface"});
    return;
  }
  diagnostics.push_back(
      Diagnostic{Severity::kError,
                 resource.origins.at("name"),
                 fmt::format("[[ipoib]] name: \"{}\" is {} interface {} (index {}){}", wanted,
                             altname ? "an alternative name of" : "already the name of", holder->name,
                             holder->index, altname ? "" : ", which is not in the document"),
                 altname ? remove_altname(*holder, wanted)
                         : "use another name, or rename or remove that interface first",
                 {}});
}

void warn_foreign(const Desired& desired, const std::string& wanted, const std::vector<ForeignName>& others,
                  Diagnostics& diagnostics) {
  for (const auto& other : others) {
    if (other.name == wanted && other.same_port && !other.wins) continue;  // says the same
    std::string message, hint;
    if (!other.same_port) {
      message = fmt::format("{}:{} gives \"{}\" to another interface", other.file, other.line, wanted);
      hint = "only one of the two can have this name after the next boot: change that line, or the name here";
    } else {
      message = fmt::format("{}:{} names this interface too: \"{}\"", other.file, other.line, other.name);
      hint = other.is_final ? "udev lets no later rule change that name (:=), so it wins at the next boot: "
                              "remove the line, or the name here"
             : other.wins
                 ? "udev reads that file after ours, so it wins at the next boot: remove the line, or "
                   "the name here"
             : other.link_file
                 ? "our rule comes first and wins; remove the line there to keep the two from disagreeing"
                 : "ours is read later and wins; remove the line there to keep the two from disagreeing";
    }
    diagnostics.push_back(
        Diagnostic{Severity::kWarning, desired.origins.at("name"), std::move(message), std::move(hint), {}});
  }
}

}  // namespace

std::optional<model::Guid> link_name_guid(const model::Key& key) {
  if (key.kind != kLinkNameKind) return std::nullopt;
  auto guid = model::Guid::parse(key.id);
  if (!guid) return std::nullopt;
  return *guid;
}

std::string remove_altname(const Link& holder, const std::string& altname) {
  return fmt::format("remove it there: ip link property del dev {} altname {}", holder.name, altname);
}

void check_link_names(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
                      Diagnostics& diagnostics) {
  settle_rules_of_absent_ports(desired, observed, world);
  std::set<int> moving;
  for (const auto& resource : desired) {
    if (resource.key.kind != kLinkNameKind || resource.ignore) continue;
    if (const auto guid = link_name_guid(resource.key); guid && world.parent(*guid) != nullptr) {
      moving.insert(world.parent(*guid)->index);
    }
  }
  // Names that the plan deletes are free before anything gets another name.
  const auto gone = leaving(desired, observed, world);
  std::optional<ForeignNames> foreign;
  for (const auto& resource : desired) {
    const auto wanted = text_at(resource.settings, "rule");
    const auto guid = link_name_guid(resource.key);
    if (resource.key.kind != kLinkNameKind || resource.ignore || wanted.empty() || !guid) continue;
    if (const auto* holder = world.named(wanted); holder == nullptr || !gone.contains(holder->index))
      check_taken(resource, wanted, world.parent(*guid), desired, world, moving, diagnostics);
    if (!foreign) {
      auto read = ForeignNames::read(world.host().files);
      if (!read) return;
      foreign = std::move(*read);
    }
    warn_foreign(resource, wanted, foreign->of(*guid, wanted), diagnostics);
  }
}

}  // namespace rdmacfg::kinds::detail
