// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/target_restorers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "kinds/host/unit_boot.hpp"
#include "kinds/units.hpp"
#include "model/types.hpp"

namespace rdmacfg::kinds {

namespace {

/// The strings of a text in JSON, without their quotes.
std::set<std::string_view> json_strings(std::string_view text) {
  std::set<std::string_view> out;
  std::optional<std::size_t> begin;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"' && begin) {
      out.insert(text.substr(*begin, i - *begin));
      begin.reset();
    } else if (text[i] == '"') {
      begin = i + 1;
    }
  }
  return out;
}

bool is_disabled_by_document(std::string_view unit, const std::vector<model::Desired>& desired) {
  return std::any_of(desired.begin(), desired.end(), [&](const model::Desired& resource) {
    return resource.key.kind == "service" && resource.key.id == unit &&
           model::value_of(resource.settings, "enabled") == model::Value{false};
  });
}

}  // namespace

std::vector<std::string> unsaved_targets(const std::vector<std::string>& targets, std::string_view saved) {
  constexpr std::size_t kGuidDigits = 16;
  const auto names = json_strings(saved);
  std::set<std::string_view> ends;
  for (const auto name : names) {
    if (name.size() >= kGuidDigits) ends.insert(name.substr(name.size() - kGuidDigits));
  }
  std::vector<std::string> out;
  for (const auto& target : targets) {
    // rtslib names an SRP target by its port's GID, "ib.fe80000000000000" and the GUID.
    const auto port = model::Guid::parse(target);
    const bool there = port ? ends.contains(fmt::format("{:016x}", port->number)) : names.contains(target);
    if (!target.empty() && !there) out.push_back(target);
  }
  return out;
}

void warn_of_restorers(std::string_view kind, const std::vector<model::Desired>& desired, World& world,
                       model::Diagnostics& diagnostics) {
  constexpr std::size_t kUnsavedNamed = 3;
  if (world.offline()) return;
  auto& host = world.host();
  std::vector<std::string> targets;
  const model::Desired* first = nullptr;
  for (const auto& resource : desired) {
    if (resource.key.kind != kind || resource.ignore || resource.settings.empty()) continue;
    if (first == nullptr) first = &resource;
    targets.push_back(resource.key.id);
  }
  if (first == nullptr) return;
  for (const auto& restorer : kTargetRestorers) {
    if (restorer.section != kind || is_disabled_by_document(restorer.unit, desired)) continue;
    const auto saved = host.files.read(std::string(restorer.file));
    if (!saved || !*saved) continue;  // its start fails before it removes anything
    const auto unsaved = unsaved_targets(targets, **saved);
    if (unsaved.empty()) continue;
    const auto unit = observe_unit(std::string(restorer.unit), host);
    if (!unit || !*unit || !(*unit)->there() || is_masked_for_good(**unit)) continue;
    const bool alias = !(*unit)->id.empty() && (*unit)->id != (*unit)->name;  // of the one before
    if (alias || !starts_at_boot(**unit, host.files).value_or(false) ||
        is_left_out_at_boot(**unit, host.files))
      continue;
    diagnostics.push_back(
        {model::Severity::kWarning,
         first->where,
         fmt::format(
             "[[{}]]: at boot, {} removes the targets that {} lacks ({}), until the daemon's next check",
             kind, restorer.unit, restorer.file, base::join_first(kUnsavedNamed, unsaved, ", ")),
         fmt::format(
             "after the apply, add them to the file by `{}`, or disable the unit without stopping it, "
             "as its stop removes all targets (systemctl disable {})",
             restorer.save, restorer.unit),
         {}});
  }
}

}  // namespace rdmacfg::kinds
