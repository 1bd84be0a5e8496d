// SPDX-License-Identifier: Apache-2.0
// The groups of hosts, such as racks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"

namespace rdmacfg::fleet {

struct Groups {
  std::vector<std::string> of_host;  ///< by host; empty: it is in none
  model::Diagnostics diagnostics;
};

/// By a pattern of the hosts' names with {group} in it, "{group}n*": the group is as short as possible.
Groups group_by_pattern(std::string_view pattern, const std::vector<std::string>& hosts);

/// By a file: a CSV table with a column "group", or without one that which follows the hosts; or TOML in
/// which each key is a group and its value a list of hosts, rack1 = "gpu[001-040]" or rack1 =
/// ["gpu[001-020]", "gpu041"]. A short name is also that of a host that the file has with a domain, where all
/// such hosts are in one group. Faults are errors with their place, and so is a host without a group.
Groups group_by_file(const config::Text& file, const std::vector<std::string>& hosts);

}  // namespace rdmacfg::fleet
