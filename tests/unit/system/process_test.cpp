// SPDX-License-Identifier: Apache-2.0
#include "system/linux/process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace rdmacfg::system::detail {
namespace {

TEST(Process, CatchesWhatItHasAHandlerFor) {
  std::array<int, 2> told{}, go{};
  ASSERT_EQ(::pipe(told.data()), 0);
  ASSERT_EQ(::pipe(go.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    char byte = 0;
    (void)::signal(SIGHUP, SIG_DFL);
    (void)!::write(told[1], "1", 1);
    (void)!::read(go[0], &byte, 1);
    (void)::signal(SIGHUP, [](int) {});
    (void)!::write(told[1], "2", 1);
    (void)!::read(go[0], &byte, 1);
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(told[0], &byte, 1), 1);
  EXPECT_FALSE(catches(child, SIGHUP));
  ASSERT_EQ(::write(go[1], "1", 1), 1);
  ASSERT_EQ(::read(told[0], &byte, 1), 1);
  EXPECT_TRUE(catches(child, SIGHUP));
  EXPECT_FALSE(catches(child, SIGUSR2));
  EXPECT_FALSE(catches(child, 0));
  ASSERT_EQ(::write(go[1], "2", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_FALSE(catches(child, SIGHUP)) << "it is gone";
  for (const int end : {told[0], told[1], go[0], go[1]}) ::close(end);
}

}  // namespace
}  // namespace rdmacfg::system::detail
