// SPDX-License-Identifier: Apache-2.0
#include "core/remember.hpp"

#include <map>

#include "catalog/all.hpp"
#include "core/compare.hpp"
#include "core/plan.hpp"
#include "core/transaction.hpp"
#include "kinds/abilities.hpp"

namespace rdmacfg::core {

using model::Operation;

namespace {

/// Strips a record of what holds no longer; false when nothing is left of it.
bool keep(Record& record, const model::Observed& now, const model::Desired* desired) {
  std::erase_if(record.limits, [&](const auto& limit) {
    return desired == nullptr || model::value_of(desired->settings, limit.first) != limit.second.wanted ||
           model::value_of(now.settings, limit.first) != limit.second.got;
  });
  // Values that the document dropped were given back by now, unless they cannot be: that is reported until
  // the next reset, or until somebody else changes it.
  const auto* kind = kinds::find(now.key.kind);
  std::erase_if(record.managed, [&](const auto& field) {
    if (desired != nullptr && (desired->ignore || desired->pending || desired->settings.contains(field)))
      return false;
    return kind->returns(field, record.before, now.settings) ||
           model::value_of(now.settings, field) == model::value_of(record.before, field);
  });
  if (record.managed.empty()) record.before.clear();
  return record.created || !record.managed.empty() || !record.limits.empty();
}

/// A resource's values before we changed the first of its settings. A value that is in a file of ours only
/// was ours then, too (the record was lost, or came with an image): it is nothing to go back to.
model::Attributes found_before(const model::Change& change, const model::Observed& now) {
  auto before = change.before;
  const auto* kind = kinds::find(change.key.kind);
  for (auto& [field, value] : before) {
    if (now.ours_by_nature && kind->returns(field, {}, {})) value = std::monostate{};
  }
  return before;
}

/// Of what we made: settings that the document gives go back to what a new one has when it drops them.
void note_given(const model::Change& change, const model::Observed& now, Record& record) {
  const auto* makes = kinds::ability<kinds::MakesObjects>(kinds::find(change.key.kind));
  if (makes == nullptr) return;
  record.before = makes->when_new();
  // A value that changed without a request went along with another setting that was given back.
  std::erase_if(record.managed, [&](const auto& field) {
    return !change.after.contains(field) && change.operation == Operation::kUpdate &&
           model::value_of(now.settings, field) != model::value_of(change.before, field);
  });
  for (const auto& field : change.fields) {
    if (change.origins.contains(field)) record.managed.insert(field);
  }
}

/// Whether undoing could not remove what a change made.
bool is_left(const model::Change& change, const Observation& now) {
  const auto& traits = kinds::find(change.key.kind)->traits();
  return change.operation == Operation::kCreate && now.find(change.key) != nullptr && !traits.stays &&
         !traits.waits_for_confirmation && can_be_undone(change, now.world);
}

}  // namespace

void remember(const model::Plan& plan, const Observation& now, State& state) {
  for (const auto& change : plan.changes) {
    const auto* observed = now.find(change.key);
    if (observed == nullptr || observed->instance.empty()) {
      if (change.operation == Operation::kDelete) state.records.erase(change.key);
      continue;
    }
    if (change.operation != Operation::kCreate && lost_parent_object(change, now.world)) continue;
    auto& record = state.records[change.key];
    const bool made_anew = record.instance != observed->instance;
    if (made_anew) {
      // Of an interface that a change had to re-create, or the undoing of its removal, it stays true who made
      // it and the document's values; the settings that another one had before are void.
      record.created = change.operation != Operation::kCreate && record.created;
      record.limits.clear();
      if (!record.created) {
        record.before.clear();
        record.managed.clear();
      }
      record.instance = observed->instance;
    }
    if (change.operation == Operation::kCreate) record.created = true;
    const auto* makes = kinds::ability<kinds::MakesObjects>(kinds::find(change.key.kind));
    if (made_anew && makes != nullptr && makes->takes_over(change)) record.created = true;
    if (record.created && change.operation != Operation::kDelete) note_given(change, *observed, record);
    if (change.operation != Operation::kUpdate || record.created) continue;
    if (record.managed.empty()) record.before = found_before(change, *observed);
    for (const auto& field : change.fields) {
      // A value that was only given back is nothing to go back from, also when an interrupted run is
      // finished.
      if (change.origins.contains(field)) record.managed.insert(field);
    }
  }
}

void claim_put_back(const model::Plan& plan, const Observation& now, State& state) {
  for (const auto& change : plan.changes) {
    const auto* observed = now.find(change.key);
    const bool may_be = change.operation == Operation::kDelete && observed != nullptr &&
                        !kinds::put_back_by(kinds::find(change.key.kind), change.key).empty();
    if (!may_be) continue;
    auto& record = state.records[change.key];
    record.created = true;
    record.instance = observed->instance;
  }
}

void forget(const Observation& now, State& state) {
  std::map<model::Key, const model::Desired*> desired;
  for (const auto& resource : now.desired) desired.emplace(resource.key, &resource);
  for (auto at = state.records.begin(); at != state.records.end();) {
    if (now.unseen.contains(at->first.kind)) {
      ++at;
      continue;
    }
    const auto* observed = now.find(at->first);
    const auto want = desired.find(at->first);
    const bool held =
        want == desired.end() && observed != nullptr &&
        !kinds::why_held(kinds::find(at->first.kind), at->first, now.desired, now.world).empty();
    if (held && observed->instance == at->second.instance) {
      ++at;  // it goes back once it is certain that nobody wants it
      continue;
    }
    if (observed == nullptr || observed->instance != at->second.instance ||
        !keep(at->second, *observed, want == desired.end() ? nullptr : want->second)) {
      at = state.records.erase(at);
    } else {
      ++at;
    }
  }
}

void reinstate(const model::Plan& plan, const Observation& now, State& state) {
  model::Plan left;
  for (const auto& change : plan.changes) {
    const auto record = state.records.find(change.key);
    const auto* observed = now.find(change.key);
    if (record != state.records.end() && observed != nullptr) record->second.instance = observed->instance;
    if (is_left(change, now)) left.changes.push_back(change);
  }
  remember(left, now, state);
}

}  // namespace rdmacfg::core
