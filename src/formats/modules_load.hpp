// SPDX-License-Identifier: Apache-2.0
// Our lists of modules to load at boot. Sources: modules-load.d(5); rdma-core's Documentation/udev.md and
// rdma-load-modules@.service.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kModulesLoadFile = "/etc/modules-load.d/rdma-configd.conf";
/// Read when RDMA hardware appears, and not at all without: rules/90-rdma-configd.rules starts
/// rdma-load-modules@rdma_configd.service. No '-', which would be a '/' in the name of an instance.
inline constexpr std::string_view kRdmaModulesFile = "/etc/rdma/modules/rdma_configd.conf";

/// The list that a module belongs into on this host: rdma-core's where that is installed and the module is
/// something over RDMA devices; drivers make such devices, so theirs would come too late.
std::string_view load_file_of(std::string_view module, system::Files& files);

/// The modules that a list names, one a line.
std::set<std::string> parse_load_list(std::string_view text);

/// Whether a list names the module: one of rdma-core, read when RDMA hardware appears, one of systemd, or
/// modules_load= of the kernel command line. A folder that cannot be read may have it.
bool is_listed_for_boot(std::string_view module, system::Files& files);

/// Modules of one list; lines that name none are passed over.
base::Result<std::set<std::string>> read_load_file(system::Files& files, std::string_view path);

/// Writes the list, or removes its file when it is empty.
base::Result<void> write_load_file(system::Files& files, std::string_view path,
                                   const std::set<std::string>& modules);

}  // namespace rdmacfg::kinds
