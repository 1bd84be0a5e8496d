// SPDX-License-Identifier: Apache-2.0
// A file by its folder and name, and how it is read: regular files alone, each no longer than its limit.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/unique_fd.hpp"

namespace rdmacfg::system::detail {

struct FilePlace {
  base::UniqueFd folder;
  std::string name;
  std::string path;   ///< as on the host
  std::string shown;  ///< with the root in front
};

struct FileContent {
  std::string text;
  struct stat status {};
  base::UniqueFd file;
};

/// The sort of a file that is not a regular one: "a symbolic link", "a FIFO".
std::string_view sort_of(mode_t mode);

/// The greatest length of a file in bytes, by its path on the host.
std::size_t length_limit(std::string_view path);

/// The target of a symbolic link; empty when it is not one.
std::string link_of(const FilePlace& place);

/// The file's content; nothing when it is not there. Fails for what is not a regular file, without opening
/// it, for a file that is longer than its limit (kIo), and with errno where it cannot be read.
base::Result<std::optional<FileContent>> read_place(const FilePlace& place);

}  // namespace rdmacfg::system::detail
