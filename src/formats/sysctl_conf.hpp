// SPDX-License-Identifier: Apache-2.0
// Our file of sysctl.d(5), and what other files say about the same settings.
#pragma once

#include <functional>
#include <map>
#include <optional>
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

/// A line whose key stands for several settings: "net.ipv6.conf.*.disable_ipv6 = 1".
struct ForeignSysctlPattern {
  std::string glob;  ///< with slashes, as glob(3) finds files below /proc/sys
  ForeignSysctl line;
};

struct ForeignSysctls {
  std::map<std::string, std::vector<ForeignSysctl>, std::less<>> lines;  ///< that name a setting, by path
  std::vector<ForeignSysctlPattern> patterns;  ///< in the order in which systemd-sysctl applies them
};

/// Lines of other files that set a path or exclude it, and patterns: all files, read once.
ForeignSysctls read_foreign_sysctls(system::Files& files, SysctlConf conf);

/// The line of other files that gives a setting its value at boot, if ours does not name it: the last of
/// those that name it, wherever patterns stand, else the last pattern. A setting that is excluded has none
/// (sysctl.d(5), apply_all() of systemd's sysctl.c).
std::optional<ForeignSysctl> foreign_sysctl_in_force(const std::string& path, const ForeignSysctls& foreign);

/// Whether systemd-sysctl takes one line after another, of another file or of the same.
bool is_read_later(const ForeignSysctl& line, const ForeignSysctl& other);

/// By path, the last line of a file that sets it, as sysctl(8) reads a file.
std::map<std::string, ForeignSysctl> sysctls_in_file(system::Files& files, const std::string& file);

}  // namespace rdmacfg::kinds
