// SPDX-License-Identifier: Apache-2.0
// Which of OpenSM's files a file is, by what is in it: a copy may have any name.
#pragma once

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// Rules of partitions: they end with semicolons, and nothing else of OpenSM's does.
bool has_rules(const File& file);

/// The sort that a file's name suggests.
enum class NamedAs { kPortList, kOther };

/// A distribution's list of ports has assignments of the shell, PORTS="0x…", and opensm.conf a key and a
/// value between blanks.
bool is_port_list(const File& file, NamedAs named);

}  // namespace rdmacfg::foreign
