// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/rdma_watch.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"

namespace rdmacfg::daemon {
namespace {

using system::Event;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The next events of the kernel, and how many have the source open.
struct PlayedKernel {
  std::vector<Event> next;
  bool goes = false;  ///< the last device
  int open = 0;
};

/// A source over a pipe: a byte in the pipe makes `next` readable.
class PlayedRdma final : public system::EndingSource {
 public:
  PlayedRdma(PlayedKernel& kernel, int fd) : kernel_(kernel), fd_(fd) { ++kernel_.open; }
  PlayedRdma(const PlayedRdma&) = delete;
  PlayedRdma& operator=(const PlayedRdma&) = delete;
  ~PlayedRdma() override { --kernel_.open; }

  [[nodiscard]] int fd() const override { return fd_.get(); }
  [[nodiscard]] bool ended() const override { return ended_; }
  std::vector<Event> read() override {
    std::array<char, 8> bytes{};
    EXPECT_GT(::read(fd_.get(), bytes.data(), bytes.size()), 0);
    ended_ = kernel_.goes;
    return std::exchange(kernel_.next, {});
  }

 private:
  PlayedKernel& kernel_;
  base::UniqueFd fd_;
  bool ended_ = false;
};

class RdmaWatchTest : public ::testing::Test {
 protected:
  base::Result<std::unique_ptr<system::EndingSource>> open() {
    ++asked;
    if (refusal) return base::fail(*refusal, "no notifications for a test");
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return base::fail_errno(errno, "pipe2");
    send_end = base::UniqueFd(ends[1]);
    return std::make_unique<PlayedRdma>(kernel, ends[0]);
  }
  /// The kernel sends these; the loop runs until they are read.
  void send(std::vector<Event> events, bool goes = false) {
    kernel.next = std::move(events);
    kernel.goes = goes;
    ASSERT_EQ(::write(send_end.get(), "x", 1), 1);
    const auto too_long = loop.after(std::chrono::seconds(60), [this] { loop.stop(1); });
    until_read();
    EXPECT_EQ(loop.run(), 0) << "nothing was read";
  }

  PlayedKernel kernel;
  std::optional<base::Code> refusal;
  int asked = 0, reads = 0;
  bool device = true;
  std::vector<std::string> heard;
  base::UniqueFd send_end;
  Loop loop;
  RdmaWatch watch{loop,
                  {[this](const Event& event) { heard.push_back(event.what); }, [this] { ++reads; }},
                  [this] { return device; },
                  [this] { return open(); }};

 private:
  void until_read() {
    if (kernel.next.empty() && (!kernel.goes || kernel.open == 0)) return loop.stop(0);
    poll_ = loop.after(std::chrono::milliseconds(1), [this] { until_read(); });
  }

  Loop::Handle poll_;
};

TEST_F(RdmaWatchTest, ListensWhereSomethingIsWantedOfAPortThatIsThere) {
  EXPECT_FALSE(watch.want(false));
  device = false;
  EXPECT_FALSE(watch.want(true));
  EXPECT_EQ(asked, 0) << "opening RDMA netlink loads ib_core";
  device = true;
  EXPECT_TRUE(watch.want(true)) << "earlier notifications were not heard";
  EXPECT_FALSE(watch.want(true)) << "it listens already";
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(kernel.open, 1);
  EXPECT_FALSE(watch.want(false));
  EXPECT_EQ(kernel.open, 0) << "the socket keeps ib_core from being unloaded";
  EXPECT_TRUE(watch.want(true));
  device = false;
  EXPECT_FALSE(watch.want(true));
  EXPECT_EQ(kernel.open, 0) << "that the last device goes was not heard";
  EXPECT_FALSE(watch.listens());
}

TEST_F(RdmaWatchTest, EventsAreTold) {
  ASSERT_TRUE(watch.want(true));
  send({{Event::Sort::kPort, "mlx5_0 port 1: net device eth2"}, Event::lost(Event::Queue::kRdmaNetlink)});
  EXPECT_THAT(heard, ElementsAre("mlx5_0 port 1: net device eth2", "RDMA netlink"));
  EXPECT_EQ(reads, 1);
  EXPECT_TRUE(watch.listens());
}

TEST_F(RdmaWatchTest, TheSocketIsClosedWhenTheLastDeviceGoes) {
  ASSERT_TRUE(watch.want(true));
  send({}, true);
  EXPECT_EQ(kernel.open, 0);
  EXPECT_THAT(heard, IsEmpty()) << "udev tells of it";
  EXPECT_EQ(reads, 0);
}

TEST_F(RdmaWatchTest, WhatCameBeforeTheLastDeviceWentIsTold) {
  ASSERT_TRUE(watch.want(true));
  send({{Event::Sort::kPort, "mlx5_0 port 1: no net device"}}, true);
  EXPECT_EQ(kernel.open, 0);
  EXPECT_THAT(heard, ElementsAre("mlx5_0 port 1: no net device"));
}

TEST_F(RdmaWatchTest, ItListensAgainWhenADeviceIsBack) {
  ASSERT_TRUE(watch.want(true));
  kernel.goes = true;
  ASSERT_EQ(::write(send_end.get(), "x", 1), 1);
  bool notified = false;
  Loop::Handle next;
  const std::function<void()> step = [&] {
    if (!heard.empty()) return loop.stop(0);
    if (!notified && kernel.open == 0) {
      kernel.goes = false;
      notified = watch.want(true);
      if (!notified) return loop.stop(2);
      kernel.next = {{Event::Sort::kPort, "mlx5_0 port 1: net device eth2"}};
      EXPECT_EQ(::write(send_end.get(), "x", 1), 1);
    }
    next = loop.after(std::chrono::milliseconds(1), step);
  };
  const auto too_long = loop.after(std::chrono::seconds(60), [this] { loop.stop(1); });
  step();
  EXPECT_EQ(loop.run(), 0) << "1: nothing was heard; 2: it did not say that it had not listened";
  EXPECT_THAT(heard, ElementsAre("mlx5_0 port 1: net device eth2"));
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(kernel.open, 1);
}

TEST_F(RdmaWatchTest, AKernelWithoutNotificationsIsAskedOnceForItsDevices) {
  refusal = base::Code::kUnsupported;
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(watch.want(true));
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(watch.want(false));
  EXPECT_FALSE(watch.want(true));
  EXPECT_EQ(asked, 1) << "it is the same kernel module";
  device = false;
  EXPECT_FALSE(watch.want(true));
  device = true;
  EXPECT_FALSE(watch.want(true));
  EXPECT_EQ(asked, 2) << "of another release, perhaps";
  refusal.reset();
  device = false;
  (void)watch.want(true);
  device = true;
  EXPECT_TRUE(watch.want(true));
  const auto printed = ::testing::internal::GetCapturedStderr();
  // Empty where there is a journal.
  if (printed.empty()) return;
  const auto first = printed.find("no notifications for a test");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(printed.find("no notifications for a test", first + 1), std::string::npos) << "said once";
}

TEST_F(RdmaWatchTest, AKernelThatRefusesNowIsAskedTheNextTime) {
  ::testing::internal::CaptureStderr();
  refusal = base::Code::kBusy;
  EXPECT_FALSE(watch.want(true));
  EXPECT_FALSE(watch.want(true));
  refusal.reset();
  EXPECT_TRUE(watch.want(true));
  (void)::testing::internal::GetCapturedStderr();
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace rdmacfg::daemon
