// SPDX-License-Identifier: Apache-2.0
// Lines of partitions.conf that OpenSM cannot read. At one of them it ignores the whole file, and its log
// alone says so. Sources: osm_prtn_config_parse_file() in osm_prtn_config.c, osm_prtn_make_partitions() in
// osm_prtn.c of OpenSM.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "formats/managed_block.hpp"

namespace rdmacfg::kinds {

/// The first such line of others; our rules are written as OpenSM reads them, and may come back with CRLF.
/// @param lines  those of parse_marked() in `text`
std::optional<Damage> unreadable_partition_line(std::string_view text,
                                                std::span<const MarkedText::Line> lines);

}  // namespace rdmacfg::kinds
