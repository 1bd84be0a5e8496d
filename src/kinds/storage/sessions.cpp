// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "kinds/units.hpp"

namespace rdmacfg::kinds {

std::vector<std::string> LeavingSessions::all() const {
  std::vector<std::string> out;
  for (const auto& [id, names] : by_id) out.insert(out.end(), names.begin(), names.end());
  return out;
}

std::vector<std::string> LeavingSessions::siblings(const std::string& id) const {
  std::vector<std::string> out;
  for (const auto& [other, names] : by_id) {
    if (other != id) out.insert(out.end(), names.begin(), names.end());
  }
  return out;
}

base::Result<LeavingSessions> with_use(LeavingSessions leaving, const DiskUses& uses) {
  const auto why = why_disks_stay(leaving.all(), {}, uses);
  if (!why) return base::fail(why.error());
  leaving.in_use = !why->empty();
  return leaving;
}

std::string why_sessions_held(const base::Result<LeavingSessions>& leaving, const std::string& id,
                              const DiskUses& uses, std::string_view remedy) {
  if (!leaving || !leaving->in_use) return {};
  const auto at = leaving->by_id.find(id);
  if (at == leaving->by_id.end()) return {};
  const auto why = why_disks_stay(at->second, leaving->siblings(id), uses);
  return why && !why->empty() ? fmt::format("{}; {}", *why, remedy) : std::string();
}

std::string_view state_of_session(std::string_view session) {
  return session.substr(session.rfind(' ') + 1);  // npos + 1 is 0
}

Verdict judge_sessions(const std::vector<std::string>& sessions, const std::optional<std::string>& job,
                       const SessionWords& words) {
  Verdict verdict;
  const auto down = std::find_if(sessions.begin(), sessions.end(), [&](const auto& session) {
    return state_of_session(session) != words.live;
  });
  if (!sessions.empty() && down == sessions.end()) return verdict;
  verdict.sort = Verdict::Sort::kPending;
  verdict.fields = {std::string(words.field)};
  if (job) {
    verdict.reason = fmt::format("systemd has queued the {} job of {} behind other jobs", *job, words.unit);
  } else if (!sessions.empty()) {
    verdict.reason = fmt::format("{}: {}", *down, words.retry);
  } else {
    verdict.reason = words.missing;
  }
  return verdict;
}

base::Result<std::string> why_disks_stay(const std::vector<std::string>& going,
                                         const std::vector<std::string>& others, const DiskUses& uses) {
  if (going.empty()) return std::string();
  auto found = uses(going);
  if (!found) return base::fail(found.error());
  if (found->empty() && !others.empty()) {
    const auto without = uses(others);
    if (!without) return base::fail(without.error());
    auto all = going;
    all.insert(all.end(), others.begin(), others.end());
    found = uses(all);
    if (!found) return base::fail(found.error());
    std::erase_if(*found, [&](const auto& use) {
      return std::find(without->begin(), without->end(), use) != without->end();
    });
  }
  constexpr std::size_t kUsesNamed = 3;
  return base::join_first(kUsesNamed, system::use_texts(*found), ", ");
}

base::Result<void> require_unused(std::string_view label, const std::vector<std::string>& names,
                                  const DiskUses& uses) {
  const auto why = why_disks_stay(names, {}, uses);
  if (!why) return base::fail(why.error());
  if (why->empty()) return {};
  return base::fail(base::Code::kBusy, fmt::format("{}: {}", label, *why));
}

base::Result<void> reach_targets(const TargetStart& start, system::Host& host) {
  auto missing = start.missing();
  if (!missing) return base::fail(missing.error());
  if (!start.always && missing->empty()) return {};
  const auto started = start.start();
  missing = start.missing();
  if (!missing) return base::fail(missing.error());
  if (missing->empty()) return {};
  if (!started) return started;
  const auto unit = observe_unit(start.unit, host);
  if (!host.holding || (unit && *unit && !(*unit)->job.empty())) return {};
  return base::fail(base::Code::kTimeout, fmt::format("{}: {}", base::join(*missing, ", "), start.failed));
}

}  // namespace rdmacfg::kinds
