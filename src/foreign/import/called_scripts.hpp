// SPDX-License-Identifier: Apache-2.0
// Scripts that a host's boot scripts, services and cron tables run.
#pragma once

#include <span>

#include "foreign/claims.hpp"
#include "system/files.hpp"

namespace rdmacfg::foreign {

/// Reports the scripts that these files run by their path, or read, if they have commands for RDMA: none of
/// those is imported. Not those among the files, those of packages, and those that the reading of the files
/// reports by their names (is_named_for_rdma()).
void tell_called_scripts(std::span<const File> own, system::Files& files, Claims& claims);

}  // namespace rdmacfg::foreign
