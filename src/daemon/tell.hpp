// SPDX-License-Identifier: Apache-2.0
// What the journal is told of a job.
#pragma once

#include <string>

#include "daemon/job.hpp"
#include "model/report.hpp"

namespace rdmacfg::daemon {

/// "mtu 2044 → 65520"; the other way round for what has drifted.
std::string fields_of(const model::Change& change, bool forward);

/// What was done, what failed, and what there is to know about the run.
void tell(const Job& job, const model::Report& report);

}  // namespace rdmacfg::daemon
