// SPDX-License-Identifier: Apache-2.0
// Settings of dracut that keep files and modules out of an initramfs. Sources: dracut.conf(5); dracut.sh (the
// order of its files); modules.d/*base and *kernel-modules (/etc/modprobe.d), *udev-rules and *systemd-udevd
// (/etc/udev/rules.d).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "system/files.hpp"

namespace rdmacfg::kinds {

struct DracutConf {
  struct Place {
    std::string file;
    int line = 0;
  };
  std::set<std::string, std::less<>> omitted_modules;  ///< omit_dracutmodules
  std::set<std::string, std::less<>> installed_files;  ///< install_items
  /// The line hostonly=no, if it is the last: images have nothing of /etc/modprobe.d and /etc/udev/rules.d
  /// then.
  std::optional<Place> generic;
};

/// Of dracut.conf, and of the files of all folders in the order of their names, numbers by their value.
/// Unreadable files are passed over.
DracutConf read_dracut_conf(system::Files& files);

}  // namespace rdmacfg::kinds
