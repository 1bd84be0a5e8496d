// SPDX-License-Identifier: Apache-2.0
// Our file of sysctl.d(5), and what other files say about the same settings.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// systemd-sysctl sorts the files of all folders by name, and of two lines for one setting the later counts.
inline constexpr std::string_view kSysctlFile = "/etc/sysctl.d/zz-rdma-configd.conf";

using Sysctls = std::map<std::string, std::string>;  ///< value by path below /proc/sys

Sysctls parse_sysctls(std::string_view text);
/// With slashes, so that the dots of interface names stay.
std::string render_sysctls(const Sysctls& sysctls);
base::Result<Sysctls> read_sysctl_file(system::Files& files);
/// Writes the file, or removes it when there is no setting.
base::Result<void> write_sysctl_file(system::Files& files, const Sysctls& sysctls);

struct ForeignSysctl {
  std::string file;
  int line = 0;
  std::string value;
  bool wins = false;      ///< read after ours
  bool excludes = false;  ///< "-path" without a value: systemd-sysctl does not set it at all
};

/// Whether something reads /etc/sysctl.conf under this very name.
enum class SysctlConf { kRead, kUnread };

/// systemd-sysctl reads sysctl.d alone, where some distributions have a link to the file (99-sysctl.conf);
/// Debian 13 and Arch have none. Without systemd-sysctl it is sysctl(8) that reads the file.
SysctlConf observe_sysctl_conf(system::Files& files);

using ForeignSysctls = std::map<std::string, std::vector<ForeignSysctl>, std::less<>>;  ///< by path

/// Lines of other files that set a path or exclude it: all files, read once. Patterns are left out, as they
/// yield to lines that name a setting.
ForeignSysctls read_foreign_sysctls(system::Files& files, SysctlConf conf);

/// By path, the last line of a file that sets it, as sysctl(8) reads a file.
std::map<std::string, ForeignSysctl> sysctls_in_file(system::Files& files, const std::string& file);

}  // namespace rdmacfg::kinds
