// SPDX-License-Identifier: Apache-2.0
// Mounts of NFS over RDMA (nfs(5)) in files that stay in force: the document refuses an entry for a path that
// one of them mounts, too.
#pragma once

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// Lines of fstab(5).
void tell_fstab(const File& file, Claims& claims);

/// A mount unit of systemd that is not ours (systemd.mount(5)).
void tell_mount_unit(const File& file, Claims& claims);

/// Lines of a map of automount(8).
void tell_automounts(const File& file, Claims& claims);

}  // namespace rdmacfg::foreign
