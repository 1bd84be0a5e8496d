// SPDX-License-Identifier: Apache-2.0
// The permissions of a computation in the sandbox, tried from inside of it.
#include "system/linux/sandbox.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "model/limits.hpp"
#include "unit/wait_until.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RDMACFG_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RDMACFG_SANITIZED 1
#endif
#endif

namespace rdmacfg::system {
namespace {

using ::testing::HasSubstr;

// No test waits until such a time is over: a slow machine that stalls has enough of it.
constexpr SandboxLimits kLimits{.cpu = std::chrono::seconds(20),
                                .memory_bytes = std::size_t{512} << 20U,
                                .answer_bytes = 1000,
                                .time = std::chrono::seconds(120)};

/// The failure of `call` in there: "-1 1" for EPERM.
template <class Call>
std::string outcome(Call call) {
  auto answer = run_confined(
      [&] {
        errno = 0;
        const auto result = static_cast<long>(call());
        return std::to_string(result) + " " + std::to_string(errno);
      },
      kLimits);
  return answer ? *answer : answer.error().message;
}

const std::string kRefused = "-1 " + std::to_string(EPERM);

#ifdef RDMACFG_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

TEST(Sandbox, AnswersUpToTheLimit) {
  EXPECT_EQ(run_confined([] { return std::string("yes"); }, kLimits), "yes");
  EXPECT_EQ(run_confined([] { return std::string(); }, kLimits), "");
  EXPECT_EQ(run_confined([] { return std::string(1000, 'x'); }, kLimits), std::string(1000, 'x'));
  const auto more = run_confined([] { return std::string(1001, 'x'); }, kLimits);
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr("more than the 1000 bytes"));
}

TEST(Sandbox, AParsedDocumentMayHaveWhatTheTableSays) {
  using model::limits::kParsedBytes;
  const auto most = run_parser_confined([] { return std::string(kParsedBytes, 'x'); });
  ASSERT_TRUE(most) << most.error().message;
  EXPECT_EQ(most->size(), kParsedBytes);
  const auto more = run_parser_confined([] { return std::string(kParsedBytes + 1, 'x'); });
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr(std::to_string(kParsedBytes)));
  if (kSanitized) return;
  EXPECT_FALSE(
      run_parser_confined([] { return std::string(model::limits::kParseMemory, 'x').substr(0, 1); }));
}

/// The bytes that RLIMIT_AS counts of this process: proc_pid_statm(5), size.
std::size_t address_space_here() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(Sandbox, AParserHasTheMemoryThatTheTableSays) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer's shadow memory takes more than the limit";
  using model::limits::kParseMemory;
  constexpr std::size_t kOfTheSandbox = std::size_t{4} << 20U;  // of its filter and its answer
  const auto has = address_space_here();
  ASSERT_LT(has + kOfTheSandbox, kParseMemory);
  const auto outcome_of = [](std::size_t bytes) {
    return run_parser_confined([bytes] {
      void* const at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      return std::string(at == MAP_FAILED ? "no" : "yes");
    });
  };
  EXPECT_EQ(outcome_of(kParseMemory - has - kOfTheSandbox), "yes") << has;
  EXPECT_EQ(outcome_of(kParseMemory - has + kOfTheSandbox), "no") << has;
}

TEST(Sandbox, NothingCanBeOpenedSentStartedOrKilled) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's runtime needs calls that the filter refuses";
  EXPECT_EQ(outcome([] { return ::open("/dev/null", O_RDONLY); }), kRefused);
  EXPECT_EQ(outcome([] { return ::open("/tmp/x", O_WRONLY | O_CREAT, 0600); }), kRefused);
  EXPECT_EQ(outcome([] { return ::socket(AF_UNIX, SOCK_STREAM, 0); }), kRefused);
  EXPECT_EQ(outcome([] { return ::socket(AF_INET, SOCK_DGRAM, 0); }), kRefused);
  EXPECT_EQ(outcome([] { return ::fork(); }), kRefused);
  EXPECT_EQ(outcome([] { return ::kill(::getpid(), SIGKILL); }), kRefused);
  EXPECT_EQ(outcome([] { return ::kill(1, 0); }), kRefused);
  EXPECT_EQ(outcome([] { return ::unlink("/tmp/x"); }), kRefused);
  EXPECT_EQ(outcome([] { return ::setuid(0); }), kRefused);
  char* const none[] = {nullptr};
  EXPECT_EQ(outcome([&] { return ::execve("/bin/true", none, none); }), kRefused);
}

TEST(Sandbox, NoDescriptorOfTheCallerIsLeft) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's runtime needs calls that the filter refuses";
  const int opened = ::open("/dev/null", O_WRONLY), mine = ::fcntl(opened, F_DUPFD, 20);
  ASSERT_GE(mine, 0);
  EXPECT_EQ(outcome([&] { return ::write(mine, "x", 1); }), kRefused);
  EXPECT_EQ(outcome([] { return ::write(STDERR_FILENO, "x", 1); }), kRefused);
  char character = 0;
  EXPECT_EQ(outcome([&] { return ::read(STDIN_FILENO, &character, 1); }), kRefused);
  ::close(mine);
  ::close(opened);
}

TEST(Sandbox, MemoryCannotBeMadeExecutable) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's runtime needs calls that the filter refuses";
  const auto mapped = [](int protection) {
    return ::mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
  };
  EXPECT_EQ(outcome([&] { return mapped(PROT_READ | PROT_WRITE); }), "0 0");
  EXPECT_EQ(outcome([&] { return mapped(PROT_READ | PROT_EXEC); }), kRefused);
}

TEST(Sandbox, RootIsNobodyInThereAndHasNoCapabilities) {
  if (::getuid() != 0) GTEST_SKIP() << "takes root";
  // Seen from outside, while it computes.
  const auto outer = ::fork();
  ASSERT_GE(outer, 0);
  if (outer == 0) {
    (void)run_confined(
        [] {
          for (const volatile bool on = true; on;) {
          }
          return std::string();
        },
        {.cpu = std::chrono::seconds(300),
         .memory_bytes = kLimits.memory_bytes,
         .answer_bytes = 10,
         .time = std::chrono::seconds(300)});
    ::_exit(0);
  }
  const auto children = "/proc/" + std::to_string(outer) + "/task/" + std::to_string(outer) + "/children";
  // Some of these hold in a container from the beginning on.
  std::vector<std::string> confined{"Uid:\t65534\t65534\t65534\t65534", "CapPrm:\t0000000000000000",
                                    "CapEff:\t0000000000000000", "NoNewPrivs:\t1"};
  if (!kSanitized) confined.emplace_back("Seccomp:\t2");
  std::string status, child;
  (void)unit::wait_until([&] {
    child.clear();
    std::ifstream(children) >> child;
    std::ostringstream text;
    if (!child.empty()) text << std::ifstream("/proc/" + child + "/status").rdbuf();
    status = text.str();
    return std::all_of(confined.begin(), confined.end(),
                       [&](const std::string& line) { return status.find(line) != std::string::npos; });
  });
  (void)::kill(outer, SIGKILL);
  (void)::waitpid(outer, nullptr, 0);
  for (const auto& line : confined) EXPECT_THAT(status, HasSubstr(line));
  ASSERT_FALSE(child.empty());
  const bool over = unit::wait_until([&] {
    std::ostringstream text;
    text << std::ifstream("/proc/" + child + "/status").rdbuf();
    return text.str().find("State:") == std::string::npos ||
           text.str().find("State:\tZ") != std::string::npos;
  });
  EXPECT_TRUE(over) << "it ends with its parent";
  if (!over) (void)::kill(std::stoi(child), SIGKILL);
}

TEST(Sandbox, TooMuchTimeOrMemoryIsAnError) {
  const auto spins = run_confined(
      [] {
        for (const volatile bool on = true; on;) {
        }
        return std::string();
      },
      {.cpu = std::chrono::seconds(1),
       .memory_bytes = kLimits.memory_bytes,
       .answer_bytes = 10,
       .time = std::chrono::seconds(60)});
  ASSERT_FALSE(spins);
  EXPECT_THAT(spins.error().message, HasSubstr("more than the 1 s of processor time"));
  EXPECT_EQ(spins.error().code, base::Code::kRefused);
#ifndef RDMACFG_SANITIZED
  const auto eats = run_confined(
      [] {
        std::vector<std::string> all;
        for (;;) all.emplace_back(std::size_t{16} << 20U, 'x');
        return std::string();
      },
      kLimits);
  ASSERT_FALSE(eats);
  EXPECT_THAT(eats.error().message, HasSubstr("more than the 512 MiB of memory"));
#endif
}

TEST(Sandbox, ACrashOrAnExceptionInThereIsAnError) {
  const auto crashed = run_confined(
      []() -> std::string {
        ::signal(SIGSEGV, SIG_DFL);
        *static_cast<volatile int*>(nullptr) = 1;
        return "";
      },
      kLimits);
  EXPECT_FALSE(crashed);
  const auto thrown = run_confined([]() -> std::string { throw 1; }, kLimits);
  ASSERT_FALSE(thrown);
  EXPECT_THAT(thrown.error().message, HasSubstr("ended with status"));
}

}  // namespace
}  // namespace rdmacfg::system
