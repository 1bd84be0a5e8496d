// SPDX-License-Identifier: Apache-2.0
// The sandbox's filter as the kernel of each architecture would run it: its BPF program is interpreted here.
#include "system/linux/sandbox_rules.hpp"

#include <endian.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace rdmacfg::system::detail {
namespace {

constexpr int kPipe = 3;

struct Architecture {
  const char* name;
  std::uint32_t token;
  bool big_endian = false;
  bool allows_mmap = true;
};

class SandboxRulesOf : public ::testing::TestWithParam<Architecture> {
 protected:
  void SetUp() override {
    const auto rules = sandbox_rules(GetParam().token, kPipe);
    ASSERT_TRUE(rules);
    std::FILE* file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(::seccomp_export_bpf(rules.get(), ::fileno(file)), 0);
    std::rewind(file);
    sock_filter instruction{};
    while (std::fread(&instruction, sizeof instruction, 1, file) == 1) program_.push_back(here(instruction));
    (void)std::fclose(file);
    ASSERT_FALSE(program_.empty());
  }

  [[nodiscard]] bool allowed(const std::string& call,
                             const std::array<std::uint64_t, 6>& arguments = {}) const {
    const int number = ::seccomp_syscall_resolve_name_arch(GetParam().token, call.c_str());
    EXPECT_GE(number, 0) << call;
    return verdict(number, arguments) == SECCOMP_RET_ALLOW;
  }

 private:
  /// libseccomp writes the program in the byte order of its architecture.
  [[nodiscard]] static sock_filter here(sock_filter instruction) {
    const bool own = GetParam().big_endian == (__BYTE_ORDER == __BIG_ENDIAN);
    if (own) return instruction;
    instruction.code = __builtin_bswap16(instruction.code);
    instruction.k = __builtin_bswap32(instruction.k);
    return instruction;
  }

  /// The word at `offset` of struct seccomp_data, whose 64-bit arguments are in the architecture's byte
  /// order.
  [[nodiscard]] static std::uint32_t word(std::uint32_t offset, int number,
                                          const std::array<std::uint64_t, 6>& arguments) {
    if (offset == offsetof(seccomp_data, nr)) return static_cast<std::uint32_t>(number);
    if (offset == offsetof(seccomp_data, arch)) return GetParam().token;
    const auto at = (offset - offsetof(seccomp_data, args)) / 4;
    const auto argument = arguments.at(at / 2);
    const bool high = (at % 2 == 0) == GetParam().big_endian;
    return static_cast<std::uint32_t>(high ? argument >> 32U : argument);
  }

  [[nodiscard]] std::uint32_t verdict(int number, const std::array<std::uint64_t, 6>& arguments) const {
    std::uint32_t accumulator = 0;
    for (std::size_t at = 0; at < program_.size(); ++at) {
      const auto& now = program_[at];
      switch (now.code) {
        case BPF_LD | BPF_W | BPF_ABS:
          accumulator = word(now.k, number, arguments);
          break;
        case BPF_ALU | BPF_AND | BPF_K:
          accumulator &= now.k;
          break;
        case BPF_JMP | BPF_JA:
          at += now.k;
          break;
        case BPF_JMP | BPF_JEQ | BPF_K:
          at += accumulator == now.k ? now.jt : now.jf;
          break;
        case BPF_JMP | BPF_JGE | BPF_K:
          at += accumulator >= now.k ? now.jt : now.jf;
          break;
        case BPF_JMP | BPF_JGT | BPF_K:
          at += accumulator > now.k ? now.jt : now.jf;
          break;
        case BPF_RET | BPF_K:
          return now.k;
        default:
          ADD_FAILURE() << "instruction " << now.code;
          return SECCOMP_RET_KILL_PROCESS;
      }
    }
    ADD_FAILURE() << "the program has no end";
    return SECCOMP_RET_KILL_PROCESS;
  }

  std::vector<sock_filter> program_;
};

INSTANTIATE_TEST_SUITE_P(Architectures, SandboxRulesOf,
                         ::testing::Values(Architecture{"x86_64", SCMP_ARCH_X86_64},
                                           Architecture{"aarch64", SCMP_ARCH_AARCH64},
                                           Architecture{"ppc64le", SCMP_ARCH_PPC64LE},
                                           Architecture{"riscv64", SCMP_ARCH_RISCV64},
                                           Architecture{"s390x", SCMP_ARCH_S390X, true, false}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(SandboxRulesOf, AllowComputingAndNothingElse) {
  for (const auto* call : {"exit_group", "brk", "munmap", "futex", "clock_gettime"})
    EXPECT_TRUE(allowed(call)) << call;
  for (const auto* call : {"openat", "execve", "clone", "read", "ptrace", "prctl", "mount"})
    EXPECT_FALSE(allowed(call)) << call;
  EXPECT_TRUE(allowed("write", {kPipe}));
  EXPECT_FALSE(allowed("write", {kPipe + 1}));
  EXPECT_FALSE(allowed("write", {std::uint64_t{1} << 32U | kPipe}));
  EXPECT_TRUE(allowed("mprotect", {0, 4096, PROT_READ | PROT_WRITE}));
  EXPECT_FALSE(allowed("mprotect", {0, 4096, PROT_READ | PROT_EXEC}));
}

// On s390x mmap(2) has the address of its arguments as the only one; the registers behind are whatever they
// were.
TEST_P(SandboxRulesOf, AllowNeitherFilesNorCodeToBeMapped) {
  constexpr std::uint64_t kMemory = MAP_PRIVATE | MAP_ANONYMOUS;
  EXPECT_EQ(allowed("mmap", {0, 4096, PROT_READ | PROT_WRITE, kMemory}), GetParam().allows_mmap);
  EXPECT_FALSE(allowed("mmap", {0, 4096, PROT_READ | PROT_EXEC, kMemory}));
  EXPECT_FALSE(allowed("mmap", {0, 4096, PROT_READ, MAP_PRIVATE}));
}

}  // namespace
}  // namespace rdmacfg::system::detail
