// SPDX-License-Identifier: Apache-2.0
#include "core/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "catalog/all.hpp"
#include "core/compare.hpp"
#include "core/plan.hpp"
#include "kinds/abilities.hpp"

namespace rdmacfg::core {

using model::Plan;

namespace {

void overrule(const model::Change& change, const std::string& field, const model::Value& got,
              Verification& result) {
  result.overruled[change.key].push_back(field);
  result.failures.push_back(fmt::format("{}: {} is {}, although the kernel accepted {}", change.label, field,
                                        model::text_of(got),
                                        model::text_of(model::value_of(change.after, field))));
}

/// A limit looks like what somebody else has set just now; it is told apart by asking once more. When that
/// cannot be asked, it counts as the limit that it looks like.
void test_limits(const kinds::Kind& kind, const Plan& plan, const Observation& now, Verification& result) {
  std::vector<model::Change> limited;
  for (const auto& change : plan.changes) {
    if (change.key.kind == kind.name() && result.limits.contains(change.key)) limited.push_back(change);
  }
  const auto* test = kinds::ability<kinds::TestsLimits>(&kind);
  if (limited.empty() || test == nullptr) return;
  const auto standing = test->limits_standing(limited, now.world.host());
  for (const auto& change : limited) {
    if (!standing || standing->contains(change.key)) continue;
    for (const auto& [field, limit] : result.limits[change.key]) overrule(change, field, limit.got, result);
    result.limits.erase(change.key);
  }
}

}  // namespace

Verification verify(const Plan& plan, const Observation& before, Observation& now, const Outcome& outcome,
                    const State& state) {
  Verification result{.failures = {}, .postponed = outcome.postponed, .limits = {}, .overruled = {}};
  std::map<model::Key, const model::Desired*> desired;
  for (const auto& resource : now.desired) desired.emplace(resource.key, &resource);
  for (const auto& change : plan.changes) {
    if (result.postponed.contains(change.key)) continue;
    const auto* kind = kinds::find(change.key.kind);
    const auto* observed = now.find(change.key);
    const auto lost = lost_parent_object(change, now.world);
    if (change.operation == model::Operation::kDelete) {
      // One of which nothing is known only stands for its name.
      if (observed == nullptr || observed->settings.empty()) continue;
      if (lost) {
        result.postponed[change.key] = *lost;
      } else {
        result.failures.push_back(
            fmt::format("{}: is still there, although the kernel reported its removal", change.label));
      }
      continue;
    }
    if (observed == nullptr) {
      const bool only_drops =
          !change.fields.empty() &&
          std::all_of(change.fields.begin(), change.fields.end(), [&](const std::string& field) {
            return model::value_of(change.after, field) == model::Value{};
          });
      if (only_drops) continue;
      if (kind->reachable(change.key, now.world) && !lost) {
        result.failures.push_back(
            fmt::format("{}: is not there, although the kernel reported its creation", change.label));
      } else {
        result.postponed[change.key] = lost.value_or(std::string(kDeviceRemoved));
      }
      continue;
    }
    auto differing = differing_fields(change.after, observed->settings);
    if (differing.empty()) continue;
    if (lost) {
      result.postponed[change.key] = *lost;
      continue;
    }
    // A file is still there when the device is gone; the kernel's settings are not.
    const bool gone = std::all_of(differing.begin(), differing.end(), [&](const std::string& field) {
      return change.before.contains(field) && !observed->settings.contains(field);
    });
    if (gone) {
      result.postponed[change.key] = kDeviceRemoved;
      continue;
    }
    // A value given back is not in the document any more, but it was requested of the kernel.
    const auto at = desired.find(change.key);
    auto asked = at == desired.end() ? model::Desired{} : *at->second;
    asked.key = change.key;
    asked.label = change.label;
    asked.settings = change.after;
    const auto verdict = kind->judge(asked, observed, differing, now.world);
    const auto& told = verdict.fields;
    const bool waits = verdict.sort == kinds::Verdict::Sort::kPending &&
                       std::all_of(differing.begin(), differing.end(), [&](const std::string& field) {
                         return std::find(told.begin(), told.end(), field) != told.end();
                       });
    if (waits) {
      result.postponed[change.key] = verdict.reason;
      continue;
    }
    for (const auto& field : differing) {
      const auto& wanted = model::value_of(change.after, field);
      const auto& got = model::value_of(observed->settings, field);
      const bool explained =
          std::find(verdict.fields.begin(), verdict.fields.end(), field) != verdict.fields.end();
      if (explained && verdict.sort == kinds::Verdict::Sort::kLimited) {
        result.limits[change.key][field] = {wanted, got, verdict.reason};
      } else if (!explained) {
        overrule(change, field, got, result);
      }
    }
  }
  for (const auto* kind : kinds::all_kinds()) test_limits(*kind, plan, now, result);
  // A rename takes links down: untouched settings that were right before must be right still.
  std::set<model::Key> planned;
  for (const auto& change : plan.changes) planned.insert(change.key);
  for (auto& change : compare(now, state, false).changes) {
    const auto* then = before.find(change.key);
    const auto* observed = now.find(change.key);
    if (planned.contains(change.key) || !desired.contains(change.key) || then == nullptr) continue;
    const auto* kind = kinds::find(change.key.kind);
    // Unless its device is going, or went and came back meanwhile.
    change.parent_object = kind->parent_object(change, before.world);
    if (lost_parent_object(change, now.world)) continue;
    const auto* stays = kinds::ability<kinds::MustStay>(kind);
    if (observed == nullptr && stays != nullptr && stays->has_to_stay(*then, now.world) &&
        kind->reachable(change.key, now.world))
      result.failures.push_back(fmt::format("{}: is gone, although it was not to be changed", change.label));
    if (observed == nullptr || then->instance != observed->instance) continue;
    if (kind->traits().waits_for_confirmation) continue;  // follows what others did
    for (const auto& field : change.fields) {
      if (model::value_of(then->settings, field) == model::value_of(observed->settings, field)) continue;
      result.failures.push_back(fmt::format("{}: {} is {} now, and was {}", change.label, field,
                                            model::text_of(model::value_of(observed->settings, field)),
                                            model::text_of(model::value_of(then->settings, field))));
    }
  }
  return result;
}

}  // namespace rdmacfg::core
