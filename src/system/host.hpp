// SPDX-License-Identifier: Apache-2.0
// All ports to the host, gathered; and udevd, a small one.
#pragma once

#include <span>
#include <string>

#include "base/error.hpp"
#include "system/accounts.hpp"
#include "system/dcb.hpp"
#include "system/files.hpp"
#include "system/inet.hpp"
#include "system/initramfs.hpp"
#include "system/link.hpp"
#include "system/managers/network_manager.hpp"
#include "system/managers/networkd.hpp"
#include "system/managers/resolver.hpp"
#include "system/mlx4_ports.hpp"
#include "system/modules.hpp"
#include "system/packages.hpp"
#include "system/pci.hpp"
#include "system/rdma.hpp"
#include "system/rdma_admin.hpp"
#include "system/rdma_system.hpp"
#include "system/storage/iscsi.hpp"
#include "system/storage/lio.hpp"
#include "system/storage/nfsd.hpp"
#include "system/storage/nvme_host.hpp"
#include "system/storage/nvme_target.hpp"
#include "system/sysctl.hpp"
#include "system/timers.hpp"
#include "system/units.hpp"

namespace rdmacfg::system {

/// udevd.
class Udev {
 public:
  virtual ~Udev() = default;

  /// Makes udevd read its rules again now (systemd's ReloadUnit). No error when there is no udevd to tell.
  virtual base::Result<void> reload_rules() = 0;

  /// Has udevd apply its rules to these network interfaces again (a "change" event), without waiting for it.
  /// One that is not there is skipped.
  virtual base::Result<void> trigger(std::span<const std::string> interfaces) = 0;

  /// The same for the character devices of an RDMA device (umad, uverbs): the kernel sends no event for them
  /// when the device is renamed, and units such as srp_daemon_port@ wait for names that udev makes of the
  /// device's.
  virtual base::Result<void> trigger_rdma_device(const std::string& device) = 0;
};

/// Every port to the system that kinds may use. With `offline` only `files` may be used (--root).
struct Host {
  Links& links;
  Inet& inet;
  Resolver& resolver;
  NetworkManager& network_manager;
  Networkd& networkd;
  Ipoib& ipoib;
  Rdma& rdma;
  RdmaAdmin& rdma_admin;
  RdmaCm& rdma_cm;
  Files& files;
  Udev& udev;
  Units& units;
  Timers& timers;
  Modules& modules;
  Initramfs& initramfs;
  Dcb& dcb;
  Mlx4Ports& mlx4_ports;
  Nfsd& nfsd;
  NvmeTarget& nvme_target;
  NvmeHost& nvme_host;
  Iscsi& iscsi;
  Lio& lio;
  Accounts& accounts;
  Sysctl& sysctl;
  RdmaSystem& rdma_system;
  Pci& pci;
  Packages& packages;
  std::string boot_id;  ///< /proc/sys/kernel/random/boot_id
  bool offline = false;
  /// The run comes of an event, and only holds what was applied: a module that somebody has unloaded since is
  /// not loaded again.
  bool holding = false;
  /// The query is for a user other than root: kinds with a file that only root may read are omitted.
  bool for_others = false;
};

/// The observed links and devices, once per run.
struct Snapshot {
  std::vector<Link> links;
  std::vector<RdmaDevice> devices;
};

/// The network interfaces alone.
base::Result<std::vector<Link>> observe_links(Host& host);

/// Observes links and devices. Offline: nothing, successfully. Among devices with the same PCI address
/// or node GUID, the adapter itself comes first.
base::Result<Snapshot> observe(Host& host);

}  // namespace rdmacfg::system
