// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ctl/fabric/fabric_json.hpp"
#include "ctl/render/terminal.hpp"

namespace rdmacfg::ctl {

/// The parts of a fabric that can be shown by themselves, by the words of the command line.
inline constexpr std::array<std::string_view, 9> kFabricTopics{
    "hosts", "switches", "links", "managers", "partitions", "groups", "counters", "targets", "findings"};

/// The fabric as tables; only `topics`, unless there are none. Hosts that are alike take one line, and of the
/// links only those below their best are listed, unless `wide` or the topic asks for all.
std::string render_fabric(const FabricView& view, const std::set<std::string>& topics, bool wide,
                          const Terminal& terminal, bool* left_out = nullptr);

/// The names of nodes, one a line.
std::string fabric_names(const FabricView& view, const std::set<std::string>& topics);

}  // namespace rdmacfg::ctl
