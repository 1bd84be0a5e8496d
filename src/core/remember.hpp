// SPDX-License-Identifier: Apache-2.0
// How the state follows from a plan that was carried out.
#pragma once

#include "core/observation.hpp"
#include "core/pipeline.hpp"
#include "model/change.hpp"
#include "store/state.hpp"

namespace rdmacfg::core {

/// Records what a plan made, and what its settings were before, for resources that are as the plan wanted
/// them.
void remember(const model::Plan& plan, const Observation& now, State& state);

/// Objects that an interrupted run deleted, and recovery has put back along with their interface, are ours as
/// before: the next plan deletes it if nobody wants it.
void claim_put_back(const model::Plan& plan, const Observation& now, State& state);

/// Drops records of kernel objects that are gone, of limits that hold no longer, and of what was given back.
void forget(const Observation& now, State& state);

/// After undoing: records of re-created interfaces refer to the new ones, and objects that could not be
/// removed are recorded as ours, so that the next run removes them.
void reinstate(const model::Plan& plan, const Observation& now, State& state);

}  // namespace rdmacfg::core
