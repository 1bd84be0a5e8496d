// SPDX-License-Identifier: Apache-2.0
// The kernel's NVMe target, which offers block devices to hosts over a network. Source:
// drivers/nvme/target/configfs.c.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::system {

/// A block device or file that a subsystem offers.
struct NvmeNamespace {
  int nsid = 0;
  std::string device;
  std::string uuid;
  bool enabled = false;
};

struct NvmeSubsystem {
  std::string nqn;
  bool any_host = false;
  std::vector<std::string> hosts;         ///< NQNs, sorted
  std::vector<NvmeNamespace> namespaces;  ///< by number
};

/// An address that the target listens on; it does while a subsystem is offered there.
struct NvmePort {
  int id = 0;             ///< configfs' name of it
  std::string transport;  ///< "rdma", "tcp"
  std::string family;     ///< "ipv4", "ipv6"
  std::string address;
  std::string service;                  ///< port, "4420"
  std::vector<std::string> subsystems;  ///< NQNs, sorted
};

struct NvmeTargetState {
  std::vector<NvmeSubsystem> subsystems;  ///< by NQN
  std::vector<NvmePort> ports;            ///< by id
};

/// A request that changes nothing succeeds.
class NvmeTarget {
 public:
  virtual ~NvmeTarget() = default;

  /// Nothing while the module nvmet is not loaded. Loads nothing.
  virtual base::Result<std::optional<NvmeTargetState>> observe() = 0;

  /// Loads nvmet and mounts configfs.
  virtual base::Result<void> start() = 0;

  virtual base::Result<void> make_subsystem(const std::string& nqn) = 0;
  /// It has no namespaces, hosts or ports any more.
  virtual base::Result<void> remove_subsystem(const std::string& nqn) = 0;

  /// Refused while hosts are named.
  virtual base::Result<void> set_any_host(const std::string& nqn, bool any) = 0;
  /// Refused while any host may connect.
  virtual base::Result<void> allow_host(const std::string& nqn, const std::string& host) = 0;
  /// The host stays connected until the subsystem is withdrawn from its port. The kernel's object of the host
  /// goes when no other subsystem names it and it has no keys.
  virtual base::Result<void> disallow_host(const std::string& nqn, const std::string& host) = 0;

  /// Makes it, and enables it where that is wanted: the device is opened, and refused while this host uses
  /// it.
  virtual base::Result<void> make_namespace(const std::string& nqn, const NvmeNamespace& wanted) = 0;
  virtual base::Result<void> remove_namespace(const std::string& nqn, int nsid) = 0;

  /// Makes a port without subsystems; `port.id` is free.
  virtual base::Result<void> make_port(const NvmePort& port) = 0;
  virtual base::Result<void> remove_port(int id) = 0;
  /// Offers a subsystem on a port; the first one has the target listen there.
  virtual base::Result<void> offer(int port, const std::string& nqn) = 0;
  virtual base::Result<void> withdraw(int port, const std::string& nqn) = 0;
};

}  // namespace rdmacfg::system
