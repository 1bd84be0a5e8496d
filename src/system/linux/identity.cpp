// SPDX-License-Identifier: Apache-2.0
#include <sys/utsname.h>

#include <string>

#include "base/host_name.hpp"
#include "system/linux/files/sysfs_dir.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

std::string linux_boot_id() {
  const auto folder = detail::SysfsDir::open("/proc/sys/kernel/random");
  return folder ? folder->text("boot_id") : std::string();
}

std::string linux_host_name() {
  utsname name{};
  auto now = ::uname(&name) == 0 ? base::host_name_in(name.nodename) : std::string();
  if (!now.empty()) return now;
  const auto text = make_linux_files()->read_linked("/etc/hostname");
  return text && *text ? base::host_name_in(**text) : std::string();
}

}  // namespace rdmacfg::system
