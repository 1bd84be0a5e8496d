// SPDX-License-Identifier: Apache-2.0
#include "core/picture.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "catalog/all.hpp"
#include "catalog/bind.hpp"
#include "catalog/preset_words.hpp"
#include "kinds/entry.hpp"

namespace rdmacfg::core {

using base::Result;

namespace {

void list_places(const model::Section& section, const model::Location& entry,
                 std::map<model::Location, model::Location>& entry_of) {
  entry_of.emplace(section.where, entry);
  for (const auto& [key, value] : section.entries) {
    if (!value.from_defaults) entry_of.emplace(value.where, entry);
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
      for (const auto& [key, value] : section.entries) places.insert(value.where);
    }
    list_faulty(section.children, faulty, places);
  }
}

}  // namespace

Known keys_of(const State& state, const model::Plan& plan) {
  Known known;
  for (const auto& [key, record] : state.records) {
    kinds::Clue clue{.instance = record.instance, .ours = record.created};
    for (const auto& field : record.managed) {
      const auto at = record.before.find(field);
      if (at != record.before.end()) clue.before.insert(*at);
    }
    known.emplace(key, std::move(clue));
  }
  for (const auto& change : plan.changes) {
    auto& clue = known[change.key];
    for (const auto* side : {&change.before, &change.after}) {
      if (auto name = model::text_at(*side, "name"); !name.empty()) clue.names.insert(std::move(name));
    }
    clue.others.insert(change.beside.begin(), change.beside.end());
  }
  return known;
}

Result<Picture> take_picture(system::Host& host, const Known& known) {
  auto world = kinds::World::observe(host);
  if (!world) return base::fail(world.error());
  Picture picture;
  picture.world = std::move(*world);
  std::set<std::string_view> concerned;
  for (const auto& [key, clue] : known) {
    picture.world.concern(key, clue);
    concerned.insert(key.kind);
  }
  for (const auto* kind : kinds::all()) {
    if (!concerned.contains(kind->name())) continue;
    auto observed = kind->observe(picture.world);
    if (!observed) return base::fail(observed.error());
    for (auto& one : *observed) picture.observed.push_back(std::move(one));
  }
  for (const auto& one : picture.observed) picture.observed_by_key.emplace(one.key, &one);
  return picture;
}

Result<Picture> take_picture(const config::Document& document, system::Host& host, const Known& known,
                             bool thorough, bool settled, const MayFail& may_fail) {
  auto world = kinds::World::observe(host);
  if (!world) return base::fail(world.error());
  Picture picture;
  picture.world = std::move(*world);
  picture.world.thorough = thorough;
  picture.world.settled = settled;
  for (const auto& [key, clue] : known) picture.world.concern(key, clue);
  const auto bound = kinds::bind(document.sections, picture.world, picture.diagnostics);
  picture.world.unresolved = bound.unresolved;
  std::set<std::string> at_boot;
  for (const auto* kind : kinds::all()) {
    std::vector<model::Desired> desired;
    kind->parse(bound, desired, picture.diagnostics);
    // Below another root there is no kernel to change; it gets its part when it boots.
    if (host.offline && !kind->traits().works_offline) {
      for (const auto& one : desired) {
        if (!one.settings.empty() && !one.absent && !one.ignore && at_boot.insert(one.label).second)
          picture.at_boot.push_back(one.label);
      }
      continue;
    }
    for (const auto& one : desired) {
      kinds::Clue clue;
      if (auto name = model::text_at(one.settings, "name"); !name.empty()) clue.names.insert(std::move(name));
      picture.world.concern(one.key, clue);
    }
    auto observed = kind->observe(picture.world);
    const std::string name(kind->name());
    if (!observed && (!may_fail || !may_fail(name))) return base::fail(observed.error());
    if (observed) {
      for (auto& one : *observed) picture.observed.push_back(std::move(one));
    } else {
      for (auto& one : desired) one.ignore = true;
      picture.unseen.emplace(name, observed.error().message);
    }
    std::move(desired.begin(), desired.end(), std::back_inserter(picture.desired));
  }
  for (const auto& one : picture.observed) picture.observed_by_key.emplace(one.key, &one);
  model::Diagnostics found;
  for (const auto* kind : kinds::all()) kind->check(picture.desired, picture.observed, picture.world, found);
  // An entry that is wrong in itself is not said to be wrong for this host too.
  std::set<model::Location> wrong;
  for (const auto& one : picture.diagnostics) {
    if (one.severity == model::Severity::kError) wrong.insert(one.where);
  }
  for (auto& one : found) {
    if (!wrong.contains(one.where)) picture.diagnostics.push_back(std::move(one));
  }
  kinds::name_presets(document.sections, picture.diagnostics);
  config::name_host(picture.diagnostics, document);
  if (model::has_errors(picture.diagnostics)) {
    for (const auto& section : document.sections) list_places(section, section.where, picture.entry_of);
    for (auto& one : picture.diagnostics) {
      if (!picture.entry_of.contains(one.where)) continue;
      std::erase_if(one.related, [](const auto& other) { return other.note == kinds::kTakesDefault; });
    }
  }
  return picture;
}

MayFail as_in(const Picture& before) {
  return [&before](const std::string& kind) { return before.unseen.contains(kind); };
}

void check_document(const config::Document& document, model::Diagnostics& diagnostics) {
  const kinds::World nowhere;
  const auto bound = kinds::bind(document.sections, nowhere, diagnostics);
  std::vector<model::Desired> desired;
  for (const auto* kind : kinds::all()) kind->parse(bound, desired, diagnostics);
  kinds::name_presets(document.sections, diagnostics);
}

void check_understood(const config::Document& document, model::Diagnostics& diagnostics) {
  if (!document.whole) return;  // errors that follow from a missing file are not reported again
  std::set<model::Location> faulty;
  list_faulty(document.sections, document.faulty, faulty);
  model::Diagnostics found;
  check_document(document, found);
  for (auto& one : found) {
    if (one.severity == model::Severity::kError && !faulty.contains(one.where))
      diagnostics.push_back(std::move(one));
  }
}

}  // namespace rdmacfg::core
