// SPDX-License-Identifier: Apache-2.0
// The permanent configuration of firewalld. Zones are by the names of interfaces: firewalld.zone(5),
// /etc/firewalld/zones/NAME.xml with <interface name="…"/>; firewalld.service(5), firewalld.policy(5),
// firewalld.conf(5). Read only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/firewall/firewall_port.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// The zone whose file names the interface; nothing where none does, or where it cannot be read.
std::optional<std::string> firewalld_zone(system::Files& files, std::string_view interface);

/// The zone that keeps packets from the interface to the port out. Nothing where they are accepted: by the
/// zone, by a zone for source addresses, or by a policy. Nothing also where files do not tell: direct rules,
/// a zone without a file, files that cannot be read.
std::optional<std::string> firewalld_refuses(system::Files& files, std::string_view interface,
                                             const FirewallPort& port);

}  // namespace rdmacfg::kinds
