// SPDX-License-Identifier: Apache-2.0
// The kernel's NVMe host: controllers of targets that this host is connected to. Sources:
// drivers/nvme/host/sysfs.c (core.c before Linux 6.4), multipath.c and fabrics.c.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "system/storage/disk_use.hpp"

namespace rdmacfg::system {

struct NvmeController {
  std::string name;       ///< "nvme0", until it is disconnected
  std::string subsystem;  ///< its NQN
  std::string transport;  ///< "rdma", "tcp"; "pcie" for one that nobody connects
  std::string address;    ///< of the target: "192.0.2.1"
  std::string service;    ///< port, "4420"
  std::string state;      ///< "live", "connecting", "resetting", "deleting", "dead"
};

class NvmeHost {
 public:
  virtual ~NvmeHost() = default;

  /// Those of fabrics, by name. None while the module is not loaded. Loads nothing.
  virtual base::Result<std::vector<NvmeController>> observe() = 0;

  /// Users of the disks that go when all these controllers do: "/dev/nvme0n1p1 is mounted on /scratch".
  /// Nothing of disks that stay, as a controller that is not among them leads to the same subsystem.
  virtual base::Result<std::vector<DiskUse>> uses(const std::vector<std::string>& names) = 0;

  /// Disconnects the controller and waits until it is gone. Succeeds if it does not exist.
  virtual base::Result<void> disconnect(const std::string& name) = 0;
};

}  // namespace rdmacfg::system
