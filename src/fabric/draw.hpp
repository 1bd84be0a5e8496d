// SPDX-License-Identifier: Apache-2.0
// Pictures of a fabric as text. Each is a pure function; none takes more than linear space.
#pragma once

#include <string>

#include "fabric/fabric.hpp"

namespace rdmacfg::fabric {

struct TreeLook {
  bool utf8 = false;  ///< box-drawing characters
  bool wide = false;  ///< a line for each host; else hosts of a switch that are alike take one
};

/// A tree with the topmost switches as roots and each node once.
std::string draw_tree(const Fabric& fabric, const TreeLook& look);

/// The language of Graphviz. Links below their best are red.
std::string draw_dot(const Fabric& fabric);

/// A drawing: switches in rows by how far they are from hosts, below each the ports of its hosts. Links below
/// their best are red.
std::string draw_svg(const Fabric& fabric);

/// The row of each node in drawings: 0 for hosts, 1 for switches next to one, and so on upwards.
std::map<std::uint64_t, int> rows_of(const Fabric& fabric);

}  // namespace rdmacfg::fabric
