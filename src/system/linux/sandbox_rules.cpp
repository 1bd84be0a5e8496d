// SPDX-License-Identifier: Apache-2.0
#include "system/linux/sandbox_rules.hpp"

#include <seccomp.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <span>

namespace rdmacfg::system::detail {

namespace {

/// s390 passes the arguments of mmap(2) in memory (sys_old_mmap()), where a filter cannot see them. Without
/// mmap(2) malloc(3) takes all memory from brk(2).
bool passes_mmap_in_registers(std::uint32_t arch) {
  return arch != SCMP_ARCH_S390X && arch != SCMP_ARCH_S390;
}

bool change_architecture(void* rules, std::uint32_t arch) {
  const auto native = ::seccomp_arch_native();
  return arch == native ||
         (::seccomp_arch_remove(rules, native) == 0 && ::seccomp_arch_add(rules, arch) == 0);
}

}  // namespace

SandboxRules sandbox_rules(std::uint32_t arch, int pipe) {
  SandboxRules rules(::seccomp_init(SCMP_ACT_ERRNO(EPERM)), ::seccomp_release);
  if (!rules || !change_architecture(rules.get(), arch)) return {nullptr, ::seccomp_release};
  bool complete = true;
  const auto allow = [&](int call, std::span<const scmp_arg_cmp> arguments = {}) {
    if (::seccomp_rule_add_array(rules.get(), SCMP_ACT_ALLOW, call, static_cast<unsigned>(arguments.size()),
                                 arguments.data()) != 0)
      complete = false;
  };
  for (const int call : {SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(brk), SCMP_SYS(munmap),
                         SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex), SCMP_SYS(rt_sigreturn),
                         SCMP_SYS(rt_sigprocmask), SCMP_SYS(clock_gettime), SCMP_SYS(getrandom),
                         SCMP_SYS(sched_yield), SCMP_SYS(gettid), SCMP_SYS(getpid)})
    allow(call);
  // Neither files nor memory that can be executed may be mapped.
  const std::array<scmp_arg_cmp, 2> anonymous{
      scmp_arg_cmp{.arg = 2, .op = SCMP_CMP_MASKED_EQ, .datum_a = PROT_EXEC, .datum_b = 0},
      scmp_arg_cmp{.arg = 3, .op = SCMP_CMP_MASKED_EQ, .datum_a = MAP_ANONYMOUS, .datum_b = MAP_ANONYMOUS}};
  const std::array<scmp_arg_cmp, 1> not_executable{anonymous[0]};
  const std::array<scmp_arg_cmp, 1> to_pipe{
      scmp_arg_cmp{.arg = 0, .op = SCMP_CMP_EQ, .datum_a = static_cast<scmp_datum_t>(pipe), .datum_b = 0}};
  if (passes_mmap_in_registers(arch)) allow(SCMP_SYS(mmap), anonymous);
  allow(SCMP_SYS(mprotect), not_executable);
  allow(SCMP_SYS(write), to_pipe);
  if (!complete) rules.reset();
  return rules;
}

}  // namespace rdmacfg::system::detail
