// SPDX-License-Identifier: Apache-2.0
#include "core/observation.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "catalog/all.hpp"
#include "catalog/bind.hpp"
#include "catalog/driver_at_boot.hpp"
#include "catalog/preset_words.hpp"
#include "fabric/cables.hpp"

namespace rdmacfg::core {

using base::Result;

namespace {

void list_places(const model::Section& section, const model::Location& entry,
                 std::map<model::Location, model::Location>& entry_of) {
  entry_of.emplace(section.where, entry);
  for (const auto& [key, value] : section.entries) {
    if (!value.from_defaults)
      value.each_place([&](const model::Location& place) { entry_of.emplace(place, entry); });
  }
  for (const auto& child : section.children) list_places(child, entry, entry_of);
}

/// Places of what was not understood, and of what may seem wrong for that reason alone: all of a faulty
/// section, and the defaults that it takes.
void list_faulty(const std::vector<model::Section>& sections, const std::set<model::Location>& faulty,
                 std::set<model::Location>& places) {
  for (const auto& section : sections) {
    if (faulty.contains(section.where)) {
      places.insert(section.where);
      for (const auto& [key, value] : section.entries)
        value.each_place([&](const model::Location& place) { places.insert(place); });
    }
    list_faulty(section.children, faulty, places);
  }
}

/// Has the kinds check the rules that need the host.
void check_observation(const config::Document& document, Observation& observation) {
  model::Diagnostics found;
  for (const auto* kind : kinds::all_kinds())
    kind->check(observation.desired, observation.observed, observation.world, found);
  kinds::warn_of_drivers_at_boot(observation.desired, observation.world, found);
  // An entry that is wrong in itself is not said to be wrong for this host too.
  std::set<model::Location> wrong;
  for (const auto& diagnostic : observation.diagnostics) {
    if (diagnostic.severity == model::Severity::kError) wrong.insert(diagnostic.where);
  }
  for (auto& diagnostic : found) {
    if (!wrong.contains(diagnostic.where)) observation.diagnostics.push_back(std::move(diagnostic));
  }
  fabric::check_cable_entries(document.sections, observation.diagnostics);
  kinds::name_presets(document.sections, observation.diagnostics);
  config::name_host(observation.diagnostics, document);
  if (!model::has_errors(observation.diagnostics)) return;
  for (const auto& section : document.sections) list_places(section, section.where, observation.entry_of);
  for (auto& diagnostic : observation.diagnostics) {
    if (!observation.entry_of.contains(diagnostic.where)) continue;
    std::erase_if(diagnostic.related,
                  [](const auto& other) { return other.relation == model::Relation::kTakesDefault; });
  }
}

bool any_may_fail(const std::string& /*kind*/) { return true; }

/// The observed part alone, of the kinds that `known` speaks of.
Result<Observation> observe_known(system::Host& host, const KnownResources& known, const MayFail& may_fail) {
  auto world = kinds::World::observe(host);
  if (!world) return base::fail(world.error());
  Observation observation;
  observation.world = std::move(*world);
  std::set<std::string_view> concerned;
  for (const auto& [key, known_identity] : known) {
    observation.world.track(key, known_identity);
    concerned.insert(key.kind);
  }
  for (const auto* kind : kinds::all_kinds()) {
    if (!concerned.contains(kind->name())) continue;
    auto observed = kind->observe(observation.world);
    if (!observed) {
      const std::string name(kind->name());
      if (!may_fail || !may_fail(name)) return base::fail(observed.error());
      observation.unseen.emplace(name, observed.error().message);
      continue;
    }
    for (auto& resource : *observed) observation.observed.push_back(std::move(resource));
  }
  for (const auto& resource : observation.observed)
    observation.observed_by_key.emplace(resource.key, &resource);
  return observation;
}

}  // namespace

KnownResources keys_of(const State& state, const model::Plan& plan) {
  KnownResources known;
  for (const auto& [key, record] : state.records) {
    kinds::KnownIdentity known_identity{.instance = record.instance, .ours = record.created};
    for (const auto& field : record.managed) {
      const auto at = record.before.find(field);
      if (at != record.before.end()) known_identity.before.insert(*at);
    }
    known.emplace(key, std::move(known_identity));
  }
  for (const auto& change : plan.changes) {
    auto& known_identity = known[change.key];
    for (const auto* side : {&change.before, &change.after}) {
      if (auto name = model::text_at(*side, "name"); !name.empty())
        known_identity.names.insert(std::move(name));
    }
    known_identity.others.insert(change.siblings.begin(), change.siblings.end());
  }
  return known;
}

Result<Observation> observe_host(system::Host& host, const KnownResources& known) {
  return observe_known(host, known, nullptr);
}

Result<Observation> observe_what_can_be(system::Host& host, const KnownResources& known) {
  auto whole = observe_host(host, known);
  return whole ? std::move(whole) : observe_known(host, known, any_may_fail);
}

Result<Observation> observe_what_can_be(const config::Document& document, system::Host& host,
                                        const KnownResources& known) {
  auto whole = observe_host(document, host, known, ObserveOptions{});
  return whole ? std::move(whole) : observe_host(document, host, known, {.may_fail = any_may_fail});
}

Result<Observation> observe_host(const config::Document& document, system::Host& host,
                                 const KnownResources& known, const ObserveOptions& options) {
  auto world = kinds::World::observe(host);
  if (!world) return base::fail(world.error());
  Observation observation;
  observation.world = std::move(*world);
  observation.world.thorough = options.thorough;
  observation.world.settled = options.settled;
  observation.world.cut_short = options.cut_short;
  for (const auto& [key, known_identity] : known) observation.world.track(key, known_identity);
  const auto bound = kinds::bind(document.sections, observation.world, observation.diagnostics);
  observation.world.unresolved = bound.unresolved;
  std::set<std::string> at_boot;
  for (const auto* kind : kinds::all_kinds()) {
    std::vector<model::Desired> desired;
    kind->parse(bound, desired, observation.diagnostics);
    // Below another root there is no kernel to change; it gets its part when it boots.
    if (host.offline && !kind->traits().works_offline) {
      for (const auto& resource : desired) {
        if (!resource.settings.empty() && !resource.absent && !resource.ignore &&
            at_boot.insert(resource.label).second)
          observation.at_boot.push_back(resource.label);
      }
      continue;
    }
    for (const auto& resource : desired) {
      kinds::KnownIdentity known_identity;
      if (auto name = model::text_at(resource.settings, "name"); !name.empty())
        known_identity.names.insert(std::move(name));
      observation.world.track(resource.key, known_identity);
    }
    auto observed = kind->observe(observation.world);
    const std::string name(kind->name());
    if (!observed && options.leave_out_denied && observed.error().code == base::Code::kDenied) {
      observation.unseen.emplace(name, observed.error().message);
      continue;
    }
    if (!observed && (!options.may_fail || !options.may_fail(name))) return base::fail(observed.error());
    if (observed) {
      for (auto& resource : *observed) observation.observed.push_back(std::move(resource));
    } else {
      for (auto& resource : desired) resource.ignore = true;
      observation.unseen.emplace(name, observed.error().message);
    }
    std::move(desired.begin(), desired.end(), std::back_inserter(observation.desired));
  }
  for (const auto& resource : observation.observed)
    observation.observed_by_key.emplace(resource.key, &resource);
  check_observation(document, observation);
  return observation;
}

MayFail may_fail_as_in(const Observation& before) {
  return [&before](const std::string& kind) { return before.unseen.contains(kind); };
}

void check_document(const config::Document& document, model::Diagnostics& diagnostics) {
  const kinds::World nowhere;
  const auto bound = kinds::bind(document.sections, nowhere, diagnostics);
  std::vector<model::Desired> desired;
  for (const auto* kind : kinds::all_kinds()) kind->parse(bound, desired, diagnostics);
  fabric::check_cable_entries(document.sections, diagnostics);
  kinds::name_presets(document.sections, diagnostics);
}

void check_understood(const config::Document& document, model::Diagnostics& diagnostics) {
  if (!document.whole) return;  // errors that follow from a missing file are not reported again
  std::set<model::Location> faulty;
  list_faulty(document.sections, document.faulty, faulty);
  model::Diagnostics found;
  check_document(document, found);
  for (auto& diagnostic : found) {
    if (diagnostic.severity == model::Severity::kError && !faulty.contains(diagnostic.where))
      diagnostics.push_back(std::move(diagnostic));
  }
}

}  // namespace rdmacfg::core
