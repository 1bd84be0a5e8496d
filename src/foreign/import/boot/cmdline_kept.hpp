// SPDX-License-Identifier: Apache-2.0
// Words of the kernel command line for RDMA that belong to the initramfs or to systemd.
#pragma once

#include <string_view>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// Names a word by which the initramfs mounts NFS over RDMA, connects to a disk over iSER or boots from an
/// IPoIB interface (dracut.cmdline(7), nfsroot.rst), or by which systemd starts or masks a service of RDMA
/// (kernel-command-line(7)). @return whether it is such a word
bool tell_kept_word(const Place& where, std::string_view key, std::string_view value, Claims& claims);

}  // namespace rdmacfg::foreign
