// SPDX-License-Identifier: Apache-2.0
// Facts about the rest of the host and of the document that targets depend on.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/resource.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// Addresses that the document gives interfaces, which has to happen before a target listens there.
std::map<std::string, model::Key> given_addresses(const std::vector<model::Desired>& desired);

/// Devices that are mounted on this host, as its table of mounts spells them, files behind loop devices that
/// are, and "".
std::set<std::string> mounted_devices(system::Files& files);

}  // namespace rdmacfg::kinds
