// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/dispatch.hpp"

#include <gtest/gtest.h>

namespace rdmacfg::daemon {
namespace {

/// How many of them are handled.
std::size_t handled_of(std::size_t messages) {
  std::size_t handled = 0;
  dispatch_batch([&] { return handled < messages && ++handled > 0; });
  return handled;
}

TEST(Turn, AFloodOfMessagesEnds) {
  using model::limits::kBusMessages;
  EXPECT_EQ(handled_of(0), 0U);
  EXPECT_EQ(handled_of(kBusMessages - 1), kBusMessages - 1);
  EXPECT_EQ(handled_of(kBusMessages), kBusMessages);
  EXPECT_EQ(handled_of(kBusMessages + 1), kBusMessages);
}

}  // namespace
}  // namespace rdmacfg::daemon
