// SPDX-License-Identifier: Apache-2.0
// Which .network file systemd-networkd takes, and which .link file udev. Sources: systemd.network(5),
// systemd.link(5); net-condition.c and link-config.c of systemd 252.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/types.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// Whether systemd-networkd takes a .network file for an IPoIB interface before it comes to ours: its name
/// sorts before theirs, and Name= and Type= of its [Match] fit. False for a file with other conditions.
bool network_file_is_first(std::string_view path, const std::string& text, const std::string& interface);

/// Whether a .network file has systemd-networkd leave the interfaces that it fits to others (Unmanaged=).
bool network_file_leaves_alone(const std::string& text);

struct LinkFileMtu {
  std::string file;
  int line = 0;
  std::int64_t bytes = 0;
};

/// The MTU that udev gives an IPoIB interface whenever it appears: of the .link file that comes first of
/// those whose OriginalName=, Type= and MACAddress= fit. Files with other conditions are passed over.
/// `interface`: its name now, which the kernel may not give it; empty: not known.
std::optional<LinkFileMtu> link_file_mtu(system::Files& files, model::Guid guid,
                                         const std::string& interface);

}  // namespace rdmacfg::kinds
