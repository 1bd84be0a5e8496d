// SPDX-License-Identifier: Apache-2.0
#include "ctl/render/progress.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "unit/ctl/console.hpp"

namespace rdmacfg::ctl {
namespace {

using namespace std::chrono_literals;

TEST(Progress, SpeaksAfterASecondAndCleansUp) {
  Console console;
  std::atomic<int> seconds = 0;
  console.environment.err_terminal = true;
  console.environment.now = [&] { return std::chrono::steady_clock::time_point(seconds.load() * 1s); };
  {
    Progress progress(console.environment, {.utf8 = true, .width = 80});
    progress.step(2, 12, "mlx4_ib0");
    progress.draw();
    seconds = 3;
    progress.draw();
    progress.step(12, 12, "");
    progress.draw();
  }
  const auto text = console.err.str();
  EXPECT_TRUE(text.starts_with("\r\033[Kapplying 3 of 12: mlx4_ib0 … 3 s")) << text;
  EXPECT_NE(text.find("checking the result … 3 s"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\033[K")) << text;
}

TEST(Progress, SaysWhatItWaitsFor) {
  Console console;
  { Progress(console.environment, {}).step(0, 0, "process 7 is applying"); }
  EXPECT_EQ(console.err.str(), "rdma-configctl: process 7 is applying\n");
  console.err.str("");
  std::atomic<int> seconds = 0;
  console.environment.err_terminal = true;
  console.environment.now = [&] { return std::chrono::steady_clock::time_point(seconds.load() * 1s); };
  {
    Progress progress(console.environment, {.utf8 = true, .width = 80});
    progress.step(0, 0, "process 7 is applying");
    seconds = 3;
    progress.draw();
  }  // its thread writes until then
  EXPECT_TRUE(console.err.str().starts_with("\r\033[Kprocess 7 is applying … 3 s")) << console.err.str();
}

TEST(Progress, IsSilentWithoutATerminal) {
  Console console;
  int calls = 0;
  console.environment.now = [&] { return std::chrono::steady_clock::time_point(calls++ * 10s); };
  {
    Progress progress(console.environment, {});
    progress.step(0, 1, "x");
    progress.draw();
  }
  EXPECT_EQ(console.err.str(), "");
}

}  // namespace
}  // namespace rdmacfg::ctl
