// SPDX-License-Identifier: Apache-2.0
// Session stacks of PAM. Sources: pam.d(5), libpam/pam_handlers.c of Linux-PAM; pam_limits(8), of which conf=
// names another file in place of limits.conf and limits.d.
#pragma once

#include <string>
#include <vector>

#include "system/files.hpp"

namespace rdmacfg::kinds {

/// Services by which users get sessions ("sshd") whose stack is there and has no pam_limits.so that reads
/// limits.d, included files as well. Unreadable files have none.
std::vector<std::string> logins_without_limits(system::Files& files);

/// The place that disables PAM for sshd, so that its sessions get no limits: "/etc/ssh/sshd_config:7". Empty
/// if no file disables it. Source: sshd_config(5): the first line of a keyword counts, and an included file
/// is read at its "Include" line.
std::string sshd_without_pam(system::Files& files);

}  // namespace rdmacfg::kinds
