// SPDX-License-Identifier: Apache-2.0
// Runs a computation on hostile input in a process that can do nothing but compute and answer.
// Source: seccomp(2), libseccomp; prctl(2) PR_SET_NO_NEW_PRIVS; capabilities(7).
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "base/error.hpp"

namespace rdmacfg::system {

struct SandboxLimits {
  std::chrono::seconds cpu;   ///< RLIMIT_CPU
  std::size_t memory_bytes;   ///< RLIMIT_AS
  std::size_t answer_bytes;   ///< longer ones are an error
  std::chrono::seconds time;  ///< until the answer is complete
};

/// Calls `compute` in a child process and returns its answer. The child has no descriptor but a pipe to write
/// to, no system call but those that allocate memory, read the clock, write to the pipe and end the process
/// (seccomp; any other one fails with EPERM), RLIMIT_CPU, RLIMIT_AS, no_new_privs, and, where the caller may
/// take them away, neither capabilities nor uid 0 (then 65534). The filter is mandatory: where it cannot be
/// installed nothing is computed. For a process with one thread.
/// @return the answer, or kRefused with the limit that was hit, kUnsupported without seccomp, kIo
base::Result<std::string> run_confined(const std::function<std::string()>& compute,
                                       const SandboxLimits& limits);

/// The same for parsers of documents, with the limits of the table (model/limits.hpp).
base::Result<std::string> run_parser_confined(const std::function<std::string()>& compute);

}  // namespace rdmacfg::system
