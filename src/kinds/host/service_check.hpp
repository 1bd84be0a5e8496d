// SPDX-License-Identifier: Apache-2.0
// Services that run although their entries say otherwise. Source: systemd.socket(5).
#pragma once

#include <vector>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// Warns of entries that stop or disable a service whose socket goes on listening: the next connection starts
/// it. Not where another entry stops or disables the socket, too.
void warn_of_sockets(const std::vector<model::Desired>& desired, World& world,
                     model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
