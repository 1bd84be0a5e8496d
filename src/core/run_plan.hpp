// SPDX-License-Identifier: Apache-2.0
// A plan becomes what the host is: carried out, verified, recorded, or undone.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "config/document.hpp"
#include "core/compare.hpp"
#include "core/observation.hpp"
#include "core/pipeline.hpp"
#include "core/wait_budget.hpp"
#include "model/report.hpp"
#include "store/state.hpp"
#include "system/host.hpp"

namespace rdmacfg::core::detail {

/// A run before this one, of the same apply. Its journal is still there: rolling back is over both.
struct EarlierRun {
  model::Plan plan;
  State before;   ///< what was remembered before it
  State on_disk;  ///< what state.json says: nothing is written between the two
  State now;      ///< what is remembered after it
};

struct RunInput {
  const config::Document& document;
  system::Host& host;
  const Options& options;
  const Observation& observation;  ///< the host just before
  const State& on_disk;            ///< what is remembered, as it was last written
  WaitBudget& waits;
  std::map<model::Key, std::string> aside;  ///< resources that take no part, with the reason
  const EarlierRun* earlier = nullptr;
};

struct RunOutcome {
  model::Report report;
  /// Meanwhile devices came, or went and came back (port types of ConnectX-3), and what hangs on them is not
  /// as the document says: it must be planned once more. Nothing is committed then.
  bool needs_second_pass = false;
  bool settled = false;   ///< settle() was called
  bool reverted = false;  ///< it could not be committed
};

/// @param state   what is remembered; brought up to date
/// @param report  the plan, and how things stood before it
RunOutcome run_plan(const RunInput& input, State& state, model::Report report);

/// After the run of `earlier` was a success, and what had to follow it was not: it is undone as well.
void undo_earlier(const config::Document& document, system::Host& host, const Options& options,
                  const EarlierRun& earlier, model::Report& report);

/// Slow steps that cannot be undone at once are not done before somebody has confirmed the rest, nor
/// while others wait for the rest.
void defer(Comparison& comparison, const Options& options);

/// Whether something that the run was asked for waits.
[[nodiscard]] bool any_waiting(const model::Report& report, const Options& options);

/// Whether a resource is among those that the run was asked for.
[[nodiscard]] bool is_asked_for(const model::Key& key, const Options& options);

}  // namespace rdmacfg::core::detail
