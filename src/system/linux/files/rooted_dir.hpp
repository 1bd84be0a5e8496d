// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/unique_fd.hpp"

namespace rdmacfg::system::detail {

/// Folders of the tree below a root, within which absolute symbolic links and ".." stay (openat2(2),
/// Linux 5.6). Root "/" does without openat2.
class RootedDir {
 public:
  /// Symbolic links on the way to a folder of the machine's own root: all are followed, for reading; or those
  /// alone that are relative and stay below the top folder, such as /etc, for writing.
  enum class Links { kFollowed, kInside };

  explicit RootedDir(std::filesystem::path root) : root_(std::move(root)) {}

  /// Opens a folder for reading; `path` is absolute, as on the host.
  [[nodiscard]] base::Result<base::UniqueFd> open(const std::string& path,
                                                  Links links = Links::kFollowed) const;

  /// A folder to write in, after making what is missing of it with mode 0755.
  [[nodiscard]] base::Result<base::UniqueFd> make(const std::string& path) const;

  /// Of what a path leads to, symbolic links followed, without opening it; nothing where that is not there
  /// or cannot be looked at. Mounts no automount that is the last part of the path.
  [[nodiscard]] std::optional<struct stat> status(const std::string& path) const;

  /// With the root in front, as an administrator finds it.
  [[nodiscard]] std::string shown(const std::string& path) const;

 private:
  /// Follows all links, below another root those within it.
  [[nodiscard]] base::UniqueFd open_followed(int root, const std::string& below, int flags) const;
  [[nodiscard]] base::Result<base::UniqueFd> open_inside(int root, const std::string& below) const;

  std::filesystem::path root_;
};

}  // namespace rdmacfg::system::detail
