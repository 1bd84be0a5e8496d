// SPDX-License-Identifier: Apache-2.0
// Reports for people.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "ctl/render/render_blocks.hpp"
#include "ctl/render/terminal.hpp"
#include "model/report.hpp"

namespace rdmacfg::ctl {

/// The changes of an apply: one block per object with current → desired value, effect and interruption.
/// After it what cannot be done now, warnings, and a closing line.
std::string render_diff(const model::Report& report, const Terminal& terminal,
                        Origins origins = Origins::kHidden);

/// The blocks of render_diff() and the warnings, for the question whether to go on.
std::string render_plan(const model::Report& report, const Terminal& terminal);

/// The outcome of an apply: every object that is not simply in sync, notes, leftovers, and a closing line.
/// Warnings of `shown` have been read already. `taken_back`: the closing line where settings were put back
/// one by one.
std::string render_applied(const model::Report& report, const Terminal& terminal,
                           const model::Report& shown = {}, const std::string& taken_back = {});

/// The deletions of a plan; those that are done count as outcomes.
enum class Deletions { kPlanned, kDone };

/// Rows of status, object and reason for every resource whose status is not plain in sync, foreign ones left
/// out.
std::string render_outcomes(const model::Report& report, const Terminal& terminal,
                            Deletions deletions = Deletions::kPlanned);

/// One line of what an apply has left open and what is to be done about that; empty when it left nothing.
/// `only`: of these resources.
std::string summarize_open(const model::Report& report, const std::set<model::Key>* only = nullptr);

/// The style in which a status is written.
Style style_of(model::Status status);

/// "Plan: 1 to create, 2 to change, 0 to delete".
std::string count_changes(const model::Report& report);

/// "1 change", "2 changes".
std::string count(std::size_t number, std::string_view noun);

}  // namespace rdmacfg::ctl
