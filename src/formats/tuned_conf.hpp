// SPDX-License-Identifier: Apache-2.0
// Kernel settings of tuned's active profile. Sources: tuned-main.conf(5), tuned.conf(5); tuned 2.10 to 2.25,
// plugins/plugin_sysctl.py, profiles/loader.py, profiles/merger.py, consts.py.
#pragma once

#include <map>
#include <string>

#include "system/files.hpp"

namespace rdmacfg::kinds {

struct TunedSysctl {
  std::string file;
  int line = 0;
  std::string
      value;  ///< ">100" and "<100" are for settings that are less and more; "${name}" is not expanded
};

struct TunedSysctls {
  bool active = false;    ///< tuned starts at boot, with a profile that sets any
  bool reapplies = true;  ///< then it sets those of /run/sysctl.d, /etc/sysctl.d and /etc/sysctl.conf again
  std::map<std::string, TunedSysctl> settings;  ///< by path below /proc/sys
};

/// Of a host whose tuned is enabled. A profile that cannot be found, or that tuned chooses by itself, has
/// none.
TunedSysctls read_tuned_sysctls(system::Files& files);

}  // namespace rdmacfg::kinds
