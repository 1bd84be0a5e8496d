// SPDX-License-Identifier: Apache-2.0
// The initial RAM file system, from which drivers may be loaded before the root file system is there.
// Sources: update-initramfs(8), dracut(8).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/error.hpp"

namespace rdmacfg::system {

class Initramfs {
 public:
  virtual ~Initramfs() = default;

  /// The command that an administrator would give: "update-initramfs -u -k all", "dracut -f", "sdbootutil
  /// mkinitrd"; nothing when no tool is installed. That of ostree wants a --track=FILE for each file.
  virtual std::optional<std::string> tool() = 0;

  /// Why this system does not let a service run the tool ("/boot is mounted read-only"), so that an
  /// administrator gives the command; nothing where rebuild() can do it.
  virtual std::optional<std::string> by_hand() = 0;

  /// Whether there is an image at all, or may be one where unseen() says; a machine may boot without one.
  virtual bool has_image() = 0;

  /// The folder of images that an automount keeps and nobody has mounted ("/boot"), where no image of the
  /// kernel that runs is elsewhere: then nobody knows how old it is. A look mounts nothing.
  virtual std::optional<std::string> unseen() { return std::nullopt; }

  /// Whether the image of the kernel that runs (below another root: of the newest there) was made after the
  /// last change of the given files and of their folders (a file that was removed changes its folder). False
  /// when that cannot be seen, as where unseen() has a folder. Images of crash and rescue kernels say
  /// nothing.
  virtual bool newer_than(std::span<const std::string> paths) = 0;

  /// A mark of each image while the clock is behind the time of one that boots this system, as without a
  /// battery: times then do not tell which is newer, an image or a file written now. Nothing while they do.
  virtual std::string marks_ahead_of_clock() { return {}; }

  /// Whether an image of the kernel that runs (as above) has one of these marks: it was not made since.
  virtual bool is_marked(const std::string& /*marks*/) { return false; }

  /// Has systemd run the tool by our own unit, and waits for it, at most a quarter of an hour. A tool that
  /// ends well but leaves every image as it was has failed.
  virtual base::Result<void> rebuild() = 0;
};

}  // namespace rdmacfg::system
