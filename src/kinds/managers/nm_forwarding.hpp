// SPDX-License-Identifier: Apache-2.0
// IPv4 forwarding of interfaces that NetworkManager configures.
#pragma once

#include <vector>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// NetworkManager 1.54 and newer write net.ipv4.conf.default.forwarding to each interface that they configure
/// (_dev_ipforwarding4_start() of nm-device.c; ipv4.forwarding of a profile is "auto" by default). Warns
/// about each [[sysctl]] entry with another value for such an interface.
void warn_of_nm_forwarding(const std::vector<model::Desired>& desired, const World& world,
                           model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
