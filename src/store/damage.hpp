// SPDX-License-Identifier: Apache-2.0
// Records of ours that cannot be used (damaged, truncated, or of another version) never keep a host from
// being configured: they are set aside, and the host is DEGRADED until an administrator's apply succeeds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "model/report.hpp"
#include "system/files.hpp"

namespace rdmacfg::core {

/// {"schema": 1, "reasons": ["…"]}: why the host is DEGRADED. Absent: it is not.
inline constexpr const char* kDegradedFile = "/var/lib/rdma-configd/degraded.json";
/// The same of this boot, for a /var that cannot be written.
inline constexpr const char* kDegradedInRun = "/run/rdma-configd/degraded.json";
/// The same of records that /var cannot take for now; it goes with the run that writes them there.
inline constexpr const char* kUnwrittenFile = "/run/rdma-configd/unwritten.json";
/// NAME.damaged-1 is the newest; older files than this many are removed.
inline constexpr int kDamagedKept = 3;

/// Whether an error of load_json() means that the content is lost, and not that reading failed for now.
bool is_damage(const base::Error& error);

/// Renames a record to NAME.damaged-1, after the earlier ones have moved up by one. `instead` writes what
/// takes its place; there is no moment without either, unless the record cannot be copied.
/// @return a sentence for the administrator: the event, and the present place of the file.
std::string put_aside(system::Files& files, const std::string& path, const base::Error& why,
                      const std::function<base::Result<void>()>& instead = nullptr);

/// Sets a folder, link or device in the place of a record aside: nothing can be written there, nor removed.
void make_way(system::Files& files, const std::string& path);

/// Removes a record, or sets aside a folder in its place, which cannot be removed.
base::Result<void> replace_by_nothing(system::Files& files, const std::string& path);

/// Removes the copies that put_aside() has kept of a record; a copy that cannot be removed stays.
void remove_put_aside(system::Files& files, const std::string& path);

/// Adds to the reasons, each once and at most eight. A disk that is full does not keep the host from being
/// configured.
/// @return `reasons`, and one more where they could not be written
[[nodiscard]] std::vector<std::string> degrade(system::Files& files, std::vector<std::string> reasons);

/// degrade() at the end of a run, whose report tells of the reasons: not even its own success clears them.
void tell_damage(system::Files& files, std::vector<std::string> reasons, model::Report& report);

/// As tell_damage(), of a record that /var cannot take for now.
void tell_unwritten(system::Files& files, const std::string& reason, model::Report& report);

/// The rest of such a reason: the remedy for `why`, such as a full disk, and who records it then.
std::string until_written(const base::Error& why);

/// Whether such a record still waits for /var.
bool has_unwritten(system::Files& files);

/// The reasons told by tell_unwritten(), which are among those of degraded().
std::vector<std::string> unwritten(system::Files& files);

/// Everything is in /var.
base::Result<void> clear_unwritten(system::Files& files);

/// Why the host is DEGRADED; empty when it is not.
std::vector<std::string> degraded(system::Files& files);

/// A reason as a note of a report, which is in Report::damage, too.
inline std::string degraded_note(const std::string& reason) { return "DEGRADED: " + reason; }

/// An administrator's apply has succeeded. The reasons told by tell_unwritten() stay until /var has the
/// records.
base::Result<void> clear_degraded(system::Files& files);

}  // namespace rdmacfg::core
