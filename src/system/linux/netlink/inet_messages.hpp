// SPDX-License-Identifier: Apache-2.0
// Addresses and routes as rtnetlink messages. Sources: rtnetlink(7), linux/if_addr.h, linux/rtnetlink.h.
#pragma once

#include <optional>
#include <vector>

#include "system/inet.hpp"
#include "system/linux/netlink/netlink_message.hpp"

namespace rdmacfg::system::detail {

Message address_request();
Message route_request();

/// Nothing for what Inet::observe_addresses() leaves out.
std::optional<InetAddress> parse_address(const nlmsghdr& header);

/// Nothing for what Inet::observe_routes() leaves out.
std::optional<InetRoute> parse_route(const nlmsghdr& header);

/// The messages of one request, to be sent in one go.
std::vector<Message> encode(const InetRequest& request);

}  // namespace rdmacfg::system::detail
