// SPDX-License-Identifier: Apache-2.0
// Entries of opensm.conf, for all subnet managers and for single ones, on their way from the document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kinds/bound.hpp"
#include "kinds/opensm/opensm_own.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kOpensmOptionKind = "opensm_option";

std::string opensm_option_label(const OpensmOwner& owner);

/// [[opensm_option]] and [[opensm.option]], and the options that name the files of [[opensm_file]] and
/// [[opensm.file]].
void parse_option_entries(const Bound& bound, std::vector<model::Desired>& out,
                          model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
