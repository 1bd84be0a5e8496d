// SPDX-License-Identifier: Apache-2.0
// The kernel's NFS server. Source: fs/nfsd/nfsctl.c (write_ports).
#pragma once

#include <optional>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::system {

class Nfsd {
 public:
  virtual ~Nfsd() = default;

  /// Ports on which it serves RDMA, sorted; nothing while it does not run.
  virtual base::Result<std::optional<std::vector<int>>> observe_rdma_ports() = 0;

  /// Has it serve RDMA on one more port, of all addresses; the kernel loads rpcrdma for it. Clients notice
  /// nothing. Fails while nfsd does not run. There is no way back but a restart of nfsd.
  virtual base::Result<void> listen_rdma(int port) = 0;
};

}  // namespace rdmacfg::system
