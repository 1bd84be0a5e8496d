// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/field.hpp"

namespace rdmacfg::model {

/// Types of the ports of a ConnectX-3 adapter, port 1 first: "ib", "eth" or "auto".
struct PortTypes {
  std::vector<std::string> list;
  auto operator<=>(const PortTypes&) const = default;
};

RDMACFG_CODEC(PortTypes, "list of \"ib\", \"eth\" or \"auto\"",
              R"({"type":"array","minItems":1,"maxItems":2,"items":{"enum":["ib","eth","auto"]}})");

}  // namespace rdmacfg::model
