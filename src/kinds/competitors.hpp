// SPDX-License-Identifier: Apache-2.0
// Programs that several kinds have as competitors (KindInfo::competitors).
#pragma once

#include <array>
#include <string_view>

namespace rdmacfg::kinds {

/// They set up interfaces: mode, MTU, P_Keys, addresses. A DHCP client also sets the MTU, when the server
/// gives one.
inline constexpr auto kInterfaceManagers = std::to_array<std::string_view>(
    {"NetworkManager", "systemd-network", "wickedd-nanny", "connmand", "dhclient", "dhcpcd", "openibd"});

}  // namespace rdmacfg::kinds
