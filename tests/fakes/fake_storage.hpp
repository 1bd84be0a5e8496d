// SPDX-License-Identifier: Apache-2.0
// Fakes of storage over RDMA: the kernel's NFS server as rpc.nfsd of nfs-server.service starts it, and
// nvmet's configfs as Linux 6.1 has it (drivers/nvme/target/configfs.c), and NVMe targets elsewhere, which
// nvmf-autoconnect.service connects to as nvme-cli 2.3 does, iSER targets elsewhere, and LIO's.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fakes/faults.hpp"
#include "fakes/memory_files.hpp"
#include "fakes/services/fake_units.hpp"
#include "system/storage/iscsi.hpp"
#include "system/storage/lio.hpp"
#include "system/storage/nfsd.hpp"
#include "system/storage/nvme_host.hpp"
#include "system/storage/nvme_target.hpp"

namespace rdmacfg::fakes {

/// It runs while nfs-server.service does, with the listeners that nfs.conf has at its start and those that
/// were added since. A test may have it run without a unit.
class FakeNfsd final : public system::Nfsd {
 public:
  FakeNfsd(Faults& faults, MemoryFiles& files, FakeUnits& units)
      : faults_(faults), files_(files), units_(units) {}

  bool by_hand = false;  ///< it runs, and not by its unit
  bool hidden = false;   ///< /proc/fs/nfsd cannot be seen, as in a service with a /proc of its own
  int listen_error = 0;  ///< of every new listener

  [[nodiscard]] std::string dump() const;

  base::Result<std::optional<std::vector<int>>> observe_rdma_ports() override;
  base::Result<void> listen_rdma(int port) override;

 private:
  bool runs() const;

  Faults& faults_;
  MemoryFiles& files_;
  FakeUnits& units_;
  mutable int starts_seen_ = 0;
  mutable std::set<int> ports_;  // taken from the files at the first question after a start
};

class FakeNvmeTarget final : public system::NvmeTarget {
 public:
  explicit FakeNvmeTarget(Faults& faults) : faults_(faults) {}

  bool loaded = false;
  std::map<std::string, system::NvmeSubsystem> subsystems;
  std::map<int, system::NvmePort> ports;
  std::set<std::string> hosts;            ///< the kernel's objects of hosts
  std::set<std::string> missing_devices;  ///< paths at which there is no device
  int looks = 0;                          ///< how often it was observed

  void reboot();
  [[nodiscard]] std::string dump() const;

  base::Result<std::optional<system::NvmeTargetState>> observe() override;
  base::Result<void> start() override;
  base::Result<void> make_subsystem(const std::string& nqn) override;
  base::Result<void> remove_subsystem(const std::string& nqn) override;
  base::Result<void> set_any_host(const std::string& nqn, bool any) override;
  base::Result<void> allow_host(const std::string& nqn, const std::string& host) override;
  base::Result<void> disallow_host(const std::string& nqn, const std::string& host) override;
  base::Result<void> make_namespace(const std::string& nqn, const system::NvmeNamespace& wanted) override;
  base::Result<void> remove_namespace(const std::string& nqn, int nsid) override;
  base::Result<void> make_port(const system::NvmePort& port) override;
  base::Result<void> remove_port(int id) override;
  base::Result<void> offer(int port, const std::string& nqn) override;
  base::Result<void> withdraw(int port, const std::string& nqn) override;

 private:
  base::Result<void> call(const std::string& what, const std::function<int()>& effect);
  /// The effect on a subsystem that is there.
  base::Result<void> change(const std::string& nqn, const std::string& what,
                            const std::function<int(system::NvmeSubsystem&)>& effect);

  Faults& faults_;
};

/// Each start of nvmf-autoconnect.service connects what the targets of discovery.conf offer and is not
/// connected yet; the unit does not fail for a target that is away.
class FakeNvmeHost final : public system::NvmeHost {
 public:
  FakeNvmeHost(Faults& faults, MemoryFiles& files, FakeUnits& units);

  /// Subsystems that an address offers at every port, as nvmet does: each at the port of its discovery
  /// controller. "ADDRESS PORT": those of one port.
  std::map<std::string, std::vector<std::string>> targets;
  std::vector<system::NvmeController> controllers;
  std::map<std::string, std::vector<system::DiskUse>> used;  ///< uses() by subsystem
  std::set<std::string> multipath;  ///< subsystems whose disks stay while a controller of theirs does
  int looks = 0;                    ///< how often it was observed, or asked for uses

  void reboot() { controllers.clear(); }
  [[nodiscard]] std::string dump() const;

  base::Result<std::vector<system::NvmeController>> observe() override {
    ++looks;
    return controllers;
  }
  base::Result<std::vector<system::DiskUse>> uses(const std::vector<std::string>& names) override;
  base::Result<void> disconnect(const std::string& name) override;

 private:
  void connect_all();

  Faults& faults_;
  MemoryFiles& files_;
};

/// Each start of iser-sessions.service does what iscsiadm does by its text, as systemd has read it: portals
/// that answer are logged in to, those that are to go are logged out and lose their record. The unit does not
/// fail for a target that is away.
class FakeIscsi final : public system::Iscsi {
 public:
  explicit FakeIscsi(FakeUnits& units);

  std::set<std::string> targets;  ///< that answer: "iqn.2026-01.org.example:a 192.0.2.1:3260,1"
  std::set<std::string> records;  ///< of our interface
  std::vector<system::IscsiSession> sessions;
  std::map<std::string, std::vector<system::DiskUse>> used;  ///< uses() by target
  std::set<std::string> multipath;  ///< targets whose disks stay while a session with them does
  bool stuck = false;               ///< nobody can be logged out
  std::string boot_id;              ///< of the kernel
  int looks = 0;                    ///< how often it was observed, or asked for uses

  void reboot() { sessions.clear(); }
  [[nodiscard]] std::string dump() const;

  base::Result<std::vector<system::IscsiSession>> observe() override {
    ++looks;
    return sessions;
  }
  base::Result<std::vector<system::DiskUse>> uses(const std::vector<std::string>& names) override;

 private:
  void run_iscsiadm();

  FakeUnits& units_;
};

/// The kernel's SCSI target as Linux 6.1 has it (drivers/target).
class FakeLio final : public system::Lio {
 public:
  explicit FakeLio(Faults& faults) : faults_(faults) {}

  bool loaded = false;
  std::map<std::string, system::LioBackstore> backstores;
  std::map<system::LioTargetId, system::LioTarget> targets;
  std::set<std::string> missing;  ///< paths of devices and files that are not there
  std::set<std::string> no_rdma;  ///< portals of whose address no RDMA device knows
  int looks = 0;                  ///< how often it was observed

  void reboot();
  [[nodiscard]] std::string dump() const;

  base::Result<std::optional<system::LioState>> observe() override;
  base::Result<void> start(const std::string& fabric) override;
  base::Result<void> make_backstore(const system::LioBackstore& wanted) override;
  base::Result<void> remove_backstore(const std::string& id) override;
  base::Result<void> make_target(const system::LioTargetId& target) override;
  base::Result<void> remove_group(const system::LioTargetId& target) override;
  base::Result<void> remove_target(const system::LioTargetId& target) override;
  base::Result<void> enable(const system::LioTargetId& target, bool enabled) override;
  base::Result<void> allow_any(const system::LioTargetId& target) override;
  base::Result<void> make_lun(const system::LioTargetId& target, const system::LioLun& lun) override;
  base::Result<void> remove_lun(const system::LioTargetId& target, int number) override;
  base::Result<void> make_acl(const system::LioTargetId& target, const std::string& initiator) override;
  base::Result<void> remove_acl(const system::LioTargetId& target, const std::string& initiator) override;
  base::Result<void> map(const system::LioTargetId& target, const std::string& initiator,
                         const system::LioMapping& mapping) override;
  base::Result<void> unmap(const system::LioTargetId& target, const std::string& initiator,
                           int number) override;
  base::Result<void> make_portal(const system::LioTargetId& target, const system::LioPortal& portal) override;
  base::Result<void> remove_portal(const system::LioTargetId& target, const std::string& name) override;

 private:
  base::Result<void> call(const std::string& what, const std::function<int()>& effect);
  /// The effect on a target that is there.
  base::Result<void> change(const system::LioTargetId& target, const std::string& what,
                            const std::function<int(system::LioTarget&)>& effect);

  Faults& faults_;
};

}  // namespace rdmacfg::fakes
