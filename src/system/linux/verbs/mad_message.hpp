// SPDX-License-Identifier: Apache-2.0
// Answers to management datagrams (InfiniBand architecture 13.4, 14.2, 15.2), all in network order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rdmacfg::system::detail {

inline constexpr std::size_t kMadBytes = 256;

/// The port GUID of a NodeInfo; nothing when the datagram is cut short or refused.
std::optional<std::uint64_t> port_guid_in(std::span<const std::uint8_t> answer);

/// The destination's LID of a PathRecord; nothing when the datagram is cut short, refused, or names none of
/// a port: beyond 0xbfff are multicast groups and the permissive LID.
std::optional<int> lid_in(std::span<const std::uint8_t> answer);

}  // namespace rdmacfg::system::detail
