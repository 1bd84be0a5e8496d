// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "system/rdma.hpp"

namespace rdmacfg::system::detail {

/// By ibv_query_port(3) and ibv_query_device(3). Nothing without libibverbs, a provider or /dev access. The
/// caller has made sure that ib_uverbs is loaded, so that asking loads no module.
std::optional<PortMtu> query_verbs_mtu(const std::string& device, int port);
std::optional<DeviceIds> query_verbs_ids(const std::string& device);

}  // namespace rdmacfg::system::detail
