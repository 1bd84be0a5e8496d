// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/verbs_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <sstream>
#include <string_view>

#include "daemon/jobs/worker_process.hpp"
#include "unit/system/temp_tree.hpp"

namespace rdmacfg::daemon {
namespace {

using system::VerbsNode;
using Nodes = std::set<VerbsNode>;
using Strings = std::vector<std::string>;

constexpr const char* kFolder = "RDMACFG_TEST_VERBS";

/// Stands in for the process that opens: the test program itself, started with the daemon's arguments. A
/// device is a FIFO of its name; of one without, nothing can be opened.
[[gnu::constructor]] void stand_in(int argc, char** argv) {
  const char* folder = ::getenv(kFolder);
  if (folder == nullptr || argc < 3 || std::string_view(argv[1]) != "--verbs") return;
  const std::string here(folder);
  for (int i = 2; i < argc; ++i) {
    std::ofstream(here + "/asked", std::ios::app) << argv[i] << '\n';
    const std::string text(argv[i]);
    const auto name = text.substr(0, text.find(':'));
    if (::access((here + "/" + name + ".stuck").c_str(), F_OK) == 0) ::pause();
    system::OpenVerbs open;
    open.node = {name, std::stoull(text.substr(text.find(':') + 1))};
    open.device = "mlx4_" + name.substr(6);
    const base::UniqueFd fifo(::open((here + "/" + name).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (fifo) {
      open.command = base::UniqueFd(::dup(fifo.get()));
      open.events = base::UniqueFd(::dup(fifo.get()));
    }
    if (!system::send_verbs(STDIN_FILENO, open)) ::_exit(1);
  }
  ::_exit(0);
}

class VerbsWatchTest : public ::testing::Test {
 protected:
  VerbsWatchTest() {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, nullptr);
    ::setenv(kFolder, tree.at("").c_str(), 1);
  }
  ~VerbsWatchTest() override { ::unsetenv(kFolder); }

  void make_device(const std::string& name) const {
    ASSERT_EQ(::mkfifo(tree.at("/" + name).c_str(), 0600), 0);
  }
  /// The end that the kernel would have.
  [[nodiscard]] base::UniqueFd port_of(const std::string& name) const {
    return base::UniqueFd(::open(tree.at("/" + name).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  }
  static void report(const base::UniqueFd& port, std::uint32_t type, std::uint64_t number) {
    const ib_uverbs_async_event_desc event{number, type, 0};
    ASSERT_EQ(::write(port.get(), &event, sizeof event), static_cast<ssize_t>(sizeof event));
  }
  /// Then the next one; the loop ends after the last.
  struct Step {
    std::function<bool()> ready;  ///< waited for
    std::function<void()> then;
  };
  void play(std::vector<Step> steps) {
    steps_ = std::move(steps);
    const auto too_long = loop.after(std::chrono::seconds(60), [this] { loop.stop(1); });
    next(0);
    EXPECT_EQ(loop.run(), 0) << "step " << step_ << " of " << steps_.size() << " did not come; asked for "
                             << ::testing::PrintToString(asked()) << ", heard "
                             << ::testing::PrintToString(heard) << ", " << watch.held() << " are held";
  }
  [[nodiscard]] Strings asked() const {
    std::istringstream lines(tree.get("/asked"));
    Strings out;
    for (std::string line; std::getline(lines, line);) out.push_back(line);
    return out;
  }

  system::TempTree tree;
  Loop loop;
  Nodes there;
  Strings heard;
  int reads = 0;
  VerbsWatch watch{loop,
                   "/proc/self/exe",
                   {[this](const system::Event& event) {
                      EXPECT_EQ(event.sort, system::Event::Sort::kPort);
                      heard.push_back(event.what);
                    },
                    [this] { ++reads; }},
                   [this] { return there; }};

 private:
  void next(std::size_t step) {
    step_ = step;
    poll_ = loop.after(std::chrono::milliseconds(5), [this, step] {
      if (step == steps_.size()) return loop.stop(0);
      const bool ready = steps_[step].ready();
      if (ready) steps_[step].then();
      next(ready ? step + 1 : step);
    });
  }

  std::vector<Step> steps_;
  std::size_t step_ = 0;
  Loop::Handle poll_;
};

TEST_F(VerbsWatchTest, WhatPortsReportIsTold) {
  make_device("uverbs0");
  there = {{"uverbs0", 7}};
  base::UniqueFd port;
  watch.want(true);
  play({{[&] { return watch.held() == 1; },
         [&] {
           EXPECT_EQ(heard, Strings{"mlx4_0 is listened to"});
           EXPECT_EQ(reads, 1);
           port = port_of("uverbs0");
           report(port, IBV_EVENT_PKEY_CHANGE, 2);
           report(port, IBV_EVENT_COMM_EST, 1);  // of a queue pair
           report(port, IBV_EVENT_PORT_ERR, 1);
         }},
        {[&] { return reads > 1; }, [] {}}});
  EXPECT_EQ(heard, (Strings{"mlx4_0 is listened to", "mlx4_0 port 2: P_Key table",
                            "mlx4_0 port 1: no longer active"}));
}

TEST_F(VerbsWatchTest, WhatCannotBeOpenedIsTriedAgainWhenItHasComeAgain) {
  there = {{"uverbs0", 7}, {"uverbs1", 8}};
  make_device("uverbs1");
  watch.want(true);
  play({{[&] { return watch.held() == 1; }, [&] { watch.want(true); }},
        {[&] { return asked().size() == 2; },
         [&] {
           make_device("uverbs0");
           there = {{"uverbs0", 9}, {"uverbs1", 8}};
         }},
        {[&] {
           watch.want(true);
           return watch.held() == 2;
         },
         [] {}}});
  EXPECT_EQ(asked(), (Strings{"uverbs0:7", "uverbs1:8", "uverbs0:9"}));
}

TEST_F(VerbsWatchTest, ADeviceThatGoesIsClosedAtOnce) {
  make_device("uverbs0");
  there = {{"uverbs0", 7}};
  base::UniqueFd port;
  watch.want(true);
  play({{[&] { return watch.held() == 1; }, [&] { port = port_of("uverbs0"); }},
        {[&] { return port.get() >= 0; }, [&] { port.reset(); }},
        {[&] { return watch.held() == 0 && !port_of("uverbs0"); },  // nobody has it open
         [&] {
           watch.want(true);  // udev has not told yet
           there = {};
           watch.want(true);
           there = {{"uverbs0", 11}};
           watch.want(true);
         }},
        {[&] { return watch.held() == 1; }, [] {}}});
  EXPECT_EQ(asked(), (Strings{"uverbs0:7", "uverbs0:11"}));
}

TEST_F(VerbsWatchTest, ADeviceThatItsDriverHasGivenUpIsClosed) {
  make_device("uverbs0");
  there = {{"uverbs0", 7}};
  base::UniqueFd port;
  watch.want(true);
  play({{[&] { return watch.held() == 1; },
         [&] {
           port = port_of("uverbs0");
           report(port, IBV_EVENT_DEVICE_FATAL, 0);
         }},
        {[&] { return watch.held() == 0; }, [&] { watch.want(true); }}});
  EXPECT_EQ(heard.back(), "mlx4_0 fatal error");
  EXPECT_EQ(asked(), Strings{"uverbs0:7"});
}

TEST_F(VerbsWatchTest, NothingIsHeldWhereNothingIsWanted) {
  make_device("uverbs0");
  there = {{"uverbs0", 7}};
  watch.want(false);
  watch.want(true);
  play({{[&] { return watch.held() == 1; },
         [&] {
           watch.want(false);
           EXPECT_EQ(watch.held(), 0U);
         }},
        // Its child has the device open until it ends.
        {[&] { return !port_of("uverbs0"); }, [] {}}});
}

TEST_F(VerbsWatchTest, WhatIsNotWantedAnyMoreWhenItIsOpenIsClosed) {
  make_device("uverbs0");
  there = {{"uverbs0", 7}};
  watch.want(true);
  watch.want(false);
  play({{[&] { return asked().size() == 1 && !port_of("uverbs0"); }, [&] { watch.want(true); }},
        {[&] { return watch.held() == 1; }, [] {}}});
}

TEST_F(VerbsWatchTest, DevicesThatComeMeanwhileAreOpenedNext) {
  make_device("uverbs0");
  make_device("uverbs1");
  there = {{"uverbs0", 7}};
  watch.want(true);
  there.insert({"uverbs1", 8});
  watch.want(true);
  make_device("uverbs2");
  play({{[&] { return watch.held() == 2; },
         [&] {
           there.insert({"uverbs2", 9});
         }},
        {[&] {
           watch.want(true);
           return watch.held() == 3;
         },
         [] {}}});
  EXPECT_EQ(asked(), (Strings{"uverbs0:7", "uverbs1:8", "uverbs2:9"}));
}

TEST_F(VerbsWatchTest, ADeviceThatHangsWhenOpenedHoldsUpNobody) {
  tree.put("/uverbs0.stuck", "");
  there = {{"uverbs0", 7}};
  watch.want(true);
  play({{[&] { return asked().size() == 1; }, [&] { watch.want(true); }}});
  EXPECT_EQ(watch.held(), 0U);
  watch.stop();
  EXPECT_EQ(asked(), Strings{"uverbs0:7"});
}

TEST(OpenVerbsFor, ArgumentsThatAreNone) {
  EXPECT_EQ(open_verbs_for(-1, {"uverbs0"}), 1);
  EXPECT_EQ(open_verbs_for(-1, {"uverbs0:"}), 1);
  EXPECT_EQ(open_verbs_for(-1, {"uverbs0:x"}), 1);
  EXPECT_EQ(open_verbs_for(-1, {}), 0);
}

TEST(VerbsProcess, EndsWithTheDaemon) {
  std::array<int, 2> ends{-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  base::UniqueFd other(ends[0]);
  const base::UniqueFd own(ends[1]);
  const auto in_a_child = [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      sigset_t blocked;
      ::sigemptyset(&blocked);
      ::sigaddset(&blocked, SIGTERM);
      ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
      if (!end_with_daemon(own.get())) ::_exit(2);
      int at_end = 0;
      ::prctl(PR_GET_PDEATHSIG, &at_end);
      ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
      ::_exit(at_end == SIGKILL && ::sigismember(&blocked, SIGTERM) == 0 ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(in_a_child(), 0);
  other.reset();
  EXPECT_EQ(in_a_child(), 2) << "it has ended before";
}

}  // namespace
}  // namespace rdmacfg::daemon
