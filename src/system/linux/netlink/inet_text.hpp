// SPDX-License-Identifier: Apache-2.0
// Addresses and prefixes of rtnetlink messages as text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rdmacfg::system::detail {

/// The first `length` bits of an address, the others 0.
std::vector<std::byte> masked_prefix(std::span<const std::byte> address, int length);

/// "192.0.2.0/24", "2001:db8::/32"; "default" when there is no address.
std::string prefix_text(int family, std::span<const std::byte> address, int length);

}  // namespace rdmacfg::system::detail
