// SPDX-License-Identifier: Apache-2.0
#include <sys/utsname.h>

#include "system/linux/linux_host.hpp"
#include "system/linux/sysfs_dir.hpp"

namespace rdmacfg::system {

std::string linux_boot_id() {
  const auto folder = detail::SysfsDir::open("/proc/sys/kernel/random");
  return folder ? folder->text("boot_id") : std::string();
}

std::string linux_host_name() {
  utsname name{};
  return ::uname(&name) == 0 ? std::string(name.nodename) : std::string();
}

}  // namespace rdmacfg::system
