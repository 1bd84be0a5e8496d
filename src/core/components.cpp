// SPDX-License-Identifier: Apache-2.0
#include "core/components.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "catalog/all.hpp"
#include "core/plan.hpp"
#include "kinds/abilities.hpp"

namespace rdmacfg::core {

using model::Key;
using model::Plan;

namespace {

/// Disjoint sets of 0 … n-1.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }

  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[root(a)] = root(b); }

 private:
  std::vector<std::size_t> parent_;
};

/// Joins what needs something, directly or together with others, with what it needs.
template <class Items>
DisjointSets by_needs(const Items& items) {
  DisjointSets sets(items.size());
  std::map<Key, std::size_t> first;  // that is this key, or needs it
  const auto meet = [&](const Key& key, std::size_t i) {
    const auto [at, fresh] = first.try_emplace(key, i);
    if (!fresh) sets.join(at->second, i);
  };
  for (std::size_t i = 0; i < items.size(); ++i) {
    meet(items[i].key, i);
    for (const auto& need : items[i].needs) meet(need, i);
  }
  return sets;
}

}  // namespace

std::vector<Plan> components(const Plan& plan) {
  const auto& changes = plan.changes;
  auto sets = by_needs(changes);
  std::map<std::pair<std::string, model::Value>, std::size_t> giver;
  const auto name_of = [](const model::Attributes& attributes) {
    return model::value_of(attributes, "name");
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto name = name_of(changes[i].before);
    if (name != model::Value{}) giver.emplace(std::pair{std::string(name_space_of(changes[i])), name}, i);
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto at = giver.find({std::string(name_space_of(changes[i])), name_of(changes[i].after)});
    if (at != giver.end()) sets.join(i, at->second);
  }
  // Resources deleted after an update that would put them back.
  std::map<Key, std::size_t> updates;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (changes[i].operation == model::Operation::kUpdate) updates.emplace(changes[i].key, i);
  }
  for (std::size_t i = 0; i < changes.size() && !updates.empty(); ++i) {
    if (changes[i].operation != model::Operation::kDelete) continue;
    for (const auto& key : kinds::put_back_by(kinds::find(changes[i].key.kind), changes[i].key)) {
      const auto at = updates.find(key);
      if (at != updates.end()) sets.join(i, at->second);
    }
  }
  std::map<std::size_t, std::size_t> part_of;
  std::vector<Plan> parts;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto [at, fresh] = part_of.try_emplace(sets.root(i), parts.size());
    if (fresh) parts.emplace_back();
    parts[at->second].changes.push_back(changes[i]);
  }
  return parts;
}

namespace {

/// The resources that each entry of the document wants, as indices: asked for once for each error.
class DesiredByPlace {
 public:
  explicit DesiredByPlace(const Observation& observation) : observation_(observation) {
    for (std::size_t i = 0; i < observation.desired.size(); ++i) {
      const auto& desired = observation.desired[i];
      add(desired.where, i);
      for (const auto& origin : desired.origins) add(origin.second, i);
    }
  }

  [[nodiscard]] std::vector<std::size_t> operator()(const model::Location& where) const {
    const auto at = of_.find(entry(where));
    return at == of_.end() ? std::vector<std::size_t>() : at->second;
  }

 private:
  [[nodiscard]] const model::Location& entry(const model::Location& place) const {
    const auto at = observation_.entry_of.find(place);
    return at == observation_.entry_of.end() ? place : at->second;
  }

  void add(const model::Location& where, std::size_t i) {
    auto& all = of_[entry(where)];
    if (all.empty() || all.back() != i) all.push_back(i);
  }

  const Observation& observation_;
  std::map<model::Location, std::vector<std::size_t>> of_;
};

}  // namespace

std::optional<std::map<Key, std::string>> set_aside(Observation& observation) {
  if (!model::has_errors(observation.diagnostics)) return std::map<Key, std::string>();
  auto sets = by_needs(observation.desired);
  const DesiredByPlace desired_by_place(observation);
  std::map<std::size_t, std::string> why;  // by the root of a part
  for (const auto& diagnostic : observation.diagnostics) {
    if (diagnostic.severity != model::Severity::kError) continue;
    std::vector<std::size_t> found;
    // Every entry has the values of [defaults], which may be wrong for one of them only.
    if (!observation.entry_of.contains(diagnostic.where)) {
      for (const auto& other : diagnostic.related) {
        if (!observation.entry_of.contains(other.where)) continue;
        const auto more = desired_by_place(other.where);
        found.insert(found.end(), more.begin(), more.end());
      }
    }
    if (found.empty()) found = desired_by_place(diagnostic.where);
    // A preset wants nothing itself where everything is written out; then it is about what contradicts it.
    for (const auto& other : diagnostic.related) {
      if (!found.empty()) break;
      found = desired_by_place(other.where);
    }
    if (found.empty()) return std::nullopt;
    for (const auto i : found) why.try_emplace(sets.root(i), diagnostic.message);
  }
  std::map<Key, std::string> aside;
  for (std::size_t i = 0; i < observation.desired.size(); ++i) {
    const auto at = why.find(sets.root(i));
    if (at == why.end()) continue;
    observation.desired[i].ignore = true;
    aside.emplace(observation.desired[i].key, at->second);
  }
  return aside;
}

void keep_aside(const Observation& planned, Observation& now) {
  std::set<Key> ignored;
  for (const auto& resource : planned.desired) {
    if (resource.ignore) ignored.insert(resource.key);
  }
  for (auto& resource : now.desired) resource.ignore = resource.ignore || ignored.contains(resource.key);
  now.left = planned.left;
}

}  // namespace rdmacfg::core
