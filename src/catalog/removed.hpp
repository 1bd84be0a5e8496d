// SPDX-License-Identifier: Apache-2.0
// The resources that a plan removes for good.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/change.hpp"

namespace rdmacfg::kinds {

/// Labels of what a plan deletes and gives in no other way, with the keys.
struct Removed {
  std::vector<std::string> labels;
  std::set<model::Key> keys;
};
Removed removed_by(const model::Plan& plan);

}  // namespace rdmacfg::kinds
