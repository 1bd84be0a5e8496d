// SPDX-License-Identifier: Apache-2.0
#include "daemon/loop.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace rdmacfg::daemon {
namespace {

using namespace std::chrono_literals;

TEST(Loop, ATimeIsCountedFromWhenItWasAskedFor) {
  Loop loop;
  std::chrono::milliseconds asked{0}, came{0};
  Loop::Handle second;
  const auto first = loop.after(0ms, [&] {
    std::this_thread::sleep_for(150ms);  // a long callback
    asked = Loop::now();
    second = loop.after(100ms, [&] {
      came = Loop::now();
      loop.stop(0);
    });
  });
  EXPECT_EQ(loop.run(), 0);
  EXPECT_GE(came - asked, 99ms);
}

TEST(Loop, WhatACallbackThrowsEndsNothing) {
  Loop loop;
  const auto first = loop.after(0ms, [] { throw std::runtime_error("a bug"); });
  const auto second = loop.after(10ms, [] { throw 1; });
  const auto third = loop.after(20ms, [&] { loop.stop(3); });
  EXPECT_EQ(loop.run(), 3);
}

}  // namespace
}  // namespace rdmacfg::daemon
