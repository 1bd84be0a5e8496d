// SPDX-License-Identifier: Apache-2.0
// Rules across hosts: each looks at the facts of a site and says what does not fit together.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "fleet/finding.hpp"
#include "fleet/site.hpp"

namespace rdmacfg::fleet {

/// Partitions in which no two hosts share a rail. Rails tell nothing there, so that the partition is compared
/// as a whole.
std::set<std::uint16_t> partitions_without_rails(const Site& site);

/// Addresses, GUIDs and names that two have.
void check_duplicates(const Site& site, std::vector<Finding>& out);

/// MTU, mode and IP networks of the interfaces of a partition, and swapped rails.
void check_partitions(const Site& site, std::vector<Finding>& out);

/// P_Keys against [[partition]], who is a member of them, and MTUs against their multicast groups.
void check_membership(const Site& site, std::vector<Finding>& out);

/// Subnet managers.
void check_managers(const Site& site, std::vector<Finding>& out);

/// RoCE versions, DSCPs and lossless priorities.
void check_traffic(const Site& site, std::vector<Finding>& out);

}  // namespace rdmacfg::fleet
