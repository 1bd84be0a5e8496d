// SPDX-License-Identifier: Apache-2.0
// Fabrics as JSON (docs/json/fabric-1.schema.json), out and in again.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "fabric/compare.hpp"
#include "fabric/fabric.hpp"

namespace rdmacfg::ctl {

/// A fabric and what is to say about it.
struct FabricView {
  fabric::Fabric fabric;
  std::vector<fabric::Finding> findings;
  std::vector<fabric::Difference> differences;
  std::vector<std::string> not_cleared{};  ///< ports of --clear-counters that gave no answer
};

/// The members of the object behind those of head().
void add_fabric(nlohmann::ordered_json& out, const FabricView& view);

/// A fabric that `fabric --json` wrote. The text is checked as if a stranger had written it: kInvalid with
/// the reason where it is too large, not JSON, of another schema, or has values that no fabric has.
base::Result<fabric::Fabric> parse_fabric(const std::string& text);

}  // namespace rdmacfg::ctl
