// SPDX-License-Identifier: Apache-2.0
// Units of subnet managers, and signals to running ones. Sources: Debian's opensm.service and
// opensm@.service, RHEL's opensm.service with /usr/libexec/opensm-launch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "kinds/world.hpp"
#include "model/change.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// By unit name.
using OpensmUnits = std::map<std::string, system::Unit>;

/// opensm.service and the instances of ports; empty when no systemd answers.
base::Result<OpensmUnits> observe_opensm_units(system::Host& host, const std::set<model::Guid>& guids);

/// Whether it runs, or is about to.
bool runs(const OpensmUnits& units, const std::string& name);
/// Whether it neither runs nor is started again by systemd.
bool rests(const OpensmUnits& units, const std::string& name);

/// Whether opensm.service is started at boot.
bool is_enabled(const OpensmUnits& units);

/// InfiniBand ports of this host.
std::set<model::Guid> infiniband_ports(const World& world);

/// Whether a port's MAD device (umad) came after the process had begun, which then holds one that has gone: a
/// PCI rescan, a reload of the driver, another port type. False where it cannot be told. Sources: udev's
/// database (I:, microseconds of CLOCK_MONOTONIC), proc(5) (starttime), the age of the device's node in
/// devtmpfs.
bool lost_port(system::Files& files, const PortRef& port, std::int64_t pid);

/// When a process began, microseconds since boot (CLOCK_BOOTTIME); nothing where it cannot be told.
std::optional<std::uint64_t> process_began(system::Files& files, std::int64_t pid);

/// Has those that run read partitions.conf again. `ran`: as for tell_opensm().
base::Result<void> reread_partitions(system::Host& host, const std::set<std::string>& ran);

/// Units of subnet managers that run on this host, whoever started them.
base::Result<std::vector<std::string>> running_opensm(system::Host& host);

/// Subnet managers that a change of their files concerns.
struct OpensmReaders {
  bool all = false;             ///< every one
  bool common = false;          ///< those that read opensm.conf, and no file of their own
  std::set<model::Guid> own{};  ///< those of these ports

  [[nodiscard]] bool none() const { return !all && !common && own.empty(); }
};

/// Those of them that run.
base::Result<std::vector<std::string>> running_readers(system::Host& host, const OpensmReaders& of);

/// running_readers() for several changes, asked once for each port with files of its own and once for all
/// others.
class RunningByPort {
 public:
  explicit RunningByPort(system::Host& host) : host_(host) {}

  /// `readers`: of the files of the port, or of those of all.
  base::Result<std::vector<std::string>> of(std::optional<model::Guid> port, const OpensmReaders& readers);

 private:
  system::Host& host_;
  std::map<std::optional<model::Guid>, std::vector<std::string>> known_;
};

/// Restarts some, as OpenSM takes most of opensm.conf over only when it starts, and has others read their
/// files again. systemd reads drop-ins that were changed first. Fails when one does not survive its restart.
/// `ran`: units that ran before the change; those that it has ended are started again, too.
base::Result<void> tell_opensm(system::Host& host, const OpensmReaders& restart, const OpensmReaders& reread,
                               const std::set<std::string>& ran = {});

/// For Change::carried, and back: a unit that ran before the change.
std::string carried_unit(const std::string& unit);
std::set<std::string> units_that_ran(std::span<const model::Change> changes);

}  // namespace rdmacfg::kinds
