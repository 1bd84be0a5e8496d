// SPDX-License-Identifier: Apache-2.0
#include "kinds/entry.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "model/types/choices.hpp"

namespace rdmacfg::kinds {

model::Desired desired_of(const model::Section& section, std::span<const model::FieldSpec> fields,
                          model::Key key, std::string label) {
  model::Desired desired;
  desired.key = std::move(key);
  desired.label = std::move(label);
  desired.where = section.where;
  for (const auto& spec : fields) {
    const auto* entry = section.find(spec.name);
    if (entry == nullptr) continue;
    if (spec.role == model::Role::kSetting) desired.settings.emplace(spec.name, entry->value);
    if (spec.role == model::Role::kPolicy) desired.policy.emplace(spec.name, entry->value);
    desired.origins.emplace(spec.name, entry->where);
  }
  if (const auto* state = section.find("state")) {
    const auto text = model::text_of(state->value);
    desired.absent = text == model::text_of(model::State::kAbsent);
    desired.ignore = text == model::text_of(model::State::kIgnore);
    if (desired.absent || desired.ignore) desired.settings.clear();
  }
  return desired;
}

void set_derived(model::Desired& desired, const std::string& field, model::Value value,
                 const model::Location& where) {
  desired.settings[field] = std::move(value);
  desired.origins[field] = where;
}

void postpone(model::Desired& desired, std::string why) {
  desired.pending = std::move(why);
  desired.settings.clear();
}

void drop_empty_settings(model::Desired& desired,
                         const std::map<model::Key, const model::Observed*>& observed) {
  const auto at = observed.find(desired.key);
  std::erase_if(desired.settings, [&](const auto& setting) {
    return setting.second == model::Value{} &&
           (at == observed.end() || !at->second->settings.contains(setting.first));
  });
}

model::Observed observed_in_own_file(model::Key key, std::string label, model::Attributes settings,
                                     model::Attributes facts) {
  model::Observed observed;
  observed.key = std::move(key);
  observed.label = std::move(label);
  observed.settings = std::move(settings);
  observed.facts = std::move(facts);
  observed.ours_by_nature = true;
  return observed;
}

void warn_without_settings(const model::Section& section, const std::string& object,
                           const model::Desired& desired, model::Diagnostics& diagnostics) {
  if (!desired.settings.empty() || !desired.policy.empty() || desired.absent || desired.ignore) return;
  constexpr std::string_view kHint = "the entry has no effect";
  if (object.empty()) {
    diagnostics.push_back({model::Severity::kWarning,
                           section.where,
                           fmt::format("[{}]: no setting is given", section.path),
                           std::string(kHint),
                           {}});
    return;
  }
  const model::Subject entry{.section = section.path, .key = {}, .role = model::Subject::Role::kNoun};
  diagnostics.push_back(model::diagnose(model::Severity::kWarning, section.where, entry,
                                        fmt::format("{}: no setting is given", object), std::string(kHint)));
}

std::string why_out_of_range(std::int64_t number, std::int64_t least, std::int64_t most) {
  if (number >= least && number <= most) return {};
  return model::out_of_range(number, least, most);
}

void add_written(std::vector<model::FieldSpec>& out, std::span<const model::FieldSpec> table) {
  for (const auto& spec : table) {
    if (spec.role != model::Role::kFact && spec.role != model::Role::kDerived) out.push_back(spec);
  }
}

}  // namespace rdmacfg::kinds
