// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "base/error.hpp"

namespace rdmacfg::system::detail {

/// Runs a program by its absolute path, without a shell, with an empty environment but for PATH and LC_ALL=C,
/// and waits for its end; at the deadline it is killed with
/// the programs that it has started. Signals are as usual there. Fails with its last words on stderr when its
/// status is not 0.
base::Result<void> run_command(std::span<const std::string> words, std::chrono::milliseconds deadline);

}  // namespace rdmacfg::system::detail
