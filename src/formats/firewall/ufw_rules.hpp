// SPDX-License-Identifier: Apache-2.0
// Rules of ufw, Ubuntu's front end of netfilter: ufw(8), ufw-framework(8), and the lines "### tuple ###" of
// /etc/ufw/user.rules, which its backend_iptables.py reads back. Read only.
#pragma once

#include <string>
#include <string_view>

#include "formats/firewall/firewall_port.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// Whether ufw is enabled, drops or rejects incoming packets by default, and no rule may accept those from
/// the interface to the port. A rule for the port counts as acceptance, whatever addresses it has. `false`
/// also where files cannot be read.
bool ufw_refuses(system::Files& files, std::string_view interface, const FirewallPort& port);

/// The file whose kernel settings ufw sets with sysctl(8) whenever it starts or reloads its rules (IPT_SYSCTL
/// of /etc/default/ufw, ufw-init-functions); empty if there is none or ufw is disabled.
std::string ufw_sysctl_file(system::Files& files);

}  // namespace rdmacfg::kinds
