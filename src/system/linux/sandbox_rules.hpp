// SPDX-License-Identifier: Apache-2.0
// The system calls that a program in the sandbox (sandbox.hpp) may make. Source: seccomp_rule_add(3),
// syscall(2).
#pragma once

#include <cstdint>
#include <memory>

namespace rdmacfg::system::detail {

/// A filter of libseccomp (scmp_filter_ctx).
using SandboxRules = std::unique_ptr<void, void (*)(void*)>;

/// The rules for programs of the architecture `arch` (SCMP_ARCH_…), which write to descriptor `pipe`.
/// @return nothing where libseccomp does not know the architecture or cannot express a rule.
SandboxRules sandbox_rules(std::uint32_t arch, int pipe);

}  // namespace rdmacfg::system::detail
