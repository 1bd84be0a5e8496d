// SPDX-License-Identifier: Apache-2.0
// Zones of firewalld, which are by the names of interfaces (firewalld.zone(5): /etc/firewalld/zones/NAME.xml
// with <interface name="…"/>). Read only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "system/files.hpp"

namespace rdmacfg::kinds {

/// The zone whose file names the interface; nothing where none does, or where it cannot be read.
std::optional<std::string> firewalld_zone(system::Files& files, std::string_view interface);

}  // namespace rdmacfg::kinds
