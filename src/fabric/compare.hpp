// SPDX-License-Identifier: Apache-2.0
// Faults of a fabric by itself, and its differences from an earlier one or from a cabling plan.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric.hpp"
#include "model/diagnostic.hpp"

namespace rdmacfg::fabric {

/// Something that looks wrong without anything to compare with.
struct Finding {
  /// "link", "duplicate_guid", "duplicate_lid", "neighbour", "partition", "manager", "state"
  std::string_view check;
  std::string object;  ///< "leaf1/7 - node007/1"
  std::string what;    ///< one sentence
};
/// Nothing is said of what depends on answers that did not come: a fabric read in part has no finding
/// "partition" without all P_Key tables, and none about a master without the answers of all subnet managers.
std::vector<Finding> findings_of(const Fabric& fabric);

/// A difference from what is expected.
struct Difference {
  std::string_view what;  ///< "node", "link", "speed", "state", "pkeys", "manager", "group", "cable", "name",
                          ///< "counters"
  std::string object;
  std::string before, after;  ///< expected and found; empty: not there
};

/// The differences of `after` from `before`. Nodes and ports are known by GUID and number; LIDs may change.
/// Tables that one of the two has not read are not compared, nor subnet managers that gave it no answer.
std::vector<Difference> compare(const Fabric& before, const Fabric& after);

/// Where a cable should lead, [[cable]] of a document (cables.hpp).
struct Cable {
  std::string from, to;  ///< node and port: "leaf1/7"; a node by its description or GUID
  std::optional<Width> width;
  std::optional<Speed> speed;
};

/// The cables that are not as they should be.
std::vector<Difference> check_cables(const Fabric& fabric, const std::vector<Cable>& cables);

}  // namespace rdmacfg::fabric
