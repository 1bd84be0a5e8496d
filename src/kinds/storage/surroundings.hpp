// SPDX-License-Identifier: Apache-2.0
// Facts about the rest of the host and of the document that targets depend on.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "kinds/kind.hpp"
#include "model/resource.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// Ids of the kind's resources that the document wants; they point into `desired`.
std::set<std::string_view> ids_of(const std::vector<model::Desired>& desired, std::string_view kind);

/// Addresses that the document gives interfaces, which has to happen before a target listens there.
std::map<std::string, model::Key> given_addresses(const std::vector<model::Desired>& desired);

/// An address of the list that the wildcard of its family, also there, includes: rdma_cm does not listen on
/// both (cma_check_port() of drivers/infiniband/core/cma.c).
std::optional<std::string> covered_address(const std::vector<std::string>& addresses);

/// Devices that are mounted on this host, as its table of mounts spells them, files behind loop devices that
/// are, and "".
std::set<std::string> mounted_devices(system::Files& files);

/// Users of the disks that go when all the named sessions (or controllers) do.
using DiskUses = std::function<base::Result<std::vector<std::string>>(const std::vector<std::string>& names)>;

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
  std::string_view live;   ///< how the text of a session that is up ends: " live"
  std::string_view unit;   ///< makes them
  std::string_view retry;  ///< somebody tries to reach the target again
  std::string missing;     ///< there is none
};

/// For Kind::judge(): pending, unless there are `sessions`, and all are up: of several disks, those of one
/// that is down are missing. `job`: of the unit, as far as there is one.
Verdict judge_sessions(const std::vector<std::string>& sessions, const std::optional<std::string>& job,
                       const SessionWords& words);

/// Why the disks of `going` cannot go, for people; empty: they can. A disk with several paths stays while one
/// does: with `others`, which are to go as well, the last of them may be among `going`.
base::Result<std::string> why_disks_stay(const std::vector<std::string>& going,
                                         const std::vector<std::string>& others, const DiskUses& uses);

}  // namespace rdmacfg::kinds
