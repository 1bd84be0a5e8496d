// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/error.hpp"
#include "kinds/world.hpp"

namespace rdmacfg::kinds {

/// Gives RDMA devices new names (present → wanted), swaps and circles included. A folder of rdma_cm in
/// configfs that has the old name is re-created under the new one. kBusy when a device outside the set has a
/// wanted name.
base::Result<void> rename_devices(system::Host& host, const World& world,
                                  std::map<std::string, std::string> names);

/// The interruptions by the renaming of a device, for the plan.
std::string interrupted_by_rename(const std::string& device);

}  // namespace rdmacfg::kinds
