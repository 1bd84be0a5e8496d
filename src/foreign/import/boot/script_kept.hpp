// SPDX-License-Identifier: Apache-2.0
// Script commands other than ip(8) that concern IPoIB interfaces, or read settings or commands from files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// The advice for ulimit, prlimit, tc_wrap, run_srp_daemon, `rdma statistic`, firewall-cmd, resolvectl,
/// sysctl -p and `.` of a file for RDMA, for writes to files of an IPoIB interface or of a bond over it, and
/// for ip(8) behind xargs or find; empty for other commands. `text`: the command as written.
std::string kept_command_advice(const std::vector<std::string>& words, std::string_view text,
                                const Claims& claims);

}  // namespace rdmacfg::foreign
