// SPDX-License-Identifier: Apache-2.0
// partitions.conf of OpenSM, whatever its name (doc/partition-config.txt, osm_prtn_config.c).
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "foreign/claims.hpp"
#include "model/types.hpp"

namespace rdmacfg::foreign {

/// A port GUID in files of OpenSM, which reads numbers (strtoull()), of any length; nothing else of what our
/// document takes.
base::Result<model::Guid> opensm_guid(std::string_view text);

/// Partitions with their members and multicast groups.
void parse_partitions(const File& file, Claims& claims);

}  // namespace rdmacfg::foreign
