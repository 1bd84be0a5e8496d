// SPDX-License-Identifier: Apache-2.0
// The kernel's messages about an interface's DCB. Sources: linux/dcbnl.h, net/dcb/dcbnl.c.
#pragma once

#include <optional>

#include "system/dcb.hpp"
#include "system/linux/netlink/netlink_message.hpp"

namespace rdmacfg::system::detail {

/// The answer to DCB_CMD_IEEE_GET; nothing when it is too short for its header.
std::optional<DcbState> parse_dcb(const nlmsghdr& header);

}  // namespace rdmacfg::system::detail
