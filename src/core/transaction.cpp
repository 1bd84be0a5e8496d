// SPDX-License-Identifier: Apache-2.0
#include "core/transaction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "catalog/all.hpp"
#include "core/compare.hpp"
#include "core/plan.hpp"
#include "kinds/abilities.hpp"

namespace rdmacfg::core {

using model::Change;
using model::Operation;
using model::Plan;

namespace {

constexpr int kUndoAttempts = 3;  // an interface may be busy for a moment
constexpr int kRemovalsPerBatch =
    16;  // how often devices may go away under one batch before it counts as a failure

std::string describe(std::span<const Change> batch) {
  const auto& first = batch.front();
  std::string text = fmt::format("{} {}", text_of(first.operation), first.label);
  if (batch.size() > 1) text += fmt::format(" and {} more", batch.size() - 1);
  return text;
}

std::vector<Change> of_kind(const Plan& plan, const kinds::Kind& kind) {
  std::vector<Change> out;
  for (const auto& change : plan.changes) {
    if (change.key.kind == kind.name()) out.push_back(change);
  }
  return out;
}

bool reaches(const Change& change, const kinds::World& world) {
  return kinds::find(change.key.kind)->reachable(change.key, world);
}

/// Takes out of `left` what cannot be reached any more. False when all of it can.
bool postpone_unreachable(std::vector<Change>& left, system::Host& host, Outcome& outcome) {
  auto world = kinds::World::observe(host);
  if (!world) return false;
  return std::erase_if(left, [&](const Change& change) {
           auto why = lost_parent_object(change, *world);
           if (!why && change.operation != Operation::kDelete && !reaches(change, *world))
             why = kDeviceRemoved;
           if (why) outcome.postponed[change.key] = *why;
           return why.has_value();
         }) != 0;
}

/// The change that brings a resource from what it is now back to what it was before `change`, if there is
/// anything to do.
std::optional<Change> inverse(const Change& change, const model::Observed* now) {
  Change back = change;
  back.interrupts.clear();
  back.interrupts_later.clear();
  back.after = change.before;
  back.before = now == nullptr ? model::Attributes{} : now->settings;
  if (change.operation == Operation::kCreate) {
    if (now == nullptr) return std::nullopt;
    back.operation = Operation::kDelete;
    return back;
  }
  if (now == nullptr && change.operation == Operation::kDelete) {
    back.operation = Operation::kCreate;
    return back;
  }
  // A missing one that was only to be changed was being re-created: its kind knows how to finish that.
  back.operation = Operation::kUpdate;
  back.fields = not_back(change.fields, back.after, back.before);
  if (back.fields.empty() && back.carried.empty()) return std::nullopt;
  return back;
}

/// In the last one what cannot be undone must not keep the others of its batch from it.
enum class UndoAttempt { kEarlier, kLast };

/// `observation`: the host now; without one it is looked at.
void undo_batch(std::span<const Change> batch, system::Host& host, const Observation* observation,
                UndoAttempt which) {
  std::optional<Observation> own;
  if (observation == nullptr) {
    auto taken = observe_host(host, keys_of({}, {{batch.begin(), batch.end()}}));
    if (!taken) return;
    observation = &own.emplace(std::move(*taken));
  }
  std::vector<Change> backs;
  for (const auto& change : batch) {
    if (!can_be_undone(change, observation->world)) continue;
    if (auto back = inverse(change, observation->find(change.key))) backs.push_back(std::move(*back));
  }
  for (const auto operation : {Operation::kDelete, Operation::kUpdate, Operation::kCreate}) {
    std::vector<Change> same;
    for (const auto& back : backs) {
      if (back.operation == operation) same.push_back(back);
    }
    if (same.empty()) continue;
    // A failure here shows in the verification, which decides.
    const auto* kind = kinds::find(same.front().key.kind);
    if (kind->apply(same, host) || which != UndoAttempt::kLast || same.size() == 1) continue;
    for (const auto& change : same) (void)kind->apply({&change, 1}, host);
  }
}

/// Of the settings that did not go back, those that the fabric no longer allows: they are not failures of
/// undoing. It looks like a write that failed, and is told apart by writing once more.
std::set<std::string> limited_fields(const Change& change, const model::Observed& now,
                                     const std::vector<std::string>& fields, kinds::World& world) {
  const auto* kind = kinds::find(change.key.kind);
  model::Desired asked;
  asked.key = change.key;
  asked.label = change.label;
  asked.settings = change.before;
  const auto verdict = kind->judge(asked, &now, fields, world);
  if (verdict.sort != kinds::Verdict::Sort::kLimited || verdict.fields.empty()) return {};
  Change back = change;
  back.after = change.before;
  if (const auto* test = kinds::ability<kinds::TestsLimits>(kind)) {
    const auto standing = test->limits_standing({&back, 1}, world.host());
    if (!standing || !standing->contains(change.key)) return {};
  }
  return {verdict.fields.begin(), verdict.fields.end()};
}

std::vector<std::string> left_over(const Plan& plan, system::Host& host, std::optional<Observation>& seen) {
  seen.reset();
  auto observation = observe_host(host, keys_of({}, plan));
  if (!observation) return {"the host could not be observed after undoing: " + observation.error().message};
  std::vector<std::string> out;
  for (const auto& change : plan.changes) {
    if (!can_be_undone(change, observation->world)) continue;
    const auto* kind = kinds::find(change.key.kind);
    if (kind != nullptr && (kind->traits().waits_for_confirmation || kind->traits().stays))
      continue;  // says by itself what is left of it
    const auto* now = observation->find(change.key);
    if (change.operation == Operation::kCreate) {
      if (now != nullptr)
        out.push_back(fmt::format("{} {}: could not be removed", change.key.kind, change.label));
      continue;
    }
    if (now == nullptr) {
      out.push_back(fmt::format("{} {}: could not be re-created", change.key.kind, change.label));
      continue;
    }
    const auto fields = not_back(change.fields, change.before, now->settings);
    const auto limited =
        fields.empty() ? std::set<std::string>() : limited_fields(change, *now, fields, observation->world);
    for (const auto& field : fields) {
      if (limited.contains(field)) continue;
      out.push_back(fmt::format("{} {}: {} is {}, was {}", change.key.kind, change.label, field,
                                model::text_of(model::value_of(now->settings, field)),
                                model::text_of(model::value_of(change.before, field))));
    }
  }
  seen = std::move(*observation);
  return out;
}

}  // namespace

Outcome carry_out(const Plan& plan, system::Host& host,
                  const std::function<void(std::size_t, std::size_t, const std::string&)>& progress,
                  const std::function<bool()>& cancelled) {
  Outcome outcome;
  if (!host.offline) {
    auto world = kinds::World::observe_links(host);
    auto touched =
        world ? TouchedLinks::observe(plan, *world) : base::Result<TouchedLinks>(base::fail(world.error()));
    if (!touched) {
      outcome.error = touched.error();
      return outcome;
    }
    outcome.touched = std::move(*touched);
  }
  std::size_t done = 0;
  for (const auto& batch : batches(plan)) {
    if (progress) progress(done, plan.changes.size(), describe(batch));
    if (cancelled && cancelled()) {
      outcome.error = base::Error{base::Code::kRefused, "cancelled", 0};
      return outcome;
    }
    const auto* kind = kinds::find(batch.front().key.kind);
    std::vector<Change> left(batch.begin(), batch.end());
    for (int removals = 0; !left.empty(); ++removals) {
      auto result = kind->apply(left, host);
      if (result) break;
      if (removals == kRemovalsPerBatch || !postpone_unreachable(left, host, outcome)) {
        outcome.error = result.error();
        return outcome;
      }
    }
    done += batch.size();
  }
  if (progress) progress(done, plan.changes.size(), "");
  return outcome;
}

bool can_be_undone(const Change& change, const kinds::World& world) {
  return reaches(change, world) &&
         (kinds::find(change.key.kind)->traits().works_offline || !lost_parent_object(change, world));
}

std::vector<std::string> put_back(const model::Plan& plan, system::Host& host) {
  std::vector<std::string> failed;
  for (const auto* kind : kinds::all_kinds()) {
    const auto mine = of_kind(plan, *kind);
    if (mine.empty()) continue;
    if (auto done = kind->recover(mine, host); !done) failed.push_back(done.error().message);
  }
  return failed;
}

std::vector<std::string> undo(const Plan& plan, system::Host& host, std::optional<Observation>* seen) {
  std::vector<std::string> rest;
  std::optional<Observation> after;
  // One look serves the first time: a kind leads to the former state from any state. State that does not go
  // back that way is looked at batch by batch.
  auto before = observe_host(host, keys_of({}, plan));
  for (int attempt = 0; attempt < kUndoAttempts; ++attempt) {
    const auto all = batches(plan);
    const auto* observation = attempt == 0 && before ? &*before : nullptr;
    const auto which = attempt + 1 == kUndoAttempts ? UndoAttempt::kLast : UndoAttempt::kEarlier;
    for (auto batch = all.rbegin(); batch != all.rend(); ++batch)
      undo_batch(*batch, host, observation, which);
    rest = left_over(plan, host, after);
    for (const auto* kind : kinds::all_kinds()) {
      const auto* clears = kinds::ability<kinds::ClearsAway>(kind);
      if (clears == nullptr) continue;
      const auto mine = of_kind(plan, *kind);
      if (mine.empty()) continue;
      for (auto& what : clears->clear_away(mine, host)) rest.push_back(std::move(what));
    }
    if (rest.empty()) break;
  }
  if (seen != nullptr) *seen = std::move(after);
  return rest;
}

}  // namespace rdmacfg::core
