// SPDX-License-Identifier: Apache-2.0
// Our file of NetworkManager's configuration with the ports that it is to keep off. Unlike udev's property
// NM_UNMANAGED it counts for interfaces that NetworkManager knows already, as soon as the configuration is
// read again. Sources: NetworkManager.conf(5) (unmanaged-devices), NetworkManager 1.42 to 1.59:
// read_entire_config(), read_config() in nm-config.c, match_device_hwaddr_eval() in nm-core-utils.c,
// nm_utils_hwaddr_matches() in nm-utils.c.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "formats/udev/udev_backend.hpp"
#include "model/types.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// Files of /run are read before those of /etc, and a file of others in /etc may replace the list. So ours is
/// in /etc, and its name sorts after the names that others give.
inline constexpr std::string_view kKeepOffNetworkManager =
    "/etc/NetworkManager/conf.d/zz-rdma-configd-unmanaged.conf";

/// Empty when NetworkManager configures all ports: then there is no file.
std::string render_nm_unmanaged(const BackendRules& rules);

/// Whether NetworkManager has the folder of this file.
bool nm_reads_snippets(system::Files& files);

/// A line of others' configuration by which NetworkManager leaves the interface of a port alone.
struct NmLeavesAlone {
  std::string file;
  int line = 0;
};

/// The line of unmanaged-devices, or managed=0 of a [device] section, that is about an IPoIB interface;
/// nothing: none, or another excepts the interface. Our files are passed over. `interface`: its name; empty:
/// not known. Devices are matched by mac:, interface-name: and type: (nm_match_spec_device() in
/// nm-core-utils.c).
std::optional<NmLeavesAlone> nm_leaves_alone(system::Files& files, model::Guid guid,
                                             const std::string& interface);

/// Whether kKeepOffNetworkManager is as these rules need it. Without NetworkManager's folder none is needed.
base::Result<bool> keeps_nm_off(system::Files& files, const BackendRules& rules);

/// Writes the file where NetworkManager has its folder, or removes what has nothing to say.
base::Result<void> write_nm_unmanaged(system::Files& files, const BackendRules& rules);

}  // namespace rdmacfg::kinds
