// SPDX-License-Identifier: Apache-2.0
// Whether others than root can say what a file holds, or read it. As sudo and sshd judge their files
// (sshd_config(5), StrictModes): owner and mode of the file, and of every folder on the way to it.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

namespace rdmacfg::config {

/// Why others than root, or the user that this program runs as, can write to what has this status, which is
/// called `object`; empty when they cannot. Access control lists count: their mask is in the group's bits.
std::string written_by_others(const struct stat& status, std::string_view object);

/// The folders on the way to a file.
struct PathTrust {
  /// The first one that others can write to, so that they can put another file in its place, and how; empty
  /// when there is none.
  std::string written_by_others;
  bool closed = false;  ///< not everybody can go through all of them, so nor read the file, whatever its mode
};

/// The way from the folder `root` to the file `below` it; symbolic links are followed, absolute ones from
/// `root`. `root` itself closes none: that of an image is not where it will be.
PathTrust path_trust(int root, std::string_view below);

}  // namespace rdmacfg::config
