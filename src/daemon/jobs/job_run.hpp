// SPDX-License-Identifier: Apache-2.0
// The work of a job, in the worker process: a look or a change, on the host and for its caller.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "core/commit/commit.hpp"
#include "daemon/jobs/job.hpp"
#include "model/report.hpp"
#include "system/host.hpp"

namespace rdmacfg::daemon {

/// The main process's needs of a job beside its report.
struct JobFacts {
  bool document_judged = false;  ///< whether the system's configuration is held is told
  bool document_held = true;     ///< it is what is held now
  bool own_document = true;      ///< the caller may read the document that was looked at
  bool wants_private = false;    ///< what was to be applied is private, and reports of failures quote it
};

/// A report of nothing but the error.
model::Report failure_report(base::Error error);

/// A client that agreed to a plan (`expect`) has seen it, and an unconfirmed apply comes back by itself.
core::RemovalGuard guard_for(const Job& job);

/// Does the job. Others than root may request some jobs only, and see the host as everybody does
/// (docs/SECURITY.md).
model::Report run_for_caller(const Job& job, core::Context& context, const core::Request& request,
                             JobFacts& facts);

/// Brings records of hidden state up to date, unless an interrupted run has left its journal: its changes are
/// for recovery to find out. @return whether it did.
bool refresh_hidden(core::Context& context, const std::set<std::string>& handles,
                    std::vector<std::string>& notes);

/// Values of this look that later ones compare with.
void keep_readings(const Job& job, const model::Report& report, system::Host& host,
                   std::vector<std::string>& notes);

/// The main process's part of the ledger, for kHistory with all generations; null where it cannot be read.
nlohmann::ordered_json status_json(core::Context& context, const JobFacts& facts, Job::Verb verb);

}  // namespace rdmacfg::daemon
