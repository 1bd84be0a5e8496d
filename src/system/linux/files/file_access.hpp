// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include "base/error.hpp"
#include "system/linux/files/file_place.hpp"

namespace rdmacfg::system::detail {

/// Gives `file`, which takes the place of `there`, the owner, group, mode and access control list of that
/// one. Without the right to give a file away (CAP_CHOWN, which the daemon has not) it stays this process's
/// own, and nobody may do more with it than with the former one: rights of the former group, or of a list
/// that cannot be copied, go to nobody. Fails only where the mode cannot be set.
base::Result<void> keep_access(const FileContent& there, int file, const FilePlace& place);

}  // namespace rdmacfg::system::detail
