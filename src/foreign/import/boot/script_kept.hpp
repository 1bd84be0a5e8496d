// SPDX-License-Identifier: Apache-2.0
// Script commands other than ip(8) that concern IPoIB interfaces, or read settings or commands from files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// Whether the path of a command is that of a script for RDMA by its name: "/usr/local/sbin/setup-ib.sh",
/// "/etc/rdma/setup"; not of programs such as ib_write_bw.
bool is_named_for_rdma(std::string_view path);

/// Whether a path is below a folder of packages' programs and libraries: "/usr/sbin/ibstat".
bool is_of_package(std::string_view path);

/// The advice for ulimit, prlimit, tc_wrap, run_srp_daemon, `rdma statistic`, firewall-cmd, resolvectl,
/// sysctl -p, `.` of a file for RDMA and calls of scripts for RDMA, for writes to files of an IPoIB interface
/// or of a bond over it, and for ip(8) behind xargs or find; empty for other commands. `text`: the command as
/// written.
std::string kept_command_advice(const std::vector<std::string>& words, std::string_view text,
                                const Claims& claims);

}  // namespace rdmacfg::foreign
