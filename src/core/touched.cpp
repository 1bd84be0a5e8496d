// SPDX-License-Identifier: Apache-2.0
#include "core/touched.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "catalog/all.hpp"

namespace rdmacfg::core {

using base::Result;
using kinds::CarriedState;
using system::Link;

namespace {

std::vector<Link> touched(const model::Plan& plan, const kinds::World& world) {
  std::map<std::string, int, std::less<>> index_of;  // by the instance, which has no blank in it
  for (const auto& link : world.snapshot().links) index_of.emplace(world.instance(link), link.index);
  std::set<int> indexes, managed;
  for (const auto& change : plan.changes) {
    const auto* kind = kinds::find(change.key.kind);
    const auto parent_object = kind->parent_object(change, world);
    const auto at = index_of.find(std::string_view(parent_object).substr(0, parent_object.find(' ')));
    if (at != index_of.end()) (kind->traits().left_to_manager ? managed : indexes).insert(at->second);
  }
  // Children go with their port, and come back with it by the same hands. (The kernel has no deeper ones.)
  for (auto* ports : {&indexes, &managed}) {
    const auto own = *ports;
    for (const auto& link : world.snapshot().links) {
      if (link.parent != 0 && own.contains(link.parent)) ports->insert(link.index);
    }
  }
  std::vector<Link> out;
  for (const auto& link : world.snapshot().links) {
    if (indexes.contains(link.index) && !managed.contains(link.index)) out.push_back(link);
  }
  return out;
}

/// The interface that it is now: one that was re-created by undoing has another index.
const Link* matching_link(const CarriedState& then, const std::vector<Link>& now) {
  const auto by = [&](auto matches) {
    const auto at = std::find_if(now.begin(), now.end(), matches);
    return at == now.end() ? nullptr : &*at;
  };
  if (const auto* found = by([&](const Link& link) { return link.index == then.carried.index; }))
    return found;
  return by([&](const Link& link) { return link.name == then.carried.name; });
}

/// The losses of an interface.
struct Missing {
  bool up = false;  ///< it is down, and was up
  std::vector<std::string> items{};

  [[nodiscard]] bool empty() const { return !up && items.empty(); }
};

/// The losses of each, by place in `then`.
Result<std::vector<Missing>> observe_missing(const std::vector<CarriedState>& then,
                                             const std::vector<Link>& links, system::Host& host) {
  std::vector<Link> there;
  for (const auto& state : then) {
    if (const auto* link = matching_link(state, links)) there.push_back(*link);
  }
  const auto now = host.links.observe_carried(there);
  if (!now) return base::fail(now.error());
  std::vector<Missing> out(then.size());
  for (std::size_t i = 0; i < then.size(); ++i) {
    const auto* link = matching_link(then[i], links);
    if (link == nullptr) continue;  // said by its own change
    const auto at = std::find_if(now->begin(), now->end(),
                                 [&](const auto& carried) { return carried.index == link->index; });
    if (at != now->end()) out[i].items = host.links.lacking(then[i].carried, *at);
    out[i].up = then[i].up && !link->up;
  }
  return out;
}

}  // namespace

Result<TouchedLinks> TouchedLinks::observe(const model::Plan& plan, const kinds::World& before) {
  TouchedLinks out;
  if (before.offline()) return out;
  const auto links = touched(plan, before);
  if (links.empty()) return out;
  auto carried_states = kinds::observe_carried_states(before.host(), links);
  if (!carried_states) return base::fail(carried_states.error());
  out.then_ = std::move(*carried_states);
  return out;
}

std::vector<std::string> TouchedLinks::put_back(system::Host& host) const {
  if (then_.empty()) return {};
  std::vector<std::string> left;
  for (const bool last : {false, true}) {
    const auto links = host.links.observe_links();
    const auto missing = links ? observe_missing(then_, *links, host) : base::fail(links.error());
    if (!missing)
      return {"addresses and routes could not be compared after undoing: " + missing.error().message};
    std::vector<CarriedState> back;
    for (std::size_t i = 0; i < then_.size(); ++i) {
      if ((*missing)[i].empty()) continue;
      const auto* link = matching_link(then_[i], *links);
      if (!last && link != nullptr) {
        auto state = then_[i];
        state.carried.index = link->index;
        state.altnames.clear();
        state.group = link->group;
        back.push_back(std::move(state));
      }
      if (!last) continue;
      const auto& name = then_[i].carried.name;
      for (const auto& item : (*missing)[i].items) left.push_back(fmt::format("{} has lost {}", name, item));
      if ((*missing)[i].up) left.push_back(fmt::format("{} is down, and was up", name));
    }
    if (last || back.empty()) break;
    (void)kinds::restore(host, back);  // what fails here is seen in the next round
  }
  return left;
}

}  // namespace rdmacfg::core
