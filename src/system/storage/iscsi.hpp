// SPDX-License-Identifier: Apache-2.0
// The kernel's iSCSI initiator: sessions with targets, whoever logged in. Sources:
// drivers/scsi/scsi_transport_iscsi.c, drivers/infiniband/ulp/iser/iscsi_iser.c.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "system/storage/disk_use.hpp"

namespace rdmacfg::system {

struct IscsiSession {
  std::string name;        ///< "session3", until the logout
  std::string target;      ///< "iqn.2026-01.org.example:disk"
  std::string address;     ///< that was logged in to: "192.0.2.1", also where a host name was given
  std::int64_t port = 0;   ///< 3260
  std::int64_t group = 0;  ///< tag of the target's portal group
  std::string transport;   ///< "iser", "tcp", …
  std::string interface;   ///< of open-iscsi (iface.iscsi_ifacename), no netdev: "default", "iser"
  std::string state;       ///< "LOGGED_IN", "FAILED" (the connection is lost), "FREE"
};

class Iscsi {
 public:
  virtual ~Iscsi() = default;

  /// By name. None while no transport is loaded. Loads nothing.
  virtual base::Result<std::vector<IscsiSession>> observe() = 0;

  /// Users of the disks that go when all these sessions do: "/dev/sdb1 is mounted on /scratch". Nothing of a
  /// multipath device that has another path.
  virtual base::Result<std::vector<DiskUse>> uses(const std::vector<std::string>& names) = 0;
};

}  // namespace rdmacfg::system
