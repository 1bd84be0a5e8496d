// SPDX-License-Identifier: Apache-2.0
// IPv4 addresses in ifcfg files: numbered keys of one file, or separate alias files (initscripts'
// sysconfig.txt).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"
#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

/// The keys that begin with `stem`, in the order of their numbers, which is that of addresses and servers,
/// wherever the lines stand.
std::vector<std::string> ifcfg_keys_by_number(const Keys& keys, std::string_view stem);

/// IPADDR, IPADDR0, …, with the PREFIX or NETMASK and the GATEWAY of the same number.
void read_ifcfg_addresses(Keys& keys, Inet& inet, Claims& claims);

/// "ib0" of "ifcfg-ib0:1" and of "ifcfg-ib0-range1"; empty for the file of an interface.
std::string ifcfg_alias_of(const std::string& name);

/// A further address of an interface, which ifup-aliases of initscripts adds.
void parse_ifcfg_alias(const File& file, Interface& into, Claims& claims);

}  // namespace rdmacfg::foreign
