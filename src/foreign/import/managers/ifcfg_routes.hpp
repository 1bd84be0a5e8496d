// SPDX-License-Identifier: Apache-2.0
// route-NAME and route6-NAME beside ifcfg files: lines of ip-route(8), or ADDRESS0=, NETMASK0=, GATEWAY0= and
// METRIC0= (initscripts' sysconfig.txt).
#pragma once

#include <functional>
#include <span>
#include <string>

#include "foreign/claims.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::foreign {

/// Adds its routes to the interface that the file is called after, or to one that a line names.
/// @param find  the interface of a name; null where it is none of ours
void parse_route_file(const File& file, model::Family family, Interface& owner,
                      const std::function<Interface*(const std::string& name)>& find, Claims& claims);

/// /etc/sysconfig/network: names a gateway of the whole host that the tools give one of these interfaces,
/// which reaches it or which GATEWAYDEV names, and IPV6_AUTOCONF=no. Gateways of interfaces other than
/// GATEWAYDEV are not in effect: they are removed and named.
void take_host_settings(const File& file, std::span<Interface> interfaces, Claims& claims);

}  // namespace rdmacfg::foreign
