// SPDX-License-Identifier: Apache-2.0
// The records that a run begins with: the state, the journal of a run that was interrupted, and the run's
// own. Damaged ones are set aside (store/damage.hpp).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "core/pipeline.hpp"
#include "core/run_plan.hpp"
#include "store/state.hpp"
#include "system/host.hpp"

namespace rdmacfg::core::detail {

/// Where a run begins.
struct RunStart {
  State state;                       ///< what is remembered
  State on_disk;                     ///< what state.json says
  bool recovered = false;            ///< after an interrupted run
  bool incomplete = false;           ///< something that it took down could not be put back: a note says what
  std::vector<model::Note> notes{};  ///< for the report
};

/// Loads the records and finishes what an interrupted run began. With `earlier`, the run of the same apply
/// that this one follows, nothing is read. Fails when a record cannot be read or set aside.
base::Result<RunStart> start_run(system::Host& host, const Options& options, const EarlierRun* earlier);

/// Writes the bracket's records, then the journal, before the first change. After an error nothing is
/// changed. `state`: the records before the plan.
base::Result<void> begin_run(const RunInput& input, const model::Plan& plan, const State& state);

}  // namespace rdmacfg::core::detail
