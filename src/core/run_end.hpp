// SPDX-License-Identifier: Apache-2.0
// The records that a run leaves: the state, the ledger by the bracket around it, and no journal.
#pragma once

#include <optional>

#include "base/error.hpp"
#include "core/pipeline.hpp"
#include "model/report.hpp"
#include "store/state.hpp"
#include "system/host.hpp"

namespace rdmacfg::core::detail {

/// Whether a run has written a journal, which goes when it ends.
enum class JournalFile { kNone, kWritten };

/// Ends a run that is a success: state on disk, commit, and then the journal goes. A hold whose state cannot
/// be written records it in the runtime directory (ADR 0056), and the report says that the host is DEGRADED.
/// @return why it could not be committed; then neither the state nor the ledger is changed
std::optional<base::Error> settle(system::Host& host, const Options& options, const State& on_disk,
                                  const State& state, JournalFile journal, model::Report& report);

/// Ends a run that was undone: the state is what it was, then the journal goes.
void abandon(system::Host& host, const Options& options, const State& on_disk, const State& state,
             model::Report& report);

}  // namespace rdmacfg::core::detail
