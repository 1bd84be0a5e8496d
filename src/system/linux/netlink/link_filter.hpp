// SPDX-License-Identifier: Apache-2.0
// Which notifications of rtnetlink(7) are about something that is managed. A busy host has many that are not:
// a router's routes, leases that are renewed. Sources: net/ipv4/devinet.c, net/ipv6/addrconf.c,
// net/ipv4/fib_trie.c, net/ipv6/route.c.
#pragma once

#include <linux/netlink.h>

#include <optional>
#include <set>
#include <string>

#include "system/events.hpp"

namespace rdmacfg::system::detail {

class LinkFilter {
 public:
  /// Addresses and routes are managed of IPoIB only.
  explicit LinkFilter(WatchedLinks links) : all_(links == WatchedLinks::kAll) {}

  /// The change, for the log; nothing when the message does not matter. Messages of a dump (NLM_F_MULTI)
  /// only tell which interfaces there are.
  std::optional<std::string> take(const nlmsghdr& header);

 private:
  std::optional<std::string> take_link(const nlmsghdr& header);
  [[nodiscard]] bool concerns_address(const nlmsghdr& header) const;
  [[nodiscard]] bool concerns_route(const nlmsghdr& header) const;

  bool all_;
  std::set<int> ours_;  ///< indexes of IPoIB interfaces
};

/// The answer to a dump of the interfaces, message by message.
class LinkList {
 public:
  enum class State { kUnderWay, kWhole, kTorn };

  /// kTorn: the list has ended, and interfaces may be missing from it. Others came or went meanwhile
  /// (NLM_F_DUMP_INTR), or the kernel gave up. Notifications do not change it.
  State take(const nlmsghdr& header);

 private:
  bool interrupted_ = false;
};

}  // namespace rdmacfg::system::detail
