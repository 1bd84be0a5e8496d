// SPDX-License-Identifier: Apache-2.0
// The kernel's SCSI target (LIO), which offers disks to initiators over iSCSI, with iSER, and SRP. Sources:
// drivers/target/target_core_configfs.c, drivers/target/target_core_fabric_configfs.c,
// drivers/target/iscsi/iscsi_target_configfs.c, drivers/infiniband/ulp/srpt/ib_srpt.c.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::system {

/// A disk that LUNs of any target stand for: a block device, a file, or something that only others make.
struct LioBackstore {
  std::string id;      ///< configfs' folder of it: "iblock_49152/NAME", "fileio_0/NAME"
  std::string path;    ///< its device or file; empty when it has none
  std::string serial;  ///< unit serial number, by which initiators know the disk
  bool enabled = false;
};

struct LioLun {
  int number = 0;
  std::string backstore;  ///< its id; empty: none is behind it
};

/// A LUN as one initiator sees it.
struct LioMapping {
  int number = 0;  ///< that the initiator sees
  int lun = 0;     ///< of the target
  bool read_only = false;
  bool operator==(const LioMapping&) const = default;
};

/// An initiator that may log in.
struct LioAcl {
  std::string initiator;           ///< iSCSI name, or SRP's initiator port identifier: "0x…", 32 digits
  std::vector<LioMapping> luns{};  ///< by number
  bool logged_in = false;          ///< told of iSCSI alone
  bool has_secret = false;         ///< whether a name and secret of CHAP are set for it
};

/// An address that an iSCSI target listens on, with TCP and, if wanted, iSER.
struct LioPortal {
  std::string name;  ///< configfs' name of it: "192.0.2.1:3260", "[2001:db8::1]:3260"
  bool iser = false;
};

struct LioTargetId {
  std::string fabric;  ///< "iscsi" or "srpt"
  std::string wwn;  ///< iSCSI name; of SRP the port's GID, "0x…", 32 digits (others may have its GUID there)
  auto operator<=>(const LioTargetId&) const = default;
};

/// A target with its first portal group; `groups` says how many there are.
struct LioTarget {
  LioTargetId id;
  int groups = 1;
  bool enabled = false;
  bool any_initiator = false;    ///< whether initiators without an ACL may log in; never of SRP
  bool authentication = false;   ///< whether CHAP is asked for
  bool write_protected = false;  ///< whether initiators without an ACL may only read
  std::vector<LioLun> luns{};    ///< by number
  std::vector<LioAcl> acls{};    ///< by name
  std::vector<LioPortal> portals{};
  std::vector<std::string> guests{};  ///< initiators that are logged in without an ACL
};

struct LioState {
  std::vector<LioBackstore> backstores;  ///< by id
  std::vector<LioTarget> targets;        ///< by id
};

/// A request that changes nothing succeeds.
class Lio {
 public:
  virtual ~Lio() = default;

  /// Nothing while the module target_core_mod is not loaded. Loads nothing.
  virtual base::Result<std::optional<LioState>> observe() = 0;

  /// Loads the modules of a fabric and mounts configfs.
  virtual base::Result<void> start(const std::string& fabric) = 0;

  /// Makes and enables it; "iblock" claims the device for itself, and is refused while this host uses it. A
  /// file must be there: its size is the disk's.
  virtual base::Result<void> make_backstore(const LioBackstore& wanted) = 0;
  /// It has no LUN any more.
  virtual base::Result<void> remove_backstore(const std::string& id) = 0;

  /// Makes it with portal group 1, disabled and without CHAP. Of SRP, the kernel has its port (kNotFound).
  virtual base::Result<void> make_target(const LioTargetId& target) = 0;
  /// It is empty, and stays without a portal group. Of iSCSI; the initiators that were seen without an ACL go
  /// with it.
  virtual base::Result<void> remove_group(const LioTargetId& target) = 0;
  /// It is empty.
  virtual base::Result<void> remove_target(const LioTargetId& target) = 0;
  /// Disabling ends all sessions.
  virtual base::Result<void> enable(const LioTargetId& target, bool enabled) = 0;
  /// Has initiators without an ACL read and write; those that were seen may go on to when it is taken back,
  /// until the portal group goes.
  virtual base::Result<void> allow_any(const LioTargetId& target) = 0;

  /// `lun.backstore` is enabled, or empty.
  virtual base::Result<void> make_lun(const LioTargetId& target, const LioLun& lun) = 0;
  /// It is mapped to nobody any more.
  virtual base::Result<void> remove_lun(const LioTargetId& target, int number) = 0;

  virtual base::Result<void> make_acl(const LioTargetId& target, const std::string& initiator) = 0;
  /// Ends the initiator's sessions. Mappings that are left of an interrupted map() go with it.
  virtual base::Result<void> remove_acl(const LioTargetId& target, const std::string& initiator) = 0;
  virtual base::Result<void> map(const LioTargetId& target, const std::string& initiator,
                                 const LioMapping& mapping) = 0;
  virtual base::Result<void> unmap(const LioTargetId& target, const std::string& initiator, int number) = 0;

  /// Of iSCSI alone. iSER needs an RDMA device with the address.
  virtual base::Result<void> make_portal(const LioTargetId& target, const LioPortal& portal) = 0;
  virtual base::Result<void> remove_portal(const LioTargetId& target, const std::string& name) = 0;
};

}  // namespace rdmacfg::system
