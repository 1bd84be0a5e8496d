// SPDX-License-Identifier: Apache-2.0
#include <sys/utsname.h>

#include <array>
#include <fstream>

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
  std::ifstream file("/etc/hostname");
  std::array<char, 1024> text{};
  file.read(text.data(), text.size());
  return base::host_name_in({text.data(), static_cast<std::size_t>(file.gcount())});
}

}  // namespace rdmacfg::system
