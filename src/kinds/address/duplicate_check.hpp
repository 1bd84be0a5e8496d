// SPDX-License-Identifier: Apache-2.0
// Duplicate address detection of IPv6: an address that is there works only once the kernel has found no other
// host with it. Sources: RFC 4862, 5.4; net/ipv6/addrconf.c, addrconf_dad_kick(), addrconf_dad_work(),
// addrconf_dad_stop().
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kinds/abilities.hpp"
#include "system/inet.hpp"

namespace rdmacfg::kinds {

/// Addresses of an interface that do not work, as they are written.
struct AddressCheck {
  std::optional<std::vector<std::string>> duplicate;  ///< another host has them
  std::optional<std::vector<std::string>> tentative;  ///< the kernel has not finished asking
};

/// `wanted` on the interface `index`; those that are not there are in neither list.
AddressCheck address_check(const std::vector<model::IpPrefix>& wanted, int index,
                           const std::vector<system::InetAddress>& now);

/// Limited with a duplicate, pending while the kernel asks. `carrier`: without it the kernel does not begin.
Verdict verdict_of(const AddressCheck& check, bool carrier);

/// AwaitsKernel::await(): waits until the kernel has finished with the interfaces `indexes`; first for
/// carrier, where the port is up and an address waits for it.
base::Result<Waited> await_checks(std::set<int> indexes, World& now, const TimeLeft& left);

}  // namespace rdmacfg::kinds
