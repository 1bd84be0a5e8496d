// SPDX-License-Identifier: Apache-2.0
#include "core/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

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

/// Compares changes that were carried out with the observation after them.
class ChangeVerifier {
 public:
  ChangeVerifier(Observation& now, Verification& result) : now_(now), result_(result) {
    for (const auto& resource : now.desired) desired_.emplace(resource.key, &resource);
  }

  [[nodiscard]] bool is_desired(const model::Key& key) const { return desired_.contains(key); }

  void check(const model::Change& change) {
    if (result_.postponed.contains(change.key)) return;
    const auto* observed = now_.find(change.key);
    const auto lost = lost_parent_object(change, now_.world);
    if (change.operation == model::Operation::kDelete) {
      check_deleted(change, observed, lost);
    } else if (observed == nullptr) {
      check_missing(change, lost);
    } else {
      check_settings(change, *observed, lost);
    }
  }

 private:
  /// Why the object that a change was planned on is another one now, or gone.
  using Lost = std::optional<std::string>;

  void check_deleted(const model::Change& change, const model::Observed* observed, const Lost& lost) {
    // One of which nothing is known only stands for its name.
    if (observed == nullptr || observed->settings.empty()) return;
    if (lost) {
      result_.postponed[change.key] = *lost;
    } else {
      result_.failures.push_back(
          fmt::format("{}: still exists although the kernel reported its removal", change.label));
    }
  }

  void check_missing(const model::Change& change, const Lost& lost) {
    const bool only_drops =
        !change.fields.empty() &&
        std::all_of(change.fields.begin(), change.fields.end(), [&](const std::string& field) {
          return model::value_of(change.after, field) == model::Value{};
        });
    if (only_drops) return;
    if (kinds::find(change.key.kind)->reachable(change.key, now_.world) && !lost) {
      result_.failures.push_back(
          fmt::format("{}: does not exist although the kernel reported its creation", change.label));
    } else {
      result_.postponed[change.key] = lost.value_or(std::string(kDeviceRemoved));
    }
  }

  void check_settings(const model::Change& change, const model::Observed& observed, const Lost& lost) {
    const auto differing = differing_fields(change.after, observed.settings);
    if (differing.empty()) return;
    // A file is still there when the device is gone; the kernel's settings are not.
    const bool gone = std::all_of(differing.begin(), differing.end(), [&](const std::string& field) {
      return change.before.contains(field) && !observed.settings.contains(field);
    });
    if (lost || gone) {
      result_.postponed[change.key] = lost ? *lost : why_gone(change);
      return;
    }
    const auto verdict = judge(change, observed, differing);
    const auto explained = [&](const std::string& field) {
      return std::find(verdict.fields.begin(), verdict.fields.end(), field) != verdict.fields.end();
    };
    if (verdict.sort == kinds::Verdict::Sort::kPending &&
        std::all_of(differing.begin(), differing.end(), explained)) {
      result_.postponed[change.key] = verdict.reason;
      return;
    }
    for (const auto& field : differing) {
      const auto& got = model::value_of(observed.settings, field);
      if (!explained(field)) {
        overrule(change, field, got, result_);
      } else if (verdict.sort == kinds::Verdict::Sort::kLimited) {
        result_.limits[change.key][field] = {model::value_of(change.after, field), got, verdict.reason};
      }
    }
  }

  /// The kind's verdict. A value given back is not in the document any more, but it was requested of the
  /// kernel.
  kinds::Verdict judge(const model::Change& change, const model::Observed& observed,
                       const std::vector<std::string>& differing) {
    const auto at = desired_.find(change.key);
    auto asked = at == desired_.end() ? model::Desired{} : *at->second;
    asked.key = change.key;
    asked.label = change.label;
    asked.settings = change.after;
    return kinds::find(change.key.kind)->judge(asked, &observed, differing, now_.world);
  }

  Observation& now_;
  Verification& result_;
  std::map<model::Key, const model::Desired*> desired_;
};

/// A rename takes links down: a setting that was not to be changed must be as it was. `change` would put it
/// back.
void verify_untouched(model::Change& change, const Observation& before, const Observation& now,
                      Verification& result) {
  const auto* then = before.find(change.key);
  const auto* observed = now.find(change.key);
  if (then == nullptr) return;
  const auto* kind = kinds::find(change.key.kind);
  // Unless its device is going, or went and came back meanwhile.
  change.parent_object = kind->parent_object(change, before.world);
  if (lost_parent_object(change, now.world)) return;
  const auto* stays = kinds::ability<kinds::MustStay>(kind);
  if (observed == nullptr && stays != nullptr && stays->has_to_stay(*then, now.world) &&
      kind->reachable(change.key, now.world))
    result.failures.push_back(
        fmt::format("{}: disappeared although the plan did not touch it", change.label));
  if (observed == nullptr || then->instance != observed->instance) return;
  if (kind->traits().waits_for_confirmation) return;  // follows what others did
  for (const auto& field : change.fields) {
    if (model::value_of(then->settings, field) == model::value_of(observed->settings, field)) continue;
    result.failures.push_back(fmt::format("{}: {} is now {}, was {}", change.label, field,
                                          model::text_of(model::value_of(observed->settings, field)),
                                          model::text_of(model::value_of(then->settings, field))));
  }
}

}  // namespace

Verification verify(const Plan& plan, const Observation& before, Observation& now, const Outcome& outcome,
                    const State& state) {
  Verification result{.failures = {}, .postponed = outcome.postponed, .limits = {}, .overruled = {}};
  ChangeVerifier verifier(now, result);
  std::set<model::Key> planned;
  for (const auto& change : plan.changes) {
    planned.insert(change.key);
    verifier.check(change);
  }
  for (const auto* kind : kinds::all_kinds()) test_limits(*kind, plan, now, result);
  for (auto& change : compare(now, state).changes) {
    if (!planned.contains(change.key) && verifier.is_desired(change.key))
      verify_untouched(change, before, now, result);
  }
  return result;
}

}  // namespace rdmacfg::core
