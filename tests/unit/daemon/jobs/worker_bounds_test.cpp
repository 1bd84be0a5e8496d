// SPDX-License-Identifier: Apache-2.0
// A worker's limits, as its own process has them once it has read its job.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/sanitizers.hpp"
#include "base/unique_fd.hpp"
#include "daemon/descriptors.hpp"
#include "daemon/jobs/job.hpp"
#include "model/limits.hpp"
#include "model/report.hpp"

namespace rdmacfg::daemon {
namespace {

namespace limits = model::limits;
using Limits = std::array<rlim_t, 4>;

/// The answer to `question` in a worker that has done `job`.
template <class Answer>
Answer in_worker(const Job& job, const std::function<Answer()>& question) {
  const auto text = to_json(job).dump();
  const base::UniqueFd in(::memfd_create("job", MFD_CLOEXEC)), out(::memfd_create("out", MFD_CLOEXEC));
  const base::UniqueFd answer(::memfd_create("answer", MFD_CLOEXEC));
  EXPECT_EQ(::write(in.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::lseek(in.get(), 0, SEEK_SET);
  const auto pid = ::fork();
  if (pid == 0) {
    (void)work(in.get(), out.get());
    const Answer found = question();
    (void)!::write(answer.get(), &found, sizeof found);
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  Answer read{};
  EXPECT_EQ(::pread(answer.get(), &read, sizeof read, 0), static_cast<ssize_t>(sizeof read));
  return read;
}

Job validating() {
  Job job;
  job.id = 1;
  job.verb = Job::Verb::kValidate;
  job.texts = {{.name = "config.toml", .text = "version = 1\n"}};
  job.uid = 65534;
  return job;
}

Limits limits_now() {
  Limits out{};
  std::size_t i = 0;
  for (const auto which : {RLIMIT_CPU, RLIMIT_NOFILE, RLIMIT_AS}) {
    rlimit limit{};
    (void)::getrlimit(which, &limit);
    out[i++] = limit.rlim_cur;
    if (which == RLIMIT_CPU) out.back() = limit.rlim_max;
  }
  return out;
}

TEST(WorkerBounds, OfALook) {
  const auto found = in_worker<Limits>(validating(), limits_now);
  EXPECT_EQ(found[0], static_cast<rlim_t>(limits::kLookCpu.count()));
  EXPECT_GT(found[3], found[0]) << "at the hard limit it would be SIGKILL, and nobody would know why";
  EXPECT_EQ(found[1], limits::kLookDescriptors);
  if constexpr (!base::kSanitized) {
    EXPECT_EQ(found[2], limits::kLookMemory);
  }
}

TEST(WorkerBounds, OfAChange) {
  Job job;
  job.id = 1;
  job.verb = Job::Verb::kRollBack;
  job.generation = ~std::uint64_t{0};  // which is not there: nothing is changed
  const auto before = limits_now();
  const auto found = in_worker<Limits>(job, limits_now);
  EXPECT_EQ(found[0], static_cast<rlim_t>(limits::kChangeCpu.count()));
  EXPECT_GT(found[3], found[0]);
  EXPECT_EQ(found[2], before[2]) << "what has been begun is finished";
}

TEST(WorkerBounds, DescriptorsUpToTheLimitAndNoMore) {
  const auto opened = in_worker<std::size_t>(validating(), [] {
    std::size_t open = 0;
    for (int fd = 0; fd < static_cast<int>(2 * limits::kLookDescriptors); ++fd)
      open += ::fcntl(fd, F_GETFD) >= 0;
    for (;;) {
      if (::dup(STDERR_FILENO) < 0) return open;
      ++open;
    }
  });
  EXPECT_EQ(opened, limits::kLookDescriptors);
}

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

/// The bytes that RLIMIT_AS counts of this process: proc_pid_statm(5), size. Takes no memory itself.
std::size_t address_space() {
  std::array<char, 64> text{};
  const base::UniqueFd file(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  if (::read(file.get(), text.data(), text.size() - 1) <= 0) return 0;
  return std::strtoull(text.data(), nullptr, 10) * page_bytes();
}

TEST(WorkerBounds, MemoryUpToTheLimitAndNoMore) {
  if constexpr (base::kSanitized) GTEST_SKIP() << "the sanitizer's shadow memory takes more than the limit";
  struct Answer {
    std::size_t has = 0;  ///< bytes of address space, of which this program takes more in some builds
    bool up_to_it = false, beyond_it = false;
  };
  const auto found = in_worker<Answer>(validating(), [] {
    const auto can = [](std::size_t bytes) {
      void* const at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (at != MAP_FAILED) ::munmap(at, bytes);
      return at != MAP_FAILED;
    };
    Answer answer{.has = address_space()};
    if (answer.has >= limits::kLookMemory) return answer;
    answer.up_to_it = can(limits::kLookMemory - answer.has);
    answer.beyond_it = can(limits::kLookMemory - answer.has + page_bytes());
    return answer;
  });
  EXPECT_LT(found.has, limits::kLookMemory);
  EXPECT_TRUE(found.up_to_it) << found.has;
  EXPECT_FALSE(found.beyond_it) << found.has;
}

/// The last line of a worker that cannot write its whole report.
nlohmann::ordered_json said_without_report(const Job& job) {
  const auto text = to_json(job).dump();
  const base::UniqueFd in(::memfd_create("job", MFD_CLOEXEC)), out(::memfd_create("out", MFD_CLOEXEC));
  const base::UniqueFd whole(::memfd_create("report", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::fcntl(whole.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_EQ(::write(in.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::lseek(in.get(), 0, SEEK_SET);
  const auto pid = ::fork();
  if (pid == 0) ::_exit(work(in.get(), out.get(), whole.get()));
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  std::string said(1 << 20, '\0');
  const auto count = ::pread(out.get(), said.data(), said.size(), 0);
  said.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  if (!said.empty()) said.pop_back();
  const auto before = said.rfind('\n');  // lines of progress
  return nlohmann::ordered_json::parse(before == std::string::npos ? said : said.substr(before + 1), nullptr,
                                       false);
}

TEST(WorkerBounds, AReportThatCannotBeHandedOverIsSaid) {
  const auto look = said_without_report(validating());
  ASSERT_TRUE(look.is_object());
  EXPECT_EQ(look.at("exit"), static_cast<int>(model::Exit::kError))
      << "the document is valid, but nobody sees it";
  EXPECT_NE(look.at("report").at("error").dump().find("handing over the report"), std::string::npos);
  Job job;
  job.id = 1;
  job.verb = Job::Verb::kRollBack;
  job.generation = ~std::uint64_t{0};
  const auto change = said_without_report(job);
  ASSERT_TRUE(change.is_object());
  EXPECT_NE(change.at("report").at("notes").dump().find("handing over the report"), std::string::npos);
}

TEST(WorkerBounds, DescriptorsOfTheDaemon) {
  using Answer = std::array<rlim_t, 2>;
  std::array<int, 2> pipe{-1, -1};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const auto pid = ::fork();
  if (pid == 0) {
    rlimit limit{};
    (void)::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 64;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
    allow_many_descriptors();
    (void)::getrlimit(RLIMIT_NOFILE, &limit);
    const Answer answer{limit.rlim_cur, limit.rlim_max};
    (void)!::write(pipe[1], &answer, sizeof answer);
    ::_exit(0);
  }
  ::close(pipe[1]);
  Answer answer{};
  EXPECT_EQ(::read(pipe[0], &answer, sizeof answer), static_cast<ssize_t>(sizeof answer));
  ::close(pipe[0]);
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(answer[0], std::min<rlim_t>(answer[1], limits::kDescriptors));
}

}  // namespace
}  // namespace rdmacfg::daemon
