// SPDX-License-Identifier: Apache-2.0
// Which of OpenSM's files a file is, by what is in it: a copy may have any name.
#pragma once

#include <string_view>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// Rules of partitions: they end with semicolons, and nothing else of OpenSM's does.
bool has_rules(const File& file);

/// The sort that a file's name suggests.
enum class NamedAs { kPortList, kOther };

/// A distribution's list of ports has assignments of the shell, PORTS="0x…", and opensm.conf a key and a
/// value between blanks.
bool is_port_list(const File& file, NamedAs named);

/// Whether a file of partitions is the one at a path that opensm.conf names, or a copy of that in another
/// folder, except in those where OpenSM's own partitions.conf lies.
bool is_copy_of(const File& file, std::string_view path);

}  // namespace rdmacfg::foreign
