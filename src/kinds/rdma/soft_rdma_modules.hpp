// SPDX-License-Identifier: Apache-2.0
// Our file in modules-load.d(5) with the modules of software RDMA devices, each behind a comment with its
// device.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kSoftRdmaModulesFile = "/etc/modules-load.d/rdma-configd-soft-rdma.conf";

/// Modules by the id of the device, "eth0/rxe".
using SoftRdmaModules = std::map<std::string, std::string>;

SoftRdmaModules parse_soft_rdma_modules(std::string_view text);

/// Empty without modules.
std::string render_soft_rdma_modules(const SoftRdmaModules& modules);

base::Result<SoftRdmaModules> read_soft_rdma_modules(system::Files& files);

/// Removes the file when there are no modules.
base::Result<void> write_soft_rdma_modules(system::Files& files, const SoftRdmaModules& modules);

}  // namespace rdmacfg::kinds
