// SPDX-License-Identifier: Apache-2.0
// Our udev rule file that says who configures which port, and tells the others to keep off: by GUID, so that
// no rename breaks it. Sources: NetworkManager's 85-nm-unmanaged.rules (NM_UNMANAGED), systemd 256's
// ID_NET_MANAGED_BY, systemd.network(5) ([Match] Property=, [Link] Unmanaged=).
#pragma once

#include <map>
#include <string_view>

#include "base/error.hpp"
#include "model/types/inet_types.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kBackendRules = "/etc/udev/rules.d/71-rdma-configd-backend.rules";

/// Tells a systemd-networkd before 256, by the property that the rules set.
inline constexpr std::string_view kKeepOffNetworkd = "/etc/systemd/network/09-rdma-configd-unmanaged.network";

/// The same file of older versions (ADR 0057).
inline constexpr std::string_view kOlderKeepOffNetworkd =
    "/etc/systemd/network/10-rdma-configd-unmanaged.network";

using BackendRules = std::map<model::Guid, model::Backend>;

/// The backends in the lines that are ours, whether all lines of a port are there or not.
BackendRules parse_backend_lines(std::string_view text);

/// Lines that are not ours (or were damaged) are not in the result; writing drops them.
BackendRules parse_backend_rules(std::string_view text);
std::string render_backend_rules(const BackendRules& rules);

base::Result<BackendRules> read_backend_rules(system::Files& files);

/// Whether kOlderKeepOffNetworkd is there, and ours.
base::Result<bool> has_older_keep_off(system::Files& files);

/// Whether kKeepOffNetworkd is as these rules need it, there or not, and has_older_keep_off() is false.
base::Result<bool> keeps_networkd_off(system::Files& files, const BackendRules& rules);

/// Writes the rules with the files beside them (kKeepOffNetworkd, kKeepOffNetworkManager), or removes what
/// has nothing to say, and the file of older versions.
base::Result<void> write_backend_rules(system::Files& files, const BackendRules& rules);

}  // namespace rdmacfg::kinds
