// SPDX-License-Identifier: Apache-2.0
// Facts about the rest of the host and of the document that targets depend on.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "model/resource.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// Addresses that the document gives interfaces, which has to happen before a target listens there.
std::map<std::string, model::Key> given_addresses(const std::vector<model::Desired>& desired);

/// An address of the list that the wildcard of its family, also there, includes: rdma_cm does not listen on
/// both (cma_check_port() of drivers/infiniband/core/cma.c).
std::optional<std::string> covered_address(const std::vector<std::string>& addresses);

/// Devices that are mounted on this host, as its table of mounts spells them, files behind loop devices that
/// are, and "".
std::set<std::string> mounted_devices(system::Files& files);

/// Users of the disks that go when all the named sessions (or controllers) do.
using DiskUses = std::function<base::Result<std::vector<std::string>>(const std::vector<std::string>& names)>;

/// Why the disks of `going` cannot go, for people; empty: they can. A disk with several paths stays while one
/// does: with `others`, which are to go as well, the last of them may be among `going`.
base::Result<std::string> why_disks_stay(const std::vector<std::string>& going,
                                         const std::vector<std::string>& others, const DiskUses& uses);

}  // namespace rdmacfg::kinds
