// SPDX-License-Identifier: Apache-2.0
// Questions to the subnet administrator. libibmad takes answers of 1 KiB at most, so libibumad is asked.
#pragma once

#include <vector>

#include "base/error.hpp"
#include "fabric/fabric.hpp"
#include "system/linux/fabric/libraries.hpp"
#include "system/linux/fabric/local_port.hpp"

namespace rdmacfg::system::detail {

/// The multicast groups, as SubnAdmGetTable(MCMemberRecord) has them for everybody.
base::Result<std::vector<fabric::Group>> read_groups(const FabricLibraries& libraries, ibmad_port& port,
                                                     const LocalPort& local);

}  // namespace rdmacfg::system::detail
