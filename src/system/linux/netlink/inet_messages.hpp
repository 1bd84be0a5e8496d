// SPDX-License-Identifier: Apache-2.0
// Addresses and routes as rtnetlink messages, TCP connections as those of sock_diag(7). Sources:
// rtnetlink(7), linux/if_addr.h, linux/rtnetlink.h, linux/inet_diag.h.
#pragma once

#include <optional>
#include <set>
#include <utility>
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

/// Addresses that the kernel has not finished with (duplicate address detection), of some interfaces: as a
/// dump has them, and then as its notifications say. The kernel sends RTM_NEWADDR when the detection has
/// ended, well or not, and RTM_DELADDR when the address goes (addrconf_dad_completed(), addrconf_dad_stop(),
/// __ipv6_ifa_notify() of net/ipv6/addrconf.c).
class AddressChecks {
 public:
  explicit AddressChecks(const std::set<int>& indexes) : indexes_(indexes) {}

  /// Forgets what was known: these are all addresses there are.
  void begin(const std::vector<InetAddress>& all);

  /// A notification; others than those of addresses change nothing.
  void note(const nlmsghdr& header);

  [[nodiscard]] bool any() const { return !checked_.empty(); }

 private:
  void note(const InetAddress& address);

  std::set<int> indexes_;
  std::set<std::pair<int, model::IpAddress>> checked_;  ///< an interface has an IPv6 address only once
};

/// Nothing for what Inet::observe_routes() leaves out.
std::optional<InetRoute> parse_route(const nlmsghdr& header);

/// The messages of one request, to be sent in one go.
std::vector<Message> encode(const InetRequest& request);

}  // namespace rdmacfg::system::detail
