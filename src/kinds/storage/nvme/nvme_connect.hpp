// SPDX-License-Identifier: Apache-2.0
// The lines by which nvme-cli connects to the targets of [[nvme_connection]], and its connections.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "formats/storage/discovery_conf.hpp"
#include "kinds/storage/nvme/nvme_found.hpp"
#include "kinds/storage/sessions.hpp"
#include "model/change.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// The unit of nvme-cli.
inline const std::string kConnectUnit{kAutoconnectUnit};

base::Result<DiscoveryConf> read_discovery_conf(system::Files& files);

/// Users of the disks of controllers, by the controllers' names.
DiskUses nvme_disk_uses(system::Host& host);

/// Ports that lines of ours for an address leave: those of `before` that `after` does not have. None where no
/// controller is at a port of `after`: its ports are those of discovery services, which lead to the same
/// connections.
std::set<std::string> ports_left(std::string_view before, std::string_view after, const std::string& address,
                                 const NvmeControllers& controllers);

/// Subsystems, by their NQNs, or ports ("port 4421") of an entry that no controller at its address is for. A
/// list of ports asks for a controller at each, unless subsystems say what must be connected: a port may have
/// a discovery service alone. Where there is none at any of the ports, all of them do, and nothing follows.
std::vector<std::string> missing_connections(const std::vector<std::string>& subsystems,
                                             const std::vector<std::int64_t>& ports,
                                             const std::string& address, const NvmeControllers& controllers);

/// Writes the lines, disconnects (what no entry wants, and what uses a port that an entry has left) and
/// connects. Fails with kBusy where a disk of a controller to be
/// disconnected is in use, with kTimeout where a hold connects nothing.
base::Result<void> apply_nvme_connections(std::span<const model::Change> changes, system::Host& host);

/// Has systemd read the drop-ins again, when they have changed.
base::Result<void> reload_nvme_units(system::Host& host);

}  // namespace rdmacfg::kinds
