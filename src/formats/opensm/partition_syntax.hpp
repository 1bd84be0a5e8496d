// SPDX-License-Identifier: Apache-2.0
// Lines of partitions.conf that OpenSM cannot read. At one of them it ignores the whole file, and its log
// alone says so. Sources: osm_prtn_config_parse_file() in osm_prtn_config.c, osm_prtn_make_partitions() in
// osm_prtn.c of OpenSM.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "formats/managed_block.hpp"

namespace rdmacfg::kinds {

/// Bytes of a partition's name, of which OpenSM cuts the rest: osm_prtn_t::name in osm_partition.h, without
/// its NUL.
inline constexpr std::size_t kPartitionNameMost = 31;

/// Members that the OpenSM of NVIDIA's manuals takes: the ports of virtual functions.
inline constexpr std::string_view kNvidiaMembers = "ALL_VCAS";
inline constexpr std::string_view kNvidiaMembersText =
    "ALL_VCAS is a keyword of NVIDIA's OpenSM; the OpenSM of distributions does not support it";

/// The first such line of others; our rules are written as OpenSM reads them, and may come back with CRLF.
/// @param lines  those of parse_marked() in `text`
std::optional<Damage> unreadable_partition_line(std::string_view text,
                                                std::span<const MarkedText::Line> lines);

}  // namespace rdmacfg::kinds
