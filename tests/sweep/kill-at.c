// SPDX-License-Identifier: Apache-2.0
// kill-at CALL N COMMAND...: runs a command and kills the process in it that makes the Nth system call of
// that name, before the call is made. Exit status: that of the command, 137 when it was killed. "strace
// -f -e inject=CALL:signal=KILL:when=N" does, but only that call stops (seccomp(2), SECCOMP_RET_TRACE), which
// an emulated machine needs; strace 6.1 forgets the signal where it is told to do the same (--seccomp-bpf).
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
  const char* name;
  unsigned number;
} calls[] = {
#include "calls.inc"
};

static void run(unsigned number, char** command) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

  ptrace(PTRACE_TRACEME, 0, 0, 0);
  raise(SIGSTOP);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) &&
      (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)))
    perror("kill-at: seccomp");
  else
    execvp(*command, command);
  perror(*command);
  _exit(127);
}

int main(int argc, char** argv) {
  long left = argc > 3 ? atol(argv[2]) : 0;
  size_t i = 0;
  int status, result = 127;
  pid_t first, who;

  while (argc > 3 && i < sizeof calls / sizeof *calls && strcmp(calls[i].name, argv[1])) i++;
  if (left < 1 || i == sizeof calls / sizeof *calls) {
    fputs("usage: kill-at CALL N COMMAND...\n", stderr);
    return 2;
  }
  if ((first = fork()) == 0) run(calls[i].number, argv + 3);
  if (waitpid(first, &status, 0) != first || !WIFSTOPPED(status)) return 127;
  ptrace(PTRACE_SETOPTIONS, first, 0,
         PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
             PTRACE_O_EXITKILL);
  ptrace(PTRACE_CONT, first, 0, 0);
  while ((who = waitpid(-1, &status, __WALL)) > 0) {
    if (!WIFSTOPPED(status)) {
      if (who == first) result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      continue;
    }
    int event = status >> 16, sig = WSTOPSIG(status);
    if (event == PTRACE_EVENT_SECCOMP && --left == 0)
      kill(who, SIGKILL); /* a thread's number reaches its whole process */
    else                  /* what is new stops once by itself */
      ptrace(PTRACE_CONT, who, 0, event || sig == SIGSTOP || sig == SIGTRAP ? 0 : sig);
  }
  return result;
}
