// SPDX-License-Identifier: Apache-2.0
// Mounted file systems of this host, and the servers of its own file systems. When a server cannot be
// reached, every program stops, including the one that would restore the link. Sources:
// proc_pid_mountinfo(5), proc_swaps(5), nfs(5).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "formats/storage/mount_table.hpp"
#include "model/types/inet_types.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// The file system in memory that holds an absolute path, so that the next boot loses what is written there:
/// "tmpfs", or an overlay whose changes are in memory. Empty where it is on a disk, or not known.
std::string memory_below(const std::string& path, const std::map<std::string, Mounted>& mounts);

/// A server that holds one of this host's own file systems, or the disk below it.
struct RootServer {
  model::IpAddress peer;
  std::optional<model::IpAddress> local;  ///< this host's end, where the kernel tells of it
  std::string where;                      ///< the mount point: "/"; "swap space" of a disk
};

/// The servers of /, /usr, /etc, /var and swap space: NFS (also below an overlay), and disks of iSCSI and of
/// NVMe over fabrics. Empty with --root; servers that cannot be determined are left out.
std::vector<RootServer> observe_root_servers(system::Host& host);

/// Indexes of the interfaces by which the servers are reached, according to the main routing table.
base::Result<std::set<int>> interfaces_to(const std::vector<RootServer>& servers, system::Host& host);

}  // namespace rdmacfg::kinds
