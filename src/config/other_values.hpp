// SPDX-License-Identifier: Apache-2.0
// Values of other tools for what our keys say, for hints about values that are refused.
#pragma once

#include <string>

#include "model/section.hpp"

namespace rdmacfg::config {

/// The hint about a refused value that another tool takes for the same: "CM" of the verbs for connected mode,
/// 1 for true; empty for other values.
std::string value_hint(const model::Value& written, const model::FieldSpec& field);

}  // namespace rdmacfg::config
