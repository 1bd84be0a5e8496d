// SPDX-License-Identifier: Apache-2.0
// The port to files of the host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::system {

/// By whom a file of ours may be read.
enum class Readers { kEverybody, kRoot };

/// Files of the host, all below one root (--root). Paths are absolute, as on the host: "/etc/udev/rules.d/x".
class Files {
 public:
  virtual ~Files() = default;

  /// Nothing when it does not exist. Fails on anything but a regular file of at most 4 MiB, or
  /// limits::kRecordBytes for one in /var/lib/rdma-configd or /run/rdma-configd itself.
  virtual base::Result<std::optional<std::string>> read(const std::string& path) = 0;

  /// Makes the file hold exactly `content` with mode 0644, root-owned: temporary file, fsync, rename, fsync
  /// of the folder. Never through a symlink, never when it is the same already. Missing folders are made.
  /// One that was there keeps its SELinux label, and its mode and group where those let fewer read it; a new
  /// one gets the label that the policy has for it. One that this process has removed comes back for as few.
  virtual base::Result<void> write(const std::string& path, std::string_view content) = 0;

  /// The same with mode 0600, for files whose readers insist on it (NetworkManager's keyfiles).
  virtual base::Result<void> write_private(const std::string& path, std::string_view content) = 0;

  /// write() for a file of others with lines of ours in it: one that is there keeps its owner, group, mode,
  /// access control list and label, as far as this process may give a file away.
  virtual base::Result<void> edit(const std::string& path, std::string_view content) {
    return write(path, content);
  }

  /// How its mode and owner differ from what write(), for kRoot write_private(), makes of them: "mode 0666".
  /// Empty where they do not, where it does not exist, or where it is not known.
  virtual std::string odd_access(const std::string& /*path*/, Readers /*readers*/) { return {}; }

  /// While set, the content comes from a document that only root may read: files that write() creates, and
  /// those of ours that are there, get mode 0600. Except below /etc/systemd, whose readers are not all root,
  /// and where nothing is written that the kernel or systemd does not show to everybody.
  virtual void keep_private(bool /*is_private*/) {}

  /// Whether it is there and not everybody may read it, by its mode and those of the folders on the way to
  /// it, symbolic links followed. Also where its mode cannot be known, other than of a missing file.
  virtual bool hidden(const std::string& /*path*/) { return false; }

  /// Gives the entry `from`, of whatever type, the name `to` in the same folder, replacing a file of that
  /// name. Needs no space on the disk. No error when `from` does not exist.
  virtual base::Result<void> rename(const std::string& from, const std::string& to) = 0;

  /// Has the disk take what was renamed in a folder and removed from it, for a process that was killed before
  /// it could. No error when there is no such folder.
  virtual base::Result<void> sync(const std::string& /*folder*/) { return {}; }

  /// No error when it does not exist. A temporary file (temporary_file.hpp) that a living process writes
  /// stays.
  virtual base::Result<void> remove(const std::string& path) = 0;

  /// read() of a file of others that may be a symbolic link, as the programs that it is for read it.
  virtual base::Result<std::optional<std::string>> read_linked(const std::string& path) { return read(path); }

  /// Names of the entries of a folder, sorted; empty when there is no such folder.
  virtual base::Result<std::vector<std::string>> list(const std::string& folder) = 0;

  /// Whether it is a symbolic link to /dev/null, by which systemd and udev are told to take no file of that
  /// name.
  virtual bool masks(const std::string& /*path*/) { return false; }

  /// The target of a symbolic link, as it is written there; empty where it is none, or is not known.
  virtual std::string link_target(const std::string& /*path*/) { return {}; }

  /// When it was created (statx(2), btime): microseconds of CLOCK_REALTIME. Nothing where the file system
  /// does not know, as devtmpfs before Linux 6.0, or where it does not exist.
  virtual std::optional<std::uint64_t> born(const std::string& /*path*/) { return std::nullopt; }

  /// When its content was last written (stat(2), mtime): microseconds of CLOCK_REALTIME, symbolic links
  /// followed. Nothing where that is not known, or where it does not exist.
  virtual std::optional<std::uint64_t> modified(const std::string& /*path*/) { return std::nullopt; }

  /// Whether another user than root owns it, or others may read or write it; false where it is not known.
  virtual bool open_to_others(const std::string& /*path*/) { return false; }

  /// Whether it is there and nobody may execute it, symbolic links followed; false where it is not known.
  virtual bool not_executable(const std::string& /*path*/) { return false; }
};

/// Of an error of read(): it is there, and no regular file, or longer than what is read.
inline bool is_unusable(const base::Error& error) {
  return error.code == base::Code::kIo && error.sys_errno == 0;
}

}  // namespace rdmacfg::system
