// SPDX-License-Identifier: Apache-2.0
// Addresses and routes in NetworkManager's keyfiles (nm-keyfile.c), and addresses that it makes up.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

/// Whether an addr-gen-mode asks for addresses of RFC 7217 (nm-settings-nmcli(5)); "default-or-eui64", 2, and
/// "default", 3, leave the choice to NetworkManager.conf and the host.
inline bool names_stable_address(std::string_view mode) { return mode == "stable-privacy" || mode == "1"; }

/// The remark on such an addr-gen-mode.
inline constexpr std::string_view kKernelAddresses =
    "without NetworkManager the kernel derives the IPv6 addresses from the GUID, so they may change";

/// "a;b;" and "a,b" as a list.
std::vector<std::string> split_nm_list(std::string_view text);

/// Takes their value from addresses and routes with a blank anywhere in them, which NetworkManager drops
/// (read_field()). Keys do not show the blanks at the end.
void drop_spaced_addresses(Group& section);

/// Takes the addresses and routes of the section of a family, and the gateway that stands beside an address:
/// address1=192.0.2.1/24,192.0.2.254; addresses1=192.0.2.1;24;192.0.2.254;
/// route1=198.51.100.0/24,192.0.2.9,5; route1=198.51.100.0/24,,5; all of them without a number, too.
/// @param of_tables  gets the routes whose options name a table; nullptr: the interface gets those, too
void take_nm_addresses(Keys& keys, Interface& interface, Interface* of_tables, model::Family family);

}  // namespace rdmacfg::foreign
