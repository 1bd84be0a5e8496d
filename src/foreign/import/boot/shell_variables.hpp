// SPDX-License-Identifier: Apache-2.0
// Kernel command lines in variables of shell files: /etc/default/grub, dracut.conf(5).
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// A word of a command line.
struct PlacedWord {
  std::string text;
  Place where;
};

/// The variables of GRUB's and dracut's files: an assignment takes the place of an earlier one, unless it is
/// += or repeats its value ("$GRUB_CMDLINE_LINUX …").
class ShellVariables {
 public:
  explicit ShellVariables(Claims& claims) : claims_(claims) {}

  void line(std::string_view text, const Place& where);
  /// Appends the words of all command lines.
  void move_to(std::vector<PlacedWord>& words);

 private:
  /// Modules that dracut.conf(5) puts into the initramfs, or loads there.
  void tell_initramfs(std::string_view key, std::string_view value, const Place& where);

  Claims& claims_;
  std::map<std::string, std::vector<PlacedWord>> values_;
};

/// Before the key of a setting: "sysctl.net.ipv4.conf.all.arp_ignore=1".
inline constexpr std::string_view kSysctlWord = "sysctl.";

/// Whether the lines of a file are such variables.
bool is_shell(const File& file);

/// /etc/default/grub and dracut.conf are read before the files of their folders.
std::vector<const File*> in_order_of_shells(std::span<const File> files);

}  // namespace rdmacfg::foreign
