// SPDX-License-Identifier: Apache-2.0
// config.json of nvmetcli: the kernel's NVMe target as it was saved. Source: nvmetcli's nvmet/nvme.py,
// dump().
#pragma once

#include "foreign/claims.hpp"
#include "foreign/syntax/yaml.hpp"

namespace rdmacfg::foreign {

/// Whether a config.json is nvmetcli's and not libnvme's, which has hosts alone at its top.
bool is_nvmet_config(const YamlNode& root);

/// Its subsystems on ports over RDMA as [[nvme_target]].
void read_nvmet_config(const YamlNode& root, Claims& claims);

}  // namespace rdmacfg::foreign
