// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "config/check.hpp"

namespace rdmacfg::config {

/// Reports entries of one file that mean the same object, and leaves the first of each.
void report_duplicates(std::vector<model::Section>& sections, const Grammar& specs,
                       model::Diagnostics& diagnostics);

/// Merges sections of several files, given in the order of the files: entries that mean the same object
/// become one, in which the later file's values win and children are merged likewise.
std::vector<model::Section> merge(std::vector<model::Section> sections, const Grammar& specs);

/// The same for [defaults.…] sections, of which there is one for each path.
std::vector<model::Section> merge_defaults(std::vector<model::Section> defaults);

/// Fills what sections leave open from `defaults`, which are merged already.
void fill_defaults(std::vector<model::Section>& sections, const std::vector<model::Section>& defaults);

}  // namespace rdmacfg::config
