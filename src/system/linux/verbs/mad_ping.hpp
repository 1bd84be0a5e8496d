// SPDX-License-Identifier: Apache-2.0
// Management datagrams from user space (/dev/infiniband/umad*), by libibumad, which is loaded at the first
// use.
#pragma once

#include <chrono>
#include <string>

#include "base/error.hpp"
#include "system/function_test.hpp"

namespace rdmacfg::system::detail {

base::Result<PingTimes> ping_by_mad(const std::string& device, int port, int lid, int count,
                                    std::chrono::milliseconds timeout);

base::Result<int> lid_of_guid(const std::string& device, int port, model::Guid guid,
                              std::chrono::milliseconds timeout);

}  // namespace rdmacfg::system::detail
