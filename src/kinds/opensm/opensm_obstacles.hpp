// SPDX-License-Identifier: Apache-2.0
// Obstacles to a subnet manager on a port of this host.
#pragma once

#include <map>
#include <set>
#include <string>

#include "kinds/opensm/opensm.hpp"
#include "kinds/opensm/opensm_launch.hpp"
#include "kinds/world.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// Why OpenSM cannot be started as an [[opensm]] entry wants, with the remedy; empty when it can, or runs.
/// @param now     the subnet managers of this host
/// @param ours    LIDs of the ports of the document's subnet managers
/// @param theirs  files of others from which opensm-launch starts some
std::string why_not_started(const model::Desired& resource, const std::map<model::Key, Opensm>& now,
                            const std::set<int>& ours, const LaunchFiles& theirs, World& world);

}  // namespace rdmacfg::kinds
