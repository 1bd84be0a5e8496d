// SPDX-License-Identifier: Apache-2.0
// The meaning of a job's end.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "daemon/document_values.hpp"
#include "daemon/jobs/jobs.hpp"

namespace rdmacfg::daemon {

/// The apply ended before it knew of any resource, and not for what the document says.
bool ended_before_plan(const Outcome& outcome);

bool succeeded(const model::Report& report);

/// Whether an apply failed: it was refused, changed nothing, or was undone. Nothing where the job tells of
/// none: another job, one that was cancelled before it began, or a run of the daemon's own that only holds
/// what is active.
std::optional<bool> apply_failed(const Job& job, const Outcome& outcome);

/// Whether the report tells how the resources stand. A run that failed, was refused, or only rolled changes
/// back does not; a report without resources may.
bool tells_of_resources(const Job& job, const model::Report& report);

/// Label and reason of the resources with this status, each once: of an absent port, its name and its
/// interface wait for the same. A reason may have values of the document ("wanted 4092"); without values it
/// is the label alone.
std::vector<std::string> with_reasons(const model::Report& report, model::Status status,
                                      DocumentValues values = DocumentValues::kShown);

/// Counts of pending objects, of other objects that the fabric limits, and of unmet expectations. An object
/// with resources of several kinds counts once.
struct Waiting {
  std::size_t pending = 0;
  std::size_t limited = 0;
  std::size_t unmet = 0;
};
Waiting waiting_in(const model::Report& report);

/// The reason why the configuration was not applied: the first thing that a person would look at. It is told
/// to everybody on the bus; without values it is the place alone.
std::string why_refused(const model::Report& report, DocumentValues values = DocumentValues::kShown);

/// Of an apply that is still due.
model::Report not_applied();

}  // namespace rdmacfg::daemon
