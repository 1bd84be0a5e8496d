// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/observation.hpp"
#include "model/report.hpp"
#include "store/state.hpp"

namespace rdmacfg::core {

/// How the host differs from the document: a report for every resource, and a change for each that is to be
/// changed.
struct Comparison {
  std::vector<model::ResourceReport> resources;
  std::vector<model::Change> changes;  ///< in no particular order
};

/// Lays desired and observed side by side. The state decides which objects are removed or given back
/// when the document drops it, and which settings are not tried again because the fabric limits them.
Comparison compare(Observation& observation, const State& state, bool retry_limited = false);

/// Of those that are as wanted but for settings that are left alone (Observation::left): that they are not,
/// and why.
void tell_left(std::vector<model::ResourceReport>& resources, const Observation& observation);

/// Names of `fields` and of `before` whose value is another in `now`; a field that `before` lacks must be
/// missing.
std::vector<std::string> not_back(const std::vector<std::string>& fields, const model::Attributes& before,
                                  const model::Attributes& now);

/// Names of `wanted` whose value is another in `now`.
std::vector<std::string> differing_fields(const model::Attributes& wanted, const model::Attributes& now);

}  // namespace rdmacfg::core
