// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kinds/bound.hpp"
#include "model/diagnostic.hpp"

namespace rdmacfg::kinds {

/// The lines for srp_daemon of all [[srp_rule]] in their order, and of [srp_initiator] others; reports
/// their mistakes.
std::vector<std::string> srp_rules_of(const Bound& bound, model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
