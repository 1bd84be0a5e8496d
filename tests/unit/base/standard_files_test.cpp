// SPDX-License-Identifier: Apache-2.0
#include "base/standard_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace rdmacfg::base {
namespace {

/// The look of a process without these descriptors: 0, or the number of a fault.
int found_without(const std::vector<int>& closed) {
  for (const int fd : closed) ::close(fd);
  if (!take_standard_files()) return 1;
  const int opened = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (opened <= STDERR_FILENO) return 2;
  for (const int fd : closed) {
    char byte = 0;
    const auto done = fd == STDIN_FILENO ? ::read(fd, &byte, 1) : ::write(fd, "x", 1);
    if (done != -1 || errno != EBADF) return 3;
  }
  return 0;
}

TEST(StandardFiles, NoFileGetsTheNumberOfAClosedOne) {
  for (const auto& closed : std::vector<std::vector<int>>{{}, {0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}}) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(found_without(closed));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0)
        << testing::PrintToString(closed) << " (1: not taken, 2: its number was free, 3: it can be used)";
  }
}

TEST(StandardFiles, OpenOnesStayAsTheyAre) {
  const int flags = ::fcntl(STDERR_FILENO, F_GETFL);
  EXPECT_TRUE(take_standard_files());
  EXPECT_EQ(::fcntl(STDERR_FILENO, F_GETFL), flags);
}

}  // namespace
}  // namespace rdmacfg::base
