// SPDX-License-Identifier: Apache-2.0
// Addresses and routes as rtnetlink messages, TCP connections as those of sock_diag(7). Sources:
// rtnetlink(7), linux/if_addr.h, linux/rtnetlink.h, linux/inet_diag.h.
#pragma once

#include <optional>
#include <vector>

#include "system/inet.hpp"
#include "system/linux/netlink/netlink_message.hpp"

namespace rdmacfg::system::detail {

Message address_request();
Message route_request();

/// Asks for the established TCP connections of a family; for a socket of NETLINK_SOCK_DIAG.
Message connection_request(model::Family family);

/// Nothing for a message that is not about a connection of IPv4 or IPv6.
std::optional<TcpConnection> parse_connection(const nlmsghdr& header);

/// Nothing for what Inet::observe_addresses() leaves out.
std::optional<InetAddress> parse_address(const nlmsghdr& header);

/// Nothing for what Inet::observe_routes() leaves out.
std::optional<InetRoute> parse_route(const nlmsghdr& header);

/// The messages of one request, to be sent in one go.
std::vector<Message> encode(const InetRequest& request);

}  // namespace rdmacfg::system::detail
