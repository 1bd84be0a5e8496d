// SPDX-License-Identifier: Apache-2.0
// Which .network file systemd-networkd takes. Sources: systemd.network(5); net-condition.c of systemd 252.
#pragma once

#include <string>
#include <string_view>

namespace rdmacfg::kinds {

/// Whether systemd-networkd takes a .network file for an IPoIB interface before it comes to ours: its name
/// sorts before theirs, and Name= and Type= of its [Match] fit. False for a file with other conditions.
bool network_file_is_first(std::string_view path, const std::string& text, const std::string& interface);

/// Whether a .network file has systemd-networkd leave the interfaces that it fits to others (Unmanaged=).
bool network_file_leaves_alone(const std::string& text);

}  // namespace rdmacfg::kinds
