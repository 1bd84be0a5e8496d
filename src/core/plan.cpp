// SPDX-License-Identifier: Apache-2.0
#include "core/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/digest.hpp"
#include "catalog/all.hpp"
#include "kinds/abilities.hpp"
#include "model/limits.hpp"
#include "store/value_json.hpp"

namespace rdmacfg::core {

using model::Change;
using model::Operation;
using model::Plan;

namespace {

/// Lower goes first among what is ready.
std::tuple<int, std::ptrdiff_t> rank(const Change& change) {
  const int operation = change.operation == Operation::kDelete   ? 0
                        : change.operation == Operation::kUpdate ? 1
                                                                 : 2;
  const auto all = kinds::all_kinds();
  const auto at = std::find(all.begin(), all.end(), kinds::find(change.key.kind));
  return {operation, at - all.begin()};
}

}  // namespace

Plan order(std::vector<Change> changes) {
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return rank(a) < rank(b) || (rank(a) == rank(b) && a.key < b.key);
  });
  std::set<model::Key> waiting, updates;
  for (const auto& change : changes) {
    waiting.insert(change.key);
    if (change.operation == Operation::kUpdate) updates.insert(change.key);
  }
  Plan plan;
  while (!changes.empty()) {
    const auto ready = [&](const Change& change) {
      const bool goes = change.operation == Operation::kDelete;
      const auto first = goes ? kinds::put_back_by(kinds::find(change.key.kind), change.key) : change.needs;
      return std::none_of(first.begin(), first.end(), [&](const auto& key) {
        return waiting.contains(key) && (!goes || updates.contains(key));
      });
    };
    auto first = std::find_if(changes.begin(), changes.end(), ready);
    if (first == changes.end())
      first = changes.begin();  // a circle of needs: kinds never make one, and a plan must end
    const auto wanted = rank(*first);
    std::vector<Change> batch, rest;
    for (auto at = changes.begin(); at != changes.end(); ++at) {
      const bool take = at == first || (rank(*at) == wanted && ready(*at));
      (take ? batch : rest).push_back(std::move(*at));
    }
    for (auto& change : batch) {
      waiting.erase(change.key);
      plan.changes.push_back(std::move(change));
    }
    changes = std::move(rest);
  }
  return plan;
}

std::vector<std::span<const Change>> batches(const Plan& plan) {
  std::vector<std::span<const Change>> out;
  const auto& changes = plan.changes;
  std::set<model::Key> inside;
  for (std::size_t start = 0, i = 0; i <= changes.size(); ++i) {
    const bool ends = i == changes.size() || changes[i].operation != changes[start].operation ||
                      changes[i].key.kind != changes[start].key.kind ||
                      std::any_of(changes[i].needs.begin(), changes[i].needs.end(),
                                  [&](const auto& need) { return inside.contains(need); });
    if (ends) {
      if (i > start) out.emplace_back(changes.data() + start, i - start);
      start = i;
      inside.clear();
    }
    if (i < changes.size()) inside.insert(changes[i].key);
  }
  return out;
}

std::string_view name_space_of(const Change& change) {
  const auto* kind = kinds::find(change.key.kind);
  return kind != nullptr && kind->traits().names_interface ? std::string_view("interfaces")
                                                           : std::string_view(change.key.kind);
}

std::string digest_of(const model::Plan& plan) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& change : plan.changes) {
    all.push_back({change.key.kind, change.key.id, static_cast<int>(change.operation), to_json(change.before),
                   to_json(change.after)});
  }
  return base::sha256(all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

std::string too_long(const Plan& plan) {
  using model::limits::kPlanChanges;
  if (plan.changes.size() <= kPlanChanges) return {};
  return fmt::format("the plan has {} changes, more than the {} allowed: apply the document in parts",
                     plan.changes.size(), kPlanChanges);
}

std::optional<std::string> lost_parent_object(const Change& change, const kinds::World& world) {
  if (change.parent_object.empty()) return std::nullopt;
  const auto now = kinds::find(change.key.kind)->parent_object(change, world);
  if (now == change.parent_object && now != kinds::kLeaving) return std::nullopt;
  return now.empty() || now == kinds::kLeaving ? "its device was removed during the apply"
                                               : "its device was removed and re-added during the apply";
}

std::string why_gone(const Change& change) {
  return change.parent_object.empty() ? "its parent object was removed during the apply"
                                      : "its device was removed during the apply";
}

}  // namespace rdmacfg::core
