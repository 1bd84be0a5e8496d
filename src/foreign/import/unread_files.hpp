// SPDX-License-Identifier: Apache-2.0
// Files at a format's places that the host's own tools do not read.
#pragma once

#include <string_view>
#include <vector>

#include "foreign/import/formats.hpp"
#include "system/files.hpp"

namespace rdmacfg::foreign {

/// Removes and reports files that nothing reads or runs on this host, such as scripts that are not
/// executable; puts /etc/sysctl.conf into the place that systemd-sysctl gives it.
void leave_out_unread(std::string_view format, std::vector<File>& own, system::Files& files, Claims& claims);

}  // namespace rdmacfg::foreign
