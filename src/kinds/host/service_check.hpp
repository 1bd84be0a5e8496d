// SPDX-License-Identifier: Apache-2.0
// Services that run although their entries say otherwise, and those that do not run after a start. Source:
// systemd.socket(5).
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// Warns of entries that stop or disable a service whose socket goes on listening: the next connection starts
/// it. Not where another entry stops or disables the socket, too.
void warn_of_sockets(const std::vector<model::Desired>& desired, World& world,
                     model::Diagnostics& diagnostics);

/// Starts a unit. An error also where systemd says that it is done, and the unit is at rest: it has ended, or
/// a condition of its unit file is not met, which does not count as a failure (systemd.unit(5)).
base::Result<void> start_service(const std::string& unit, system::Host& host);

}  // namespace rdmacfg::kinds
