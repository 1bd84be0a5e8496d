// SPDX-License-Identifier: Apache-2.0
// The outcome of a job, from the last line and the end of its worker.
#pragma once

#include <string>

#include "base/unique_fd.hpp"
#include "daemon/jobs/jobs.hpp"
#include "model/report.hpp"

namespace rdmacfg::daemon {

/// The outcome of a job that could not be carried out.
Outcome broken(const std::string& why, model::Exit exit = model::Exit::kError);

Outcome cancelled();

/// The outcome of a worker that ended without an answer. Its started changes are in the journal.
Outcome lost_worker(const Job& job, const std::string& how);

/// @param line    the last that the worker wrote: its result, unless it ended before
/// @param status  of its process, as waitpid() has it
/// @param whole   the file with the whole report
Outcome outcome_of(const Job& job, const std::string& line, int status, base::UniqueFd whole);

}  // namespace rdmacfg::daemon
