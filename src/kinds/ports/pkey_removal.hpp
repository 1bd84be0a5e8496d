// SPDX-License-Identifier: Apache-2.0
// P_Key interfaces that a plan deletes. Their names and routes are free for others, so the rules of those ask
// too.
#pragma once

#include <set>
#include <vector>

#include "kinds/world.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds::detail {

/// Adds a removal for each interface that `prune` of its port's entry implies.
void add_pruned(std::vector<model::Desired>& desired, const std::vector<model::Observed>& observed);

/// Indexes of the interfaces that the plan will delete: absent, pruned, or ours and dropped.
std::set<int> leaving(const std::vector<model::Desired>& desired,
                      const std::vector<model::Observed>& observed, const World& world);

}  // namespace rdmacfg::kinds::detail
