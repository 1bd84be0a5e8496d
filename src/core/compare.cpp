// SPDX-License-Identifier: Apache-2.0
#include "core/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "catalog/all.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"

namespace rdmacfg::core {

using kinds::Verdict;
using model::Attributes;
using model::Change;
using model::Desired;
using model::Observed;
using model::Operation;
using model::ResourceReport;
using model::Status;

std::vector<std::string> differing_fields(const Attributes& wanted, const Attributes& now) {
  std::vector<std::string> fields;
  for (const auto& [field, value] : wanted) {
    if (value != model::value_of(now, field)) fields.push_back(field);
  }
  return fields;
}

std::vector<std::string> not_back(const std::vector<std::string>& fields, const Attributes& before,
                                  const Attributes& now) {
  auto out = differing_fields(before, now);
  for (const auto& field : fields) {
    if (!before.contains(field) && model::value_of(now, field) != model::Value{}) out.push_back(field);
  }
  return out;
}

namespace {

class Comparer {
 public:
  Comparer(Observation& observation, const State& state, bool retry)
      : observation_(observation), state_(state), retry_(retry) {}

  Comparison run() {
    std::set<model::Key> wanted;
    for (const auto& desired : observation_.desired) {
      // Of two entries for one object, an error, the first is shown.
      if (wanted.insert(desired.key).second) compare_desired(desired);
    }
    for (const auto& observed : observation_.observed) {
      if (!wanted.contains(observed.key)) compare_dropped(observed);
    }
    return std::move(out_);
  }

 private:
  void compare_desired(const Desired& desired) {
    // Offline, a kind without persistent files has nothing to say.
    if (observation_.world.offline() && desired.settings.empty() && !desired.pending && !desired.ignore)
      return;
    const auto* observed = observation_.find(desired.key);
    ResourceReport report{.key = desired.key, .label = desired.label};
    report.there = observed != nullptr;
    report.instance =
        kinds::find(desired.key.kind)->parent_object(start(desired.key, {}), observation_.world);
    if (report.instance.empty() && observed != nullptr) report.instance = observed->instance;
    if (desired.ignore) {
      report.status = Status::kIgnored;
      report.reason = "state = \"ignore\"";
      out_.resources.push_back(std::move(report));
      return;
    }
    if (desired.absent) {
      compare_absent(desired, observed, std::move(report));
      return;
    }
    Attributes wanted = desired.settings;
    const auto* record = observed == nullptr ? nullptr : state_.of(*observed);
    std::string limited = record == nullptr ? std::string() : hold_limits(*record, *observed, wanted);
    // A resource that waits for something is left as it is until that has come.
    if (record != nullptr && !desired.pending) give_back(desired, *observed, *record, wanted, report);
    list_attributes(desired, wanted, observed, report);
    if (const auto left = observation_.left.find(desired.key);
        left != observation_.left.end() && observed != nullptr)
      std::erase_if(wanted,
                    [&](const auto& attribute) { return left->second.fields.contains(attribute.first); });

    const Attributes nothing;
    const auto differing = differing_fields(wanted, observed == nullptr ? nothing : observed->settings);
    if (!differing.empty()) {
      Change change = start(desired.key, observed == nullptr ? desired.label : observed->label);
      change.operation = observed == nullptr ? Operation::kCreate : Operation::kUpdate;
      if (observed != nullptr) change.before = observed->settings;
      change.after = wanted;
      change.fields = differing;
      change.needs = desired.needs;
      change.origins = desired.origins;
      finish(std::move(change));
      report.status = Status::kDiffers;
    }
    judge(desired, observed, differing, limited, report);
    if (desired.pending) {
      report.reason = *desired.pending;
      if (differing.empty()) report.status = Status::kPending;
      report.waits = !differing.empty();
    }
    out_.resources.push_back(std::move(report));
  }

  void judge(const Desired& desired, const Observed* observed, const std::vector<std::string>& differing,
             std::string limited, ResourceReport& report) {
    if (observation_.world.offline() || (desired.pending && observed == nullptr)) return;
    auto verdict = kinds::find(desired.key.kind)->judge(desired, observed, {}, observation_.world);
    report.warnings.insert(report.warnings.end(), verdict.warnings.begin(), verdict.warnings.end());
    std::move(verdict.measured.begin(), verdict.measured.end(), std::back_inserter(report.attributes));
    if (!differing.empty()) return;
    if (verdict.sort == Verdict::Sort::kLimited || !limited.empty()) {
      report.status = Status::kLimited;
      report.reason = limited.empty() ? std::move(verdict.reason) : std::move(limited);
    } else if (verdict.sort == Verdict::Sort::kPending) {
      report.status = Status::kPending;
      report.reason = std::move(verdict.reason);
    } else if (verdict.sort == Verdict::Sort::kUnmet) {
      report.status = Status::kUnmet;
      report.reason = std::move(verdict.reason);
    }
  }

  void compare_absent(const Desired& desired, const Observed* observed, ResourceReport report) {
    if (observed != nullptr) {
      Change change = start(desired.key, observed->label);
      change.operation = Operation::kDelete;
      change.before = observed->settings;
      change.origins = desired.origins;
      finish(std::move(change));
      report.status = Status::kDiffers;
      report.label = observed->label;
    }
    out_.resources.push_back(std::move(report));  // what is not there is absent, and needs no waiting for
  }

  /// Takes settings out of `wanted` that the fabric limited before, and nothing has changed since.
  std::string hold_limits(const Record& record, const Observed& observed, Attributes& wanted) const {
    std::string reason;
    for (const auto& [field, limit] : record.limits) {
      if (retry_ || model::value_of(wanted, field) != limit.wanted) continue;
      if (model::value_of(observed.settings, field) != limit.got) continue;
      wanted.erase(field);
      reason = limit.reason;
    }
    return reason;
  }

  /// Whether a setting went back as far as the fabric allows, and nothing has changed since.
  [[nodiscard]] bool is_as_far_back(const Record& record, const Observed& observed,
                                    const std::string& field) const {
    const auto limit = record.limits.find(field);
    return !retry_ && limit != record.limits.end() &&
           limit->second.wanted == model::value_of(record.before, field) &&
           limit->second.got == model::value_of(observed.settings, field);
  }

  /// Settings that the document no longer has go back to what they were before.
  void give_back(const Desired& desired, const Observed& observed, const Record& record, Attributes& wanted,
                 ResourceReport& report) const {
    const auto* kind = kinds::find(desired.key.kind);
    if (desired.settings.contains(kinds::kManagedBy)) return;  // it goes to another owner, and is re-created
    for (const auto& field : record.managed) {
      if (desired.settings.contains(field) || is_as_far_back(record, observed, field)) continue;
      auto then = wanted;
      then.insert(observed.settings.begin(), observed.settings.end());
      if (kind->returns(field, record.before, then)) {
        // Of what we made no more is known than what a new one has; the rest follows from that.
        if (!record.created || record.before.contains(field))
          wanted.emplace(field, model::value_of(record.before, field));
      } else {
        report.warnings.push_back(
            fmt::format("{} is no longer in the document and stays as it is until the next reset", field));
      }
    }
  }

  /// Gives the settings of a resource that the document dropped back as far as they can go, in `change`.
  /// @return those that stay as they are
  std::vector<std::string> release(const Observed& observed, const Record* record, Change& change) const {
    const auto* kind = kinds::find(observed.key.kind);
    change.operation = Operation::kUpdate;
    std::vector<std::string> stays;
    for (const auto& [field, value] : observed.settings) {
      if (record != nullptr && record->managed.contains(field)) continue;  // below
      if (observed.ours_by_nature && kind->returns(field, {}, {})) change.after[field] = std::monostate{};
      if (observed.ours_by_nature && !kind->returns(field, {}, {}))
        stays.push_back(fmt::format("{} {}", field, model::text_of(value)));
    }
    if (record != nullptr) {
      for (const auto& field : record->managed) {
        if (is_as_far_back(*record, observed, field)) continue;
        if (kind->returns(field, record->before, record->before)) {
          change.after.insert_or_assign(field, model::value_of(record->before, field));
        } else {
          stays.push_back(
              fmt::format("{} {}", field, model::text_of(model::value_of(observed.settings, field))));
        }
      }
    }
    change.fields = differing_fields(change.after, observed.settings);
    const bool nothing_left =
        std::all_of(change.after.begin(), change.after.end(),
                    [](const auto& attribute) { return attribute.second == model::Value{}; });
    if (change.fields.size() == observed.settings.size() && observed.ours_by_nature && nothing_left)
      change.operation = Operation::kDelete;
    return stays;
  }

  void compare_dropped(const Observed& observed) {
    const auto* kind = kinds::find(observed.key.kind);
    const auto* record = state_.of(observed);
    ResourceReport report{.key = observed.key, .label = observed.label, .status = Status::kForeign};
    for (const auto& [field, value] : observed.settings) report.attributes.push_back({field, value, {}, {}});
    Change change = start(observed.key, observed.label);
    change.before = observed.settings;
    if (record != nullptr && record->created) {
      change.operation = Operation::kDelete;
      report.reason = "no longer in the document; it was created by rdma-configd";
    } else {
      const auto stays = release(observed, record, change);
      if (!stays.empty()) {
        report.status = Status::kReleased;
        report.reason =
            fmt::format("no longer in the document; keeps {} until the next reset", fmt::join(stays, ", "));
      }
    }
    const bool changes = change.operation == Operation::kDelete || !change.fields.empty();
    auto held = changes ? kinds::why_held(kind, observed.key, observation_.desired, observation_.world)
                        : std::string();
    if (!held.empty()) {
      report.status = Status::kPending;
      report.reason = "not in the document, but left unchanged: " + std::move(held);
    } else if (changes) {
      for (auto& attribute : report.attributes)
        attribute.wanted = model::value_of(change.after, attribute.name);
      if (change.operation == Operation::kDelete) change.after.clear();
      if (report.reason.empty()) report.reason = "no longer in the document";
      report.status = Status::kDiffers;
      finish(std::move(change));
    } else if (report.status == Status::kForeign && !kind->traits().listed_when_foreign) {
      return;
    }
    out_.resources.push_back(std::move(report));
  }

  static void list_attributes(const Desired& desired, const Attributes& wanted, const Observed* observed,
                              ResourceReport& report) {
    const auto add = [&](const std::string& field, const model::Value& now) {
      model::AttributeReport attribute{.name = field, .now = now, .wanted = {}, .origin = {}};
      const auto want = desired.settings.find(field);
      if (want != desired.settings.end()) {
        attribute.wanted = want->second;
      } else {
        attribute.wanted = model::value_of(wanted, field);
      }
      if (const auto origin = desired.origins.find(field); origin != desired.origins.end())
        attribute.origin = origin->second;
      report.attributes.push_back(std::move(attribute));
    };
    if (observed != nullptr) {
      for (const auto& [field, value] : observed->settings) add(field, value);
      for (const auto& [field, value] : observed->facts) report.attributes.push_back({field, value, {}, {}});
    }
    for (const auto& [field, value] : wanted) {
      if (observed == nullptr || !observed->settings.contains(field)) add(field, {});
    }
  }

  static Change start(const model::Key& key, const std::string& label) {
    Change change;
    change.key = key;
    change.label = label;
    return change;
  }

  void finish(Change change) {
    for (const auto& spec : kinds::find(change.key.kind)->fields()) {
      if (std::find(change.fields.begin(), change.fields.end(), spec.name) != change.fields.end()) {
        change.effect = std::max(change.effect, spec.effect);
      }
    }
    out_.changes.push_back(std::move(change));
  }

  Observation& observation_;
  const State& state_;
  bool retry_;
  Comparison out_;
};

}  // namespace

void tell_left(std::vector<ResourceReport>& resources, const Observation& observation) {
  for (auto& resource : resources) {
    const auto left = observation.left.find(resource.key);
    if (left == observation.left.end() || resource.status != Status::kInSync) continue;
    const bool differs =
        std::any_of(resource.attributes.begin(), resource.attributes.end(), [&](const auto& attribute) {
          return left->second.fields.contains(attribute.name) && attribute.wanted != model::Value{} &&
                 attribute.wanted != attribute.now;
        });
    if (!differs) continue;
    resource.status = Status::kFailed;
    resource.reason = left->second.why;
  }
}

Comparison compare(Observation& observation, const State& state, bool retry_limited) {
  return Comparer(observation, state, retry_limited).run();
}

}  // namespace rdmacfg::core
