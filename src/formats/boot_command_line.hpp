// SPDX-License-Identifier: Apache-2.0
// Kernel command lines of the next boot, as far as files say: those of GRUB's defaults, of kernel-install and
// of the boot loader specification. Sources: grub-mkconfig(8), kernel-install(8), the specification's type 1
// entries; systemd-debug-generator(8) of systemd.mask=.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "system/files.hpp"

namespace rdmacfg::kinds {

/// A command line that the next boot may have. Somebody may choose another entry than the default one, and
/// GRUB's defaults count when its configuration is made again.
struct BootCommandLine {
  std::string file;
  std::string text;   ///< of the file
  std::string words;  ///< as the kernel gets them

  /// The number of the first line with a word; 1 where it cannot be found.
  [[nodiscard]] int line_of(std::string_view word) const;
};

/// Unreadable files are passed over, and a /boot that is mounted only when it is accessed.
std::vector<BootCommandLine> boot_command_lines(system::Files& files);

/// The units that a command line masks (systemd.mask=), or starts beside those of the default target
/// (systemd.wants=), with their suffixes.
std::vector<std::string> units_masked_by(std::string_view command_line);
std::vector<std::string> units_wanted_by(std::string_view command_line);

/// The unit that a command line starts in place of default.target: by the last systemd.unit=, or the last
/// word of a runlevel or of maintenance ("3", "single", "rescue"). Empty where it has none. Sources:
/// kernel-command-line(7); main.c (parse_proc_cmdline_item()) and runlevel_to_target() of systemd.
std::string target_booted_by(std::string_view command_line);

/// The command line of the running kernel; empty where it cannot be read.
std::string running_command_line(system::Files& files);

}  // namespace rdmacfg::kinds
