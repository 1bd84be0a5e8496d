// SPDX-License-Identifier: Apache-2.0
// Messages to and fro over a reliable connection, by librdmacm and libibverbs, which are loaded at the first
// use. Sources: rdma_cm(7), rdma_create_ep(3), ibv_post_send(3).
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "system/function_test.hpp"

namespace rdmacfg::system::detail {

base::Result<void> serve_pingpong(const std::string& address, int port, int clients,
                                  const std::function<void()>& ready);

base::Result<PingTimes> pingpong(const std::string& address, int port, int count,
                                 std::chrono::milliseconds timeout);

}  // namespace rdmacfg::system::detail
