// SPDX-License-Identifier: Apache-2.0
// Commands of scripts for IPoIB interfaces, or for settings in files, that other programs than ip(8) carry
// out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// The advice for a command of firewall-cmd, resolvectl or sysctl -p, and for writes into files of an IPoIB
/// interface or of a bond over it, and for ip(8) behind xargs or find; empty for others. `text`: the command
/// as it is written.
std::string kept_command_advice(const std::vector<std::string>& words, std::string_view text,
                                const Claims& claims);

}  // namespace rdmacfg::foreign
