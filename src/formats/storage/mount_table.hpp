// SPDX-License-Identifier: Apache-2.0
// Mounted file systems, and lines of fstab. Sources: proc_pid_mountinfo(5), fstab(5); fs/nfs/super.c
// (nfs_show_mount_options).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "system/files.hpp"

namespace rdmacfg::kinds {

/// A file system where it is mounted.
struct Mounted {
  std::string source;                            ///< "192.0.2.1:/scratch"
  std::string type;                              ///< "nfs4"
  std::map<std::string, std::string> options{};  ///< of the file system; a word without a value has none
  bool read_only = false;                        ///< the file system, or this mount of it

  [[nodiscard]] bool is_nfs() const { return type == "nfs" || type == "nfs4"; }
};

/// By path; of several mounts over each other, the last.
std::map<std::string, Mounted> parse_mountinfo(std::string_view text);

/// Mounts by their paths, as the host's first process has them: a service may see less. A caller who may not
/// read those sees its own.
std::map<std::string, Mounted> observe_mounts(system::Files& files);

/// The mount that an absolute path is on; nullptr when it is not known.
const Mounted* mount_of(std::string_view path, const std::map<std::string, Mounted>& mounts);

/// Whether any user can have mounted it, with any text as its source, so that this names no disk.
bool is_anybodys(const Mounted& mounted);

/// Whether looking at the path would have systemd or autofs mount something there (systemd.automount(5)).
bool waits_for_access(std::string_view path, const std::map<std::string, Mounted>& mounts);

/// "192.0.2.1:/scratch rdma 20049": the source of an NFS mount, its transport and port.
std::string text_of_nfs(const Mounted& mounted);

/// Options that an NFS mount has with other values than those wanted: "vers=3". Only those that the kernel
/// shows as they were given; values that a server may bound (rsize, wsize) are not compared.
std::vector<std::string> other_options(const std::vector<std::string>& wanted, const Mounted& mounted);

/// Numbers of the lines of fstab, by path; the first one for each.
std::map<std::string, int> parse_fstab(std::string_view text);

}  // namespace rdmacfg::kinds
