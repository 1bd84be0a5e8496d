// SPDX-License-Identifier: Apache-2.0
// The lines by which nvme-cli connects to the targets of [[nvme_connection]], and its connections.
#pragma once

#include <span>
#include <string>

#include "base/error.hpp"
#include "formats/discovery_conf.hpp"
#include "kinds/storage/sessions.hpp"
#include "model/change.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// The unit of nvme-cli.
inline const std::string kConnectUnit{kAutoconnectUnit};

base::Result<DiscoveryConf> read_discovery_conf(system::Files& files);

/// Users of the disks of controllers, by the controllers' names.
DiskUses nvme_disk_uses(system::Host& host);

/// Writes the lines, disconnects and connects. Fails with kBusy where a disk of a controller to be
/// disconnected is in use, with kTimeout where a hold connects nothing.
base::Result<void> apply_nvme_connections(std::span<const model::Change> changes, system::Host& host);

/// Has systemd read the drop-ins again, when they have changed.
base::Result<void> reload_nvme_units(system::Host& host);

}  // namespace rdmacfg::kinds
