// SPDX-License-Identifier: Apache-2.0
#include "system/linux/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::chrono::minutes kLongEnough{5};

base::Result<void> run_script(std::string script) {
  const std::vector<std::string> words{"/bin/sh", "-c", std::move(script)};
  return detail::run_command(words, kLongEnough);
}

TEST(Command, HasNothingOfItsCaller) {
  ::setenv("RDMACFG_TEST_OF_COMMANDS", "1", 1);
  for (const auto* script :
       {"test -z \"$RDMACFG_TEST_OF_COMMANDS\"", "test -z \"$HOME\"", "test \"$LC_ALL\" = C",
        "test \"$PATH\" = /usr/sbin:/usr/bin:/sbin:/bin", "! read line", "echo text"}) {
    const auto result = run_script(script);
    EXPECT_TRUE(result) << script << ": " << (result ? "" : result.error().message);
  }
  ::unsetenv("RDMACFG_TEST_OF_COMMANDS");
}

TEST(Command, FailsWithItsLastWords) {
  for (const auto* script :
       {"echo some text; echo 'no such group' >&2; exit 3", "echo 'no such group' >&2; kill -KILL $$",
        "echo '  no such group  ' >&2; false"}) {
    const auto result = run_script(script);
    ASSERT_FALSE(result) << script;
    EXPECT_EQ(result.error().code, base::Code::kRefused) << script;
    EXPECT_EQ(result.error().message, "/bin/sh: no such group") << script;
  }
  EXPECT_TRUE(run_script("echo 'a warning' >&2"));
}

TEST(Command, OfMuchTextTheEndIsKept) {
  const auto result = run_script(
      "i=0; while [ $i -lt 2000 ]; do echo \"line $i of many\"; i=$((i + 1)); done >&2; echo end >&2; exit "
      "1");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, EndsWith("line 1999 of many\nend"));
  EXPECT_LT(result.error().message.size(), 5000U);
}

TEST(Command, IsKilledAtTheDeadline) {
  const std::vector<std::string> words{"/bin/sleep", "3600"};
  const auto result = detail::run_command(words, std::chrono::milliseconds(50));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::Code::kTimeout);
  EXPECT_THAT(result.error().message, HasSubstr("/bin/sleep"));
}

TEST(Command, IsKilledAtTheDeadlineWithWhatItStarted) {
  std::array<int, 2> ends{-1, -1};
  ASSERT_EQ(::pipe(ends.data()), 0);  // both inherit it: it is closed when neither runs
  const base::UniqueFd reading(ends[0]);
  base::UniqueFd writing(ends[1]);
  const std::vector<std::string> words{"/bin/sh", "-c", "sleep 3600 & wait"};
  const auto result = detail::run_command(words, std::chrono::milliseconds(500));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::Code::kTimeout);
  writing.reset();
  char byte = 0;
  EXPECT_EQ(::read(reading.get(), &byte, 1), 0);
}

TEST(Command, ThatClosesItsOutputIsKilledAtTheDeadline) {
  const std::vector<std::string> words{"/bin/sh", "-c", "exec sleep 3600 2>&-"};
  const auto result = detail::run_command(words, std::chrono::milliseconds(500));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::Code::kTimeout);
}

TEST(Command, HasTheUsualSignals) {
  sigset_t term, before;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ASSERT_EQ(::sigprocmask(SIG_BLOCK, &term, &before), 0);
  const auto handler = std::signal(SIGPIPE, SIG_IGN);
  const auto result = run_script("! grep -E '^Sig(Blk|Ign):.*[1-9a-f]' /proc/self/status >&2");
  (void)std::signal(SIGPIPE, handler);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
}

TEST(Command, ThatIsNotThere) {
  const std::vector<std::string> words{"/nowhere/program"};
  const auto result = detail::run_command(words, kLongEnough);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::Code::kNotFound);
  EXPECT_EQ(result.error().sys_errno, ENOENT);
  EXPECT_THAT(result.error().message, HasSubstr("/nowhere/program"));
}

}  // namespace
}  // namespace rdmacfg::system
