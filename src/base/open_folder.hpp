// SPDX-License-Identifier: Apache-2.0
// Folders for readdir(3) that close themselves.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

namespace rdmacfg::base {

using OpenFolder = std::unique_ptr<DIR, int (*)(DIR*)>;

/// fdopendir(3) that owns the descriptor also when it fails, with errno. -1 gives nothing, and leaves errno.
inline OpenFolder open_folder(int fd) {
  DIR* folder = fd < 0 ? nullptr : ::fdopendir(fd);
  if (folder == nullptr && fd >= 0) {
    const int error = errno;
    ::close(fd);
    errno = error;
  }
  return {folder, &::closedir};
}

}  // namespace rdmacfg::base
