// SPDX-License-Identifier: Apache-2.0
// The limits of what a fabric and files about it may say. docs/RELIABILITY.md lists the same table;
// tests/unit/daemon/limits_test.cpp compares the two.
#pragma once

#include <array>
#include <cstddef>

#include "model/limits.hpp"

namespace rdmacfg::fabric::limits {

inline constexpr std::size_t kFabricNodes = 65'536;
inline constexpr std::size_t kFabricTargets = 10'000;
inline constexpr std::size_t kFabricBytes = 256 * model::limits::kMiB;
inline constexpr std::size_t kFabricFileBytes = 64 * model::limits::kMiB;
inline constexpr std::size_t kCables = model::limits::kEntriesOfKind;

inline constexpr auto kTable = std::to_array<model::limits::Row>({
    {"kFabricNodes", kFabricNodes, "nodes",
     "fabric: the rest is named as missing, exit 5; a saved one: error",
     "nodes of a fabric; a subnet has 49,151 LIDs"},
    {"kFabricTargets", kFabricTargets, "targets", "fabric targets: the rest is named as missing, exit 5",
     "SRP targets that ports of a fabric offer"},
    {"kFabricBytes", kFabricBytes, "bytes", "fabric: the rest is named as missing, exit 5, or error, exit 1",
     "what the process that looks at the fabric may send"},
    {"kFabricFileBytes", kFabricFileBytes, "bytes", "fabric --compare, fleet report: error, exit 1",
     "a saved fabric; 1,000 hosts take about 2 MiB"},
    {"kCables", kCables, "cables", "validate, fabric --cables: error, exit 1",
     "[[cable]] entries, of which kEntriesOfKind is the limit; 5,000 hosts on two levels of switches"},
});

}  // namespace rdmacfg::fabric::limits
