// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "daemon/loop.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::daemon {

/// Calls `named` once the host has got a name that is not localhost's, as from DHCP (proc(5),
/// /proc/sys/kernel/hostname: poll(2) tells of a change). Nothing to wait for, and no handle, when it has
/// one.
Loop::Handle when_named(Loop& loop, std::function<void()> named,
                        std::function<std::string()> name = system::linux_host_name);

}  // namespace rdmacfg::daemon
