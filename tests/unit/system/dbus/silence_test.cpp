// SPDX-License-Identifier: Apache-2.0
// A peer that does not answer is waited for once: system/linux/dbus/silence.hpp, await_steps() of
// systemd.hpp.
#include "system/linux/dbus/silence.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>

#include "system/linux/dbus/systemd.hpp"

namespace rdmacfg::system {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Silence, AfterOneAnswersAreWaitedForBriefly) {
  auto now = Silence::Clock::time_point(seconds(1000));
  Silence silence([&now] { return now; });
  constexpr seconds kWhole{25};
  EXPECT_FALSE(silence.presumed());
  EXPECT_EQ(silence.patience(kWhole), kWhole);
  silence.note();
  EXPECT_TRUE(silence.presumed());
  EXPECT_EQ(silence.patience(kWhole), Silence::kBriefly);
  EXPECT_EQ(silence.patience(milliseconds(10)), milliseconds(10)) << "never longer than asked for";
  now += Silence::kLasts - milliseconds(1);
  EXPECT_TRUE(silence.presumed());
  silence.note();  // of a brief wait
  now += milliseconds(1);
  EXPECT_EQ(silence.patience(kWhole), kWhole) << "it gets another chance";
  silence.note();
  silence.end();
  EXPECT_EQ(silence.patience(kWhole), kWhole) << "it has answered";
}

TEST(Silence, EachNameBehindTheBusHasItsOwn) {
  Silences silences([] { return Silence::Clock::time_point(seconds(1000)); });
  auto& first = silences.behind("org.freedesktop.NetworkManager");
  first.note();
  EXPECT_FALSE(silences.behind("org.freedesktop.resolve1").presumed());
  EXPECT_TRUE(silences.behind("org.freedesktop.NetworkManager").presumed());
  EXPECT_EQ(&silences.behind("org.freedesktop.NetworkManager"), &first);
  EXPECT_FALSE(silences.bus.presumed());
}

// Time passes only with the steps, by one millisecond each.
struct Steps {
  Silence::Clock::time_point now{};
  int processed = 0, waited = 0;
  int process = 0;    ///< what each step returns
  int wait = 0;       ///< and each wait
  int ready_at = -1;  ///< after so many steps; -1: never

  [[nodiscard]] detail::OpeningSteps functions() {
    return {[this] { return ready_at >= 0 && processed >= ready_at; },
            [this] {
              ++processed;
              now += milliseconds(1);
              return process;
            },
            [this](std::chrono::microseconds /*at_most*/) {
              ++waited;
              now += milliseconds(1);
              return wait;
            },
            [this] { return now; }};
  }
};

TEST(AwaitReady, TheDeadlineHolds) {
  struct Row {
    const char* name;
    int process, wait, ready_at, status;
  };
  for (const auto& row : {
           Row{"nothing comes", 0, 1, -1, -ETIMEDOUT},
           Row{"messages without end", 1, 1, -1, -ETIMEDOUT},
           Row{"signals interrupt", 0, -EINTR, -1, -ETIMEDOUT},
           Row{"it becomes ready", 1, 1, 3, 0},
           Row{"it is ready", 0, 1, 0, 0},
           Row{"the last step makes it ready", 1, 1, 10, 0},
           Row{"the connection ends", -ECONNRESET, 1, -1, -ECONNRESET},
           Row{"waiting fails", 0, -EBADF, -1, -EBADF},
       }) {
    SCOPED_TRACE(row.name);
    Steps steps;
    steps.process = row.process;
    steps.wait = row.wait;
    steps.ready_at = row.ready_at;
    EXPECT_EQ(detail::await_steps(steps.functions(), milliseconds(10)), row.status);
    EXPECT_LE(steps.processed, 10);
  }
}

}  // namespace
}  // namespace rdmacfg::system
