// SPDX-License-Identifier: Apache-2.0
// Runs rdma-configctl.real with what units/rdma-configd.service leaves a process: its system calls
// (seccomp(2)), its capabilities, no new privileges. "verify", which the daemon never does, runs as it is.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const unsigned allowed[] = {
#include "allowed.inc"
};
static const unsigned kept[] = {
#include "kept.inc"
};

enum { CALLS = sizeof allowed / sizeof *allowed, KEPT = sizeof kept / sizeof *kept };

static int confine(void) {
  static struct sock_filter filter[2 * CALLS + 8];
  struct sock_fprog program = {0, filter};
  size_t n = 0;
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < CALLS; i++) {
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  program.len = (unsigned short)n;
  for (unsigned capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; capability++) {
    size_t i = 0;
    while (i < KEPT && kept[i] != capability) i++;
    if (i == KEPT && prctl(PR_CAPBSET_DROP, capability) && errno != EPERM) return -1;
  }
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char** argv) {
  int verify = 0;
  for (int i = 1; i < argc; i++) verify |= !strcmp(argv[i], "verify");
  if (!verify && confine()) {
    perror("confined");
    return 126;
  }
  argv[0] = "rdma-configctl";
  execv("/usr/bin/rdma-configctl.real", argv);
  perror("/usr/bin/rdma-configctl.real");
  return 127;
}
