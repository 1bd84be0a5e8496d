// SPDX-License-Identifier: Apache-2.0
// Where tools put an initramfs. Sources: update-initramfs(8), dracut(8), the Boot Loader Specification.
#pragma once

#include <sys/types.h>

#include <array>
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

/// Where images are: /boot, /efi, /boot/efi.
inline constexpr std::array<std::string_view, 3> kImageFolders{"/boot", "/efi", "/boot/efi"};

/// Every initramfs (and unified kernel image) below these folders of `root`, links followed within it. A
/// folder that an automount of the table `mounts` (proc_mounts(5)) keeps is left out, and not mounted.
Images observe_images(const std::filesystem::path& root, const std::filesystem::path& mounts = {});

/// The first of kImageFolders that an automount keeps which nothing has mounted.
std::optional<std::string> unmounted_image_folder(const std::filesystem::path& mounts);

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
