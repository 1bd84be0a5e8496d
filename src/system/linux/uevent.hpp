// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace rdmacfg::system::detail {

/// The sender of a uevent (lib/kobject_uevent.c).
enum class Uevent {
  kOfKernel,
  kSynthetic,  ///< "udevadm trigger", which packages call, announces what has been there all the time
};

/// Whether a uevent tells of a device or module that came. One that goes is drift like any other: somebody
/// may delete what we make, again and again.
inline bool device_came(std::string_view action, Uevent sort) {
  return action == "add" && sort == Uevent::kOfKernel;
}

}  // namespace rdmacfg::system::detail
