// SPDX-License-Identifier: Apache-2.0
// Sections of several files, and of [defaults], become one document.
#pragma once

#include <set>
#include <vector>

#include "config/check.hpp"

namespace rdmacfg::config {

/// Sections of which something was not understood, by where they begin.
using Faulty = std::set<model::Location>;

/// Reports entries of one file that mean the same object, and leaves the first of each.
void report_duplicates(std::vector<model::Section>& sections, const Grammar& specs, const Faulty& faulty,
                       model::Diagnostics& diagnostics);

/// Merges sections of several files, given in the order of the files: entries that mean the same object
/// become one, in which the later file's values win and children are merged likewise. One that a faulty part
/// went into is faulty.
std::vector<model::Section> merge(std::vector<model::Section> sections, const Grammar& specs, Faulty& faulty);

/// The same for [defaults.…] sections, of which there is one for each path.
std::vector<model::Section> merge_defaults(std::vector<model::Section> defaults);

/// Fills what sections leave open from `defaults`, which are merged already.
void fill_defaults(std::vector<model::Section>& sections, const std::vector<model::Section>& defaults);

}  // namespace rdmacfg::config
