// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/netlink.h>

#include <optional>
#include <string>

namespace rdmacfg::system::detail {

/// The interface in an answer to RDMA_NLDEV_CMD_PORT_GET, if that is of the port. The kernel leaves it out
/// where the interface is in another network namespace.
std::optional<std::string> netdev_in(const nlmsghdr& header, int port);

/// A device's protocol, by its first port (fill_dev_info() in nldev.c): "ib", "opa", "roce", "iw"; empty
/// when it is not known.
std::string protocol_of(const std::string& device);

}  // namespace rdmacfg::system::detail
