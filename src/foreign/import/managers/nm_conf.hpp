// SPDX-License-Identifier: Apache-2.0
// NetworkManager.conf(5) and its conf.d, as far as they are about IPoIB interfaces: which ones NetworkManager
// leaves to others, and defaults for profiles.
#pragma once

#include <span>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// Whether it is such a file, not a keyfile.
bool is_nm_conf(const File& file);

/// Names lines that cannot be imported. A line that a later file replaces is not in force; files that are not
/// is_nm_conf() are skipped.
void tell_nm_conf(std::span<const File> files, Claims& claims);

}  // namespace rdmacfg::foreign
