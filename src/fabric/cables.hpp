// SPDX-License-Identifier: Apache-2.0
// Cable files: which port leads where, as TOML with `version = 1` and [[cable]] sections.
#pragma once

#include <vector>

#include "config/document.hpp"
#include "fabric/compare.hpp"

namespace rdmacfg::fabric {

/// The sections of a cable file.
const std::vector<model::SectionSpec>& cable_grammar();

/// The cables of a parsed file without errors.
std::vector<Cable> cables_of(const config::Document& document);

}  // namespace rdmacfg::fabric
