// SPDX-License-Identifier: Apache-2.0
// The worker process at the lock that keeps applies apart.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>

#include "base/unique_fd.hpp"
#include "daemon/jobs/job.hpp"

namespace rdmacfg::daemon {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds kLockDeadline{120};  // of worker.cpp

class WorkerTest : public ::testing::TestWithParam<int> {};

/// A line of JSON from the worker.
Json line_from(int fd) {
  std::string line;
  for (char character = 0; ::read(fd, &character, 1) == 1 && character != '\n';) line += character;
  return Json::parse(line, nullptr, false);
}

TEST_P(WorkerTest, OneThatWaitsForTheLockCanBeToldToGiveUp) {
  // Somebody else's, who does not let go of it before the worker has ended.
  base::UniqueFd lock(::open("/run/rdma-configd.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) GTEST_SKIP() << "takes root: the lock cannot be opened here";
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  Job job;
  job.id = 1;
  job.verb = Job::Verb::kConfirm;
  const auto text = to_json(job).dump();
  const base::UniqueFd in(::memfd_create("job", MFD_CLOEXEC));
  ASSERT_EQ(::write(in.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::lseek(in.get(), 0, SEEK_SET);
  std::array<int, 2> pipe{-1, -1};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const base::UniqueFd out(pipe[0]);
  base::UniqueFd end(pipe[1]);
  const auto pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) ::_exit(work(in.get(), end.get()));
  end = {};
  const auto begin = std::chrono::steady_clock::now();
  const auto waits = line_from(out.get());
  ASSERT_TRUE(waits.is_object() && waits.contains("progress")) << waits.dump();
  ::kill(pid, GetParam());
  const auto result = line_from(out.get());
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ASSERT_TRUE(result.is_object()) << "it does not say how it ended";
  EXPECT_TRUE(result.value("cancelled", false));
  EXPECT_EQ(result.at("report").at("error").at("message"), "cancelled");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLockDeadline) << "it has waited for as long as it may";
}

INSTANTIATE_TEST_SUITE_P(Signals, WorkerTest, ::testing::Values(SIGUSR1, SIGUSR2));

}  // namespace
}  // namespace rdmacfg::daemon
