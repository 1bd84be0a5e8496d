// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "system/files.hpp"

namespace rdmacfg::core {

/// Whether rdma-configd has files of its own in a folder ("/etc/sysctl.d"); every kind keeps to these.
bool is_managed_folder(std::string_view folder);

/// Whether a file is ours, or somebody else's in which settings are ours ("/etc/opensm/partitions.conf"). The
/// records in /var and /run are not among them.
bool is_managed_file(std::string_view path);

/// All managed folders that may be there, the drop-in folders of units among them.
std::vector<std::string> managed_folders(system::Files& files);

/// Removes what a run that was killed while it wrote a file has left beside it.
void clear_temporaries(system::Files& files);

}  // namespace rdmacfg::core
