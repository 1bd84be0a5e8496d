// SPDX-License-Identifier: Apache-2.0
// Whether the next boot loads ib_ipoib. No device has it as its driver: rdma-core lists it in
// /etc/rdma/modules/infiniband.conf, and rdma-load-modules@.service keeps to blacklists.
#pragma once

#include <vector>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// Warns, at the first [[ipoib]] entry, where a host that has the module now will not have it after a reboot:
/// its interfaces would be gone.
void warn_of_module_at_boot(const std::vector<model::Desired>& desired, World& world,
                            model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
