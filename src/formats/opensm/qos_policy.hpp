// SPDX-License-Identifier: Apache-2.0
// The language of OpenSM's qos-policy.conf: blocks of "key: value" lines. Sources: osm_qos_parser_l.l,
// osm_qos_parser_y.y and osm_qos_policy.c of OpenSM, doc/QoS_management_in_OpenSM.txt.
#pragma once

#include "formats/opensm/opensm_files.hpp"

namespace rdmacfg::kinds {

/// OpenSM reads no rule of a file with one wrong line, and says so in its log alone.
CheckedLines check_qos_policy(std::span<const std::string> lines);

}  // namespace rdmacfg::kinds
