// SPDX-License-Identifier: Apache-2.0
// Lines by which systemd-tmpfiles writes, replaces or removes files at every boot. Sources: tmpfiles.d(5);
// src/tmpfiles/tmpfiles.c of systemd (parse_line(), create_item(), remove_item()).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "system/files.hpp"

namespace rdmacfg::kinds {

struct TmpfilesLine {
  enum class Act {
    kWrite,    ///< the argument, into a file that is there ("w", "w+"), or one that is made ("f+", "F")
    kReplace,  ///< by a link or a copy ("L+", "C+")
    kRemove,   ///< "r", "R", or what is below it ("D")
  };
  std::string file;
  int line = 0;
  Act act = Act::kWrite;
  bool below = false;  ///< also files below the path ("R", "D")
  std::string path;    ///< of a write and a removal a pattern
  std::string argument;

  /// Whether it is about this file.
  [[nodiscard]] bool concerns(std::string_view other) const;
};

/// Those of all folders in the order of systemd-tmpfiles. Lines that only make what is missing ("f", "L",
/// "C") are left out. Unreadable files are passed over.
std::vector<TmpfilesLine> tmpfiles_lines(system::Files& files);

}  // namespace rdmacfg::kinds
