// SPDX-License-Identifier: Apache-2.0
// Whether the next boot has IPv6 switched off on an interface that has it now. Sources: ipv6.disable= and
// ipv6.disable_ipv6= of net/ipv6/af_inet6.c, addrconf_disable_ipv6() of net/ipv6/addrconf.c.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>

#include "formats/modprobe_conf.hpp"
#include "formats/sysctl_conf.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds::detail {

/// Names of interfaces, "all" and "default", for which the document switches IPv6 on.
using InterfaceNames = std::set<std::string, std::less<>>;

/// Warns, at an address of IPv6 on an interface, where sysctl.d or a kernel command line of the next boot
/// switches IPv6 off: the kernel then refuses the address. `at_next_boot`: the settings of the module ipv6 in
/// next_boot_settings(); `foreign`: the lines of sysctl.d.
void warn_of_no_ipv6_at_boot(const model::Desired& address, const std::string& interface,
                             const InterfaceNames& on, std::span<const ForeignLine> at_next_boot,
                             const ForeignSysctls& foreign, model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds::detail
