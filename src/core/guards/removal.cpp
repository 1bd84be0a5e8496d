// SPDX-License-Identifier: Apache-2.0
#include "core/guards/removal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "catalog/daemon_policy.hpp"
#include "catalog/lifeline.hpp"
#include "catalog/removed.hpp"

namespace rdmacfg::core {

namespace {

using model::Report;
using model::Status;

constexpr std::size_t kHandful = 5;
constexpr std::size_t kNamed = 5;  ///< labels in the message
constexpr std::int64_t kAnything = 100;

constexpr const char* kHowToAllow =
    "if that is intended: `rdma-configctl apply --allow-removal` allows it once, `max_removal = 100` in "
    "[daemon] always";

struct RemovalImpact {
  std::string what;       ///< empty: nothing that matters
  bool lifeline = false;  ///< by which administrators reach the host
};

RemovalImpact removal_impact(const config::Document& document, const Report& planned, system::Host& host,
                             RemovalGuard guard) {
  const auto share =
      kinds::daemon_policy(document.sections).max_removal.value_or(model::RemovalShare{}).percent;
  if (share >= kAnything) return {};
  if (!host.offline) {
    if (auto lost = kinds::cut_off_by(planned.plan, host); !lost.empty()) return {std::move(lost), true};
  }
  if (guard != RemovalGuard::kMost) return {};
  const auto [gone, deleted] = kinds::removed_by(planned.plan);
  if (gone.empty()) return {};
  std::size_t stays = 0;
  for (const auto& resource : planned.resources) {
    const bool ours = resource.status == Status::kInSync || resource.status == Status::kDiffers ||
                      resource.status == Status::kLimited || resource.status == Status::kPending;
    const bool there = std::any_of(
        resource.attributes.begin(), resource.attributes.end(),
        [](const auto& attribute) { return !std::holds_alternative<std::monostate>(attribute.now); });
    if (ours && there && !deleted.contains(resource.key)) ++stays;
  }
  const auto managed = gone.size() + stays;
  if (gone.size() <= kHandful || gone.size() * kAnything <= managed * static_cast<std::size_t>(share))
    return {};
  return {fmt::format("{} of {} managed resources ({})", gone.size(), managed,
                      base::join_first(kNamed, gone, ", "))};
}

}  // namespace

model::Diagnostic risky_removal(const config::Document& document, const Report& planned, system::Host& host,
                                RemovalGuard guard) {
  const auto impact = removal_impact(document, planned, host, guard);
  if (impact.what.empty()) return {};
  return {model::Severity::kError,
          {},
          fmt::format("nothing was changed: this would remove {}", impact.what),
          kHowToAllow,
          {}};
}

model::Diagnostic removal_warning(const config::Document& document, const Report& planned,
                                  system::Host& host) {
  const auto impact = removal_impact(document, planned, host, RemovalGuard::kMost);
  if (impact.what.empty()) return {};
  return {model::Severity::kWarning,
          {},
          fmt::format("this would remove {}; {} refuse it", impact.what,
                      impact.lifeline ? "`apply --yes`, `reload` and the apply at boot"
                                      : "`reload` and the apply at boot"),
          kHowToAllow,
          {}};
}

}  // namespace rdmacfg::core
