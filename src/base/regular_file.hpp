// SPDX-License-Identifier: Apache-2.0
// Files that a command was told to read.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.hpp"

namespace rdmacfg::base {

/// Reads a regular file of at most `most` bytes, also one that grows meanwhile; never waits for a FIFO or
/// device. The error does not name the file; its errno is EISDIR or EINVAL (kInvalid) for anything but a
/// regular file, EFBIG (kInvalid) for a larger one, or that of the call.
Result<std::string> read_regular_file(const std::string& path, std::size_t most);

}  // namespace rdmacfg::base
