// SPDX-License-Identifier: Apache-2.0
// LNet, the network of Lustre: it finds interfaces by their names, which a document may change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// Of a line `options lnet networks="o2ib0(ib0)"` of modprobe.d(5), of ip2nets= and of ipif_name= of
/// ko2iblnd: names the IPoIB interfaces that it depends on. @return whether the module is one of LNet's
bool tell_lnet_options(const Place& where, std::string_view module, std::string_view line, Claims& claims);

/// The same of /etc/lnet.conf, the YAML of lnetctl(8).
void tell_lnet_conf(const File& file, Claims& claims);

/// The IPoIB interface that a command of lnetctl(8) names; empty for others.
std::string_view interface_of_lnetctl(const std::vector<std::string>& words, const Claims& claims);

}  // namespace rdmacfg::foreign
