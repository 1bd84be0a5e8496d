// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/dispatch.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <cstdint>

namespace rdmacfg::daemon {
namespace {

/// How many of them are handled.
std::size_t handled_of(std::size_t messages) {
  std::size_t handled = 0;
  dispatch_batch([&] { return handled < messages && ++handled > 0; }, [] { return false; });
  return handled;
}

TEST(Turn, AFloodOfMessagesEnds) {
  using model::limits::kBusMessages;
  EXPECT_EQ(handled_of(0), 0U);
  EXPECT_EQ(handled_of(kBusMessages - 1), kBusMessages - 1);
  EXPECT_EQ(handled_of(kBusMessages), kBusMessages);
  EXPECT_EQ(handled_of(kBusMessages + 1), kBusMessages);
}

/// A client that sends calls and reads no answers: those would fill the memory.
TEST(Turn, NoCallIsReadWhileAnswersWait) {
  std::size_t handled = 0;
  dispatch_batch([&] { return ++handled > 0; }, [&] { return handled == 3; });
  EXPECT_EQ(handled, 3U);

  constexpr std::uint64_t kAtPresent = 5'000'000, kNever = UINT64_MAX;
  const auto idle = interest_in_bus(POLLIN, 0, kAtPresent);
  EXPECT_EQ(idle.events, POLLIN);
  EXPECT_EQ(idle.deadline_us, 0U) << "messages that were read already";
  const auto busy = interest_in_bus(POLLIN | POLLOUT, 0, kAtPresent);
  EXPECT_EQ(busy.events, POLLOUT);
  EXPECT_GT(busy.deadline_us, kAtPresent) << "nor those that were read already";
  EXPECT_EQ(interest_in_bus(POLLOUT, kNever, kAtPresent).deadline_us, kNever);
}

}  // namespace
}  // namespace rdmacfg::daemon
