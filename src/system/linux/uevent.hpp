// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace rdmacfg::system::detail {

/// Whether a uevent tells of a device or module that came. `synthetic`: "udevadm trigger", which packages
/// call, announces what has been there all the time. One that goes is drift like any other: somebody may
/// delete what we make, again and again.
inline bool device_came(std::string_view action, bool synthetic) { return action == "add" && !synthetic; }

}  // namespace rdmacfg::system::detail
