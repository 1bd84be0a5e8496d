// SPDX-License-Identifier: Apache-2.0
// netplan's network mapping, which cloud-init takes as its version 2.
#pragma once

#include "foreign/syntax/yaml.hpp"

namespace rdmacfg::foreign {

/// The part below "network:", of one file or merged of several. The nodes' files have to stay.
void parse_netplan_network(const YamlNode& network, Claims& claims);

}  // namespace rdmacfg::foreign
