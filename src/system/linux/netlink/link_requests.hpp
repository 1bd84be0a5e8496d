// SPDX-License-Identifier: Apache-2.0
// Requests about interfaces as rtnetlink messages. Sources: rtnetlink(7), net/core/rtnetlink.c,
// ipoib_netlink.c.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "system/link.hpp"
#include "system/linux/netlink/netlink_message.hpp"

namespace rdmacfg::system::detail {

using NameOf = std::function<std::string(int index)>;

/// Appends the messages that carry out one request. `name_of` names an interface in errors.
void encode(const LinkRequest& request, const NameOf& name_of, std::vector<Message>& out);

}  // namespace rdmacfg::system::detail
