// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace rdmacfg::system {

/// How names of the files begin that Files::write renames over others; six letters or digits follow. A killed
/// run leaves one.
inline constexpr std::string_view kTemporaryFile = ".rdma-configd-";

/// Whether a file has such a name, as ".rdma-configd-notes.toml" of an administrator has not.
inline bool is_temporary_file(std::string_view name) {
  constexpr std::size_t kLetters = 6;
  if (!name.starts_with(kTemporaryFile) || name.size() != kTemporaryFile.size() + kLetters) return false;
  const auto random = name.substr(kTemporaryFile.size());
  return std::all_of(random.begin(), random.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

}  // namespace rdmacfg::system
