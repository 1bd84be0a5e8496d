// SPDX-License-Identifier: Apache-2.0
// Whether the next boot loads the drivers of the devices that entries of all kinds are about.
#pragma once

#include <vector>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// Warns where modprobe.d or the next kernel command line keeps out the driver that a device has now, or the
/// module that makes RDMA devices of its adapters: once for each module, at the first entry that needs it. A
/// [[module]] entry that loads the module has an error of its own. Lines that this boot has shown to be
/// without effect are passed over: those of the running command line; and where the module is requested by
/// its name, lines that hold for aliases alone (modprobe(8), -b).
void warn_of_drivers_at_boot(const std::vector<model::Desired>& desired, World& world,
                             model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
