// SPDX-License-Identifier: Apache-2.0
// Mounted file systems of this host, and the hosts that its own file systems come from. Without the way to
// these every program stops, also the one that would restore it. Sources: proc_pid_mountinfo(5), nfs(5).
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

/// Mounts by their paths, as the host's first process has them: a service may see less. A caller who may not
/// read those sees its own.
std::map<std::string, Mounted> observe_mounts(system::Files& files);

/// Whether what is written to a path (absolute) is gone with the next boot, as it is in memory: "tmpfs", or
/// an overlay whose changes are. Empty where it is not, or not known.
std::string memory_below(const std::string& path, const std::map<std::string, Mounted>& mounts);

/// Another host that a file system of this one comes from.
struct RootServer {
  model::IpAddress peer;
  std::optional<model::IpAddress> local;  ///< this host's end, where the kernel tells of it
  std::string where;                      ///< of its file systems: "/"
};

/// Those of /, /usr, /etc and /var: NFS (also below an overlay), and disks of iSCSI and of NVMe over fabrics.
/// None that cannot be told, and none with --root.
std::vector<RootServer> observe_root_servers(system::Host& host);

/// Indexes of the interfaces by which these are reached: as the main routing table has it.
base::Result<std::set<int>> interfaces_to(const std::vector<RootServer>& servers, system::Host& host);

}  // namespace rdmacfg::kinds
