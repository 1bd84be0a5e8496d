// SPDX-License-Identifier: Apache-2.0
// Rules of [[nfs_mount]] that need no host.
#pragma once

#include "model/diagnostic.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds {

inline constexpr std::int64_t kNfsRdmaPort = 20049;  ///< "nfsrdma" of services(5)

/// Reports all that is wrong with an entry that has a path.
void check_nfs_mount_entry(const model::Section& section, model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
