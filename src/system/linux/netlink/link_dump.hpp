// SPDX-License-Identifier: Apache-2.0
// RTM_GETLINK in our words. Sources: rtnetlink(7), if_link.h, drivers/infiniband/ulp/ipoib/ipoib_netlink.c.
#pragma once

#include <optional>

#include "system/link.hpp"
#include "system/linux/netlink/netlink_message.hpp"

namespace rdmacfg::system::detail {

/// Asks for all interfaces, without their statistics.
Message link_dump_request();

/// Nothing when the message is not an RTM_NEWLINK of this network namespace.
std::optional<Link> parse_link(const nlmsghdr& header);

}  // namespace rdmacfg::system::detail
