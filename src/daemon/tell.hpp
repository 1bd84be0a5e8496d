// SPDX-License-Identifier: Apache-2.0
// What the journal is told of a job.
#pragma once

#include <functional>
#include <string>

#include "daemon/job.hpp"
#include "model/report.hpp"

namespace rdmacfg::daemon {

/// "mtu 2044 → 65520"; the other way round for what has drifted.
std::string fields_of(const model::Change& change, bool forward);

/// "; suspected: NetworkManager", or nothing.
std::string suspected(const std::string& suspect);

/// What was done, what failed, and what there is to know about the run. `suspect`: who may have changed what
/// was changed back; empty without one.
using Suspect = std::function<std::string(const model::Key& key)>;
void tell(
    const Job& job, const model::Report& report,
    const Suspect& suspect = [](const model::Key& /*key*/) { return std::string(); });

}  // namespace rdmacfg::daemon
