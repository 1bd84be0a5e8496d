// SPDX-License-Identifier: Apache-2.0
// Where tools put an initramfs. Sources: update-initramfs(8), dracut(8), the Boot Loader Specification.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace rdmacfg::system::detail {

using FileTime = std::pair<std::time_t, long>;

/// A file as it is: one that was written again, or replaced, has another stamp.
struct ImageStamp {
  ino_t inode = 0;
  off_t size = 0;
  FileTime changed;   ///< st_ctim, which nobody can set
  FileTime modified;  ///< st_mtim
  std::string
      release{};  ///< of the kernel that it is for ("6.1.0-18-amd64"); empty when its name does not tell
  bool operator==(const ImageStamp&) const = default;
};

using Images = std::map<std::filesystem::path, ImageStamp>;

/// Every initramfs (and unified kernel image) below /boot and /efi of `root`.
Images observe_images(const std::filesystem::path& root);

/// Those of `all` that a kernel boots the system from, not those of crash and rescue kernels: of the kernel
/// with this release (uname -r); without one, as below another root, of the newest that there is. Where none
/// is of that kernel, those whose name tells none (initramfs-linux.img).
Images boot_images(const Images& all, const std::optional<std::string>& release);

/// Whether systems are booted with images of more than one kernel.
bool of_several_kernels(const Images& all);

/// Whether one of `after` was made since `before`.
bool made_anew(const Images& before, const Images& after);

/// Waits until the disk has those of `after` that were made since `before`: not every tool does. An image
/// that cannot be opened is passed over.
base::Result<void> sync_made(const Images& before, const Images& after);

}  // namespace rdmacfg::system::detail
