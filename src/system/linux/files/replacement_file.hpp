// SPDX-License-Identifier: Apache-2.0
// The temporary file that Files::write renames over another one, and who else is about to do so.
#pragma once

#include <string>

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "system/linux/files/file_place.hpp"

namespace rdmacfg::system::detail {

/// A new file of a name that nobody guesses, in the same folder so that it can be renamed over the other.
/// Removed with the object, unless its name is cleared.
struct ReplacementFile {
  const FilePlace& place;
  std::string name;
  base::UniqueFd file;

  explicit ReplacementFile(const FilePlace& where) : place(where) {}
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;
  ~ReplacementFile();

  /// Makes it, with mode 0600 and the label of the place, and locks it until it is closed. Fails with errno
  /// of openat(2) or getrandom(2).
  base::Result<void> create();
};

/// Whether a process that lives is about to rename this temporary file: the daemon writes its own records
/// while its worker, or an apply of root, clears away what killed runs have left.
/// @param held the file, locked so that nobody begins to write it; to be kept until it is removed
bool is_being_written(const FilePlace& place, base::UniqueFd& held);

}  // namespace rdmacfg::system::detail
