// SPDX-License-Identifier: Apache-2.0
// Steps that kinds with sessions (or controllers) share: whose disks may go, and how targets are reached.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "kinds/kind.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// Users of the disks that go when all the named sessions (or controllers) do.
using DiskUses =
    std::function<base::Result<std::vector<system::DiskUse>>(const std::vector<std::string>& names)>;

/// Names of sessions (or controllers) by the id of their resource, of resources that are to go.
struct LeavingSessions {
  std::map<std::string, std::vector<std::string>> by_id;
  bool in_use = false;  ///< one of their disks is, when all of them go

  [[nodiscard]] std::vector<std::string> all() const;
  /// Those of the other resources.
  [[nodiscard]] std::vector<std::string> siblings(const std::string& id) const;
};

/// Finds out whether the disks of all of them are in use.
base::Result<LeavingSessions> with_use(LeavingSessions leaving, const DiskUses& uses);

/// For MayBeMeant::why_held(): why the sessions of one resource stay, ending in `remedy`; empty: they can go,
/// or it is unknown.
std::string why_sessions_held(const base::Result<LeavingSessions>& leaving, const std::string& id,
                              const DiskUses& uses, std::string_view remedy);

/// The verdict of a kind on sessions that should exist.
struct SessionWords {
  std::string_view field;  ///< that wants them: "connected"
  std::string_view live;   ///< the state of a session that is up
  std::string_view unit;   ///< makes them
  std::string_view retry;  ///< somebody tries to reach the target again
  std::string missing;     ///< there is none
};

/// The state in the text of a session (or controller), its last word: "nvme0 nqn.a live".
std::string_view state_of_session(std::string_view session);

/// For Kind::judge(): pending, unless there are `sessions`, and all are up: of several disks, those of one
/// that is down are missing. `job`: of the unit, as far as there is one.
Verdict judge_sessions(const std::vector<std::string>& sessions, const std::optional<std::string>& job,
                       const SessionWords& words);

/// Why the disks of `going` cannot go, for people; empty: they can. A disk with several paths stays while one
/// does: with `others`, which are to go as well, the last of them may be among `going`.
base::Result<std::string> why_disks_stay(const std::vector<std::string>& going,
                                         const std::vector<std::string>& others, const DiskUses& uses);

/// Fails with kBusy, "LABEL: USERS", where the disks of the named sessions (or controllers) cannot go.
base::Result<void> require_unused(std::string_view label, const std::vector<std::string>& names,
                                  const DiskUses& uses);

/// How a kind reaches the targets of its sessions.
struct TargetStart {
  bool always = false;  ///< also where none is missing
  /// Looks at the host. @return labels of targets that should have a session and do not
  std::function<base::Result<std::vector<std::string>>()> missing;
  std::function<base::Result<void>()> start;  ///< the unit
  std::string unit;
  std::string_view failed;  ///< said of the targets that are missing afterwards: "iscsiadm has not logged in"
};

/// Starts the unit where a target is missing. It ends well although a target does not answer: for an
/// administrator that is pending, and judge_sessions() says so; a hold fails with kTimeout, and is tried
/// again.
base::Result<void> reach_targets(const TargetStart& start, system::Host& host);

}  // namespace rdmacfg::kinds
