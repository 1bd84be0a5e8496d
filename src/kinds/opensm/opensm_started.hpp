// SPDX-License-Identifier: Apache-2.0
// Subnet managers that were started before their options were last written: OpenSM reads most of opensm.conf
// only when it starts. Sources: proc(5) (starttime, btime, uptime), stat(2) (mtime).
#pragma once

#include <span>
#include <string>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// Warns of running subnet managers that were started more than two seconds before their opensm.conf, or a
/// file it names that is read only at start, was written; once for each, at the first entry of the document
/// in that opensm.conf. Says nothing where the plan restarts them, because an entry differs or a file that it
/// reads only at start, and where the times cannot be told, such as a file that is younger than the present
/// time. `folder`: of observe_opensm_folder().
void warn_of_earlier_start(std::span<const model::Desired> desired, std::span<const model::Observed> observed,
                           const std::string& folder, const World& world, model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
