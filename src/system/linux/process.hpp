// SPDX-License-Identifier: Apache-2.0
// Processes, by proc(5).
#pragma once

#include <cstdint>

namespace rdmacfg::system::detail {

/// Whether it has a handler for the signal (SigCgt). A program that has just been started has none yet, and
/// most signals end it then.
bool catches(std::int64_t pid, int signal);

}  // namespace rdmacfg::system::detail
