// SPDX-License-Identifier: Apache-2.0
// Numbers are those of include/uapi/rdma/rdma_netlink.h of Linux 6.13.
#include "system/linux/netlink/rdma_monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <deque>
#include <string_view>
#include <utility>

namespace rdmacfg::system::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint16_t kMonitorMessage = 0x141c;  // RDMA_NL_NLDEV, RDMA_NLDEV_CMD_MONITOR
constexpr std::uint16_t kSystemAnswer = 0x1406;    // RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET
constexpr std::uint16_t kDeviceIndex = 1, kDeviceName = 2, kPortIndex = 3, kNetdevIndex = 50,
                        kNetdevName = 51, kEventType = 102, kMonitorMode = 103;
constexpr std::uint8_t kRegistered = 0, kUnregistered = 1, kAttached = 2, kDetached = 3, kRenamed = 4,
                       kNetdevRenamed = 5;

/// A datagram of RDMA netlink in bytes: messages, each with its attributes.
class RdmaDatagram {
 public:
  RdmaDatagram& message(std::uint16_t type = kMonitorMessage) {
    start_ = bytes_.size();
    append(std::uint32_t{0});
    append(type);
    append(std::uint16_t{0});
    append(std::uint32_t{0});
    append(std::uint32_t{0});
    return length();
  }
  template <class Value>
  RdmaDatagram& attribute(std::uint16_t type, Value value) {
    append(static_cast<std::uint16_t>(4 + sizeof value));
    append(type);
    append(value);
    return length();
  }
  RdmaDatagram& text(std::uint16_t type, std::string_view value, bool terminated = true) {
    append(static_cast<std::uint16_t>(4 + value.size() + (terminated ? 1 : 0)));
    append(type);
    for (const char character : value) append(character);
    if (terminated) append('\0');
    return length();
  }
  /// The length that the last message claims.
  RdmaDatagram& claim(std::uint32_t length) {
    std::memcpy(bytes_.data() + start_, &length, sizeof length);
    return *this;
  }
  RdmaDatagram& cut(std::size_t count) {
    bytes_.resize(bytes_.size() - count);
    return *this;
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  template <class Value>
  void append(Value value) {
    const auto raw = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  /// The kernel counts the padding of the last attribute, too (nlmsg_end()).
  RdmaDatagram& length() {
    while (bytes_.size() % 4 != 0) bytes_.push_back(std::byte{0});
    return claim(static_cast<std::uint32_t>(bytes_.size() - start_));
  }

  std::vector<std::byte> bytes_;
  std::size_t start_ = 0;
};

RdmaDatagram device_notice(std::uint8_t type, std::string_view device) {
  RdmaDatagram out;
  out.message().attribute(kDeviceIndex, std::uint32_t{6}).text(kDeviceName, device);
  out.attribute(kEventType, type);
  return out;
}

RdmaDatagram attach_notice() {
  RdmaDatagram out;
  out.message().attribute(kDeviceIndex, std::uint32_t{6}).text(kDeviceName, "mlx5_0");
  out.attribute(kPortIndex, std::uint32_t{1}).attribute(kNetdevIndex, std::uint32_t{4});
  out.text(kNetdevName, "eth2").attribute(kEventType, kAttached);
  return out;
}

const RdmaNotification kAttach{RdmaNotice::kNetdevAttach, 6, "mlx5_0", 1, 4, "eth2"};

TEST(RdmaMonitor, ANotificationInBytes) {
  if constexpr (std::endian::native != std::endian::little) GTEST_SKIP() << "netlink has the host's order";
  constexpr std::array<unsigned char, 72> kBytes{
      0x48, 0, 0,   0, 0x1c, 0x14, 0,   0,   0,   0,   0, 0, 0, 0, 0, 0,  // nlmsghdr
      8,    0, 1,   0, 6,    0,    0,   0,                                // DEV_INDEX
      11,   0, 2,   0, 'm',  'l',  'x', '5', '_', '0', 0, 0,              // DEV_NAME
      8,    0, 3,   0, 1,    0,    0,   0,                                // PORT_INDEX
      8,    0, 50,  0, 4,    0,    0,   0,                                // NDEV_INDEX
      9,    0, 51,  0, 'e',  't',  'h', '2', 0,   0,   0, 0,              // NDEV_NAME
      5,    0, 102, 0, 2,    0,    0,   0};                               // EVENT_TYPE
  const auto found = rdma_notifications_in(std::as_bytes(std::span(kBytes)));
  EXPECT_TRUE(found.whole);
  EXPECT_THAT(found.all, ElementsAre(kAttach));
}

TEST(RdmaMonitor, AttributesComeInAnyOrder) {
  RdmaDatagram datagram;
  datagram.message().attribute(kEventType, kAttached).text(kNetdevName, "eth2");
  datagram.attribute(kNetdevIndex, std::uint32_t{4}).attribute(std::uint16_t{999}, std::uint32_t{7});
  datagram.attribute(kPortIndex, std::uint32_t{1}).text(kDeviceName, "mlx5_0");
  datagram.attribute(kDeviceIndex, std::uint32_t{6});
  EXPECT_THAT(rdma_notifications_in(datagram.bytes()).all, ElementsAre(kAttach));
}

TEST(RdmaMonitor, ATextNeedsNoNul) {
  RdmaDatagram datagram;
  datagram.message().attribute(kEventType, kRenamed).text(kDeviceName, "mlx5", false);
  const auto found = rdma_notifications_in(datagram.bytes());
  ASSERT_THAT(found.all, SizeIs(1));
  EXPECT_EQ(found.all[0].device, "mlx5");
}

TEST(RdmaMonitor, ANumberThatIsTooShortIsMissing) {
  RdmaDatagram datagram;
  datagram.message().attribute(kPortIndex, std::uint16_t{1}).attribute(kEventType, kDetached);
  EXPECT_THAT(rdma_notifications_in(datagram.bytes()).all,
              ElementsAre(RdmaNotification{.notice = RdmaNotice::kNetdevDetach}));
}

TEST(RdmaMonitor, WhatIsNoKnownNotificationIsPassedOver) {
  struct Case {
    const char* what;
    RdmaDatagram datagram;
  };
  const std::vector<Case> cases{
      {"nothing", {}},
      {"no attributes", RdmaDatagram().message()},
      {"no type", RdmaDatagram().message().attribute(kDeviceIndex, std::uint32_t{6})},
      {"an empty type", RdmaDatagram().message().text(kEventType, "", false)},
      {"a type of a later kernel", device_notice(kNetdevRenamed + 1, "mlx5_0")},
      {"the largest type", device_notice(255, "mlx5_0")},
      {"an answer", RdmaDatagram().message(kSystemAnswer).attribute(kEventType, kAttached)},
      {"an acknowledgement", RdmaDatagram().message(2).attribute(kEventType, kAttached)}};
  for (const auto& [what, datagram] : cases) {
    const auto found = rdma_notifications_in(datagram.bytes());
    EXPECT_THAT(found.all, IsEmpty()) << what;
    EXPECT_TRUE(found.whole) << what;
  }
}

TEST(RdmaMonitor, SeveralMessagesInADatagram) {
  auto datagram = device_notice(kRegistered, "mlx5_0");
  datagram.message(2).message().attribute(kEventType, kUnregistered).text(kDeviceName, "mlx5_1");
  const auto found = rdma_notifications_in(datagram.bytes());
  EXPECT_TRUE(found.whole);
  ASSERT_THAT(found.all, SizeIs(2));
  EXPECT_EQ(found.all[0].notice, RdmaNotice::kRegister);
  EXPECT_EQ(found.all[0].device, "mlx5_0");
  EXPECT_EQ(found.all[1].notice, RdmaNotice::kUnregister);
  EXPECT_EQ(found.all[1].device, "mlx5_1");
}

TEST(RdmaMonitor, ATornDatagramIsNotWhole) {
  const auto size = attach_notice().bytes().size();
  for (std::size_t count = 1; count < size; ++count)
    EXPECT_FALSE(rdma_notifications_in(attach_notice().cut(count).bytes()).whole) << count;
  for (const std::uint32_t claimed : {0U, 15U, 100'000U, 0xffffffffU}) {
    const auto found = rdma_notifications_in(attach_notice().claim(claimed).bytes());
    EXPECT_FALSE(found.whole) << claimed;
    EXPECT_THAT(found.all, IsEmpty()) << claimed;
  }
  auto second = attach_notice();
  second.message().attribute(kEventType, kDetached).cut(4);
  const auto found = rdma_notifications_in(second.bytes());
  EXPECT_FALSE(found.whole);
  EXPECT_THAT(found.all, ElementsAre(kAttach)) << "the first is";
}

TEST(RdmaMonitor, AnAttributeThatClaimsTooMuchEndsTheMessage) {
  RdmaDatagram datagram;
  datagram.message().attribute(kEventType, kAttached).attribute(kDeviceIndex, std::uint32_t{6});
  auto bytes = datagram.bytes();
  bytes[16 + 8] = std::byte{200};  // the length of the second attribute
  EXPECT_THAT(rdma_notifications_in(bytes).all,
              ElementsAre(RdmaNotification{.notice = RdmaNotice::kNetdevAttach}));
}

TEST(RdmaMonitor, EventsAreThoseThatNothingElseTells) {
  struct Case {
    RdmaNotification notification;
    const char* what;  ///< nullptr: no event
  };
  const std::vector<Case> cases{
      {kAttach, "mlx5_0 port 1: net device eth2"},
      {{RdmaNotice::kNetdevAttach, 6, "", 1, 4, ""}, "RDMA device 6 port 1: net device 4"},
      {{RdmaNotice::kNetdevAttach, 6, "mlx5_0", 1, {}, ""}, "mlx5_0 port 1: no net device"},
      {{RdmaNotice::kNetdevDetach, 6, "mlx5_0", 2, {}, ""}, "mlx5_0 port 2: no net device"},
      {{RdmaNotice::kNetdevRename, {}, "", {}, 4, "myeth2"}, "net device myeth2 has a new name"},
      // Net devices of another network namespace.
      {{RdmaNotice::kNetdevAttach, {}, "", {}, {}, ""}, nullptr},
      {{RdmaNotice::kNetdevRename, {}, "", {}, {}, ""}, nullptr},
      // udev tells of these.
      {{RdmaNotice::kRegister, 6, "mlx5_0", {}, {}, ""}, nullptr},
      {{RdmaNotice::kUnregister, 6, "mlx5_0", {}, {}, ""}, nullptr},
      {{RdmaNotice::kRename, 6, "rocep8s0f0", {}, {}, ""}, nullptr}};
  for (const auto& [notification, what] : cases) {
    const auto event = event_of(notification);
    const auto number = static_cast<int>(notification.notice);
    ASSERT_EQ(event.has_value(), what != nullptr) << number;
    if (!event) continue;
    EXPECT_EQ(event->what, what);
    EXPECT_EQ(event->sort, Event::Sort::kPort) << number;
  }
}

TEST(RdmaMonitor, TheKernelSaysWhetherItSendsNotifications) {
  const auto answer = [](auto fill) {
    RdmaDatagram out;
    fill(out.message(kSystemAnswer).attribute(std::uint16_t{66}, std::uint8_t{1}));
    return has_monitor(out.bytes());
  };
  EXPECT_TRUE(answer([](RdmaDatagram& out) { out.attribute(kMonitorMode, std::uint8_t{1}); }));
  EXPECT_FALSE(answer([](RdmaDatagram& out) { out.attribute(kMonitorMode, std::uint8_t{0}); }));
  EXPECT_FALSE(answer([](RdmaDatagram&) {})) << "before Linux 6.12";
  EXPECT_FALSE(has_monitor(RdmaDatagram().message(2).attribute(kMonitorMode, std::uint8_t{1}).bytes()))
      << "an error";
  EXPECT_FALSE(has_monitor({}));
}

/// The source over a socket that is played.
class RdmaMonitorTest : public ::testing::Test {
 protected:
  struct Received {
    std::vector<std::byte> bytes{};
    ssize_t result = 0;  ///< 0: as many as there are
  };

  ssize_t receive(std::span<std::byte> buffer) {
    if (queue.empty()) return -EAGAIN;
    const auto next = std::move(queue.front());
    queue.pop_front();
    std::copy_n(next.bytes.begin(), std::min(next.bytes.size(), buffer.size()), buffer.begin());
    return next.result != 0 ? next.result : static_cast<ssize_t>(next.bytes.size());
  }
  void send(const RdmaDatagram& datagram) { queue.push_back({datagram.bytes(), 0}); }
  void fail(int error) { queue.push_back({{}, -error}); }
  std::vector<std::string> read() {
    std::vector<std::string> out;
    for (const auto& event : source->read())
      out.push_back((event.sort == Event::Sort::kLost ? "lost " : "") + event.what);
    return out;
  }

  std::deque<Received> queue;
  std::set<std::string> there{"mlx5_0", "mlx5_1"};
  std::unique_ptr<EndingSource> source = make_rdma_monitor(
      {base::UniqueFd(), [this](int, std::span<std::byte> buffer) { return receive(buffer); },
       [this] { return there; }});
};

TEST_F(RdmaMonitorTest, EventsInTheirOrder) {
  send(device_notice(kRegistered, "mlx5_0"));
  send(attach_notice());
  fail(EINTR);
  send(RdmaDatagram()
           .message()
           .attribute(kNetdevIndex, std::uint32_t{4})
           .text(kNetdevName, "myeth2")
           .attribute(kEventType, kNetdevRenamed));
  EXPECT_THAT(read(), ElementsAre("mlx5_0 port 1: net device eth2", "net device myeth2 has a new name"));
  EXPECT_THAT(read(), IsEmpty());
  EXPECT_FALSE(source->ended());
}

TEST_F(RdmaMonitorTest, LostNotificationsAreOneEvent) {
  const std::string lost = "lost RDMA netlink";
  fail(ENOBUFS);
  send(attach_notice());
  fail(ENOBUFS);
  EXPECT_THAT(read(), ElementsAre("mlx5_0 port 1: net device eth2", lost));
  queue.push_back({attach_notice().bytes(), 1 << 20});
  EXPECT_THAT(read(), ElementsAre(lost)) << "longer than the buffer";
  send(attach_notice().cut(3));
  EXPECT_THAT(read(), ElementsAre(lost)) << "torn";
  EXPECT_FALSE(source->ended());
}

TEST_F(RdmaMonitorTest, EndsWithTheLastDevice) {
  send(device_notice(kUnregistered, "mlx5_0"));
  EXPECT_THAT(read(), IsEmpty());
  EXPECT_FALSE(source->ended()) << "one is left";
  there = {"mlx5_1"};
  send(device_notice(kRegistered, "mlx5_0"));
  there = {"mlx5_0", "mlx5_1"};
  send(device_notice(kUnregistered, "mlx5_1"));
  EXPECT_THAT(read(), IsEmpty());
  EXPECT_FALSE(source->ended()) << "one has come again";
  send(device_notice(kUnregistered, "mlx5_0"));
  EXPECT_THAT(read(), IsEmpty());
  EXPECT_TRUE(source->ended()) << "both are still in sysfs, and go";
}

TEST_F(RdmaMonitorTest, EndsWhenNothingIsLeftInSysfs) {
  there = {};
  send(RdmaDatagram().message().attribute(kEventType, kUnregistered));
  EXPECT_THAT(read(), IsEmpty());
  EXPECT_TRUE(source->ended());
}

TEST_F(RdmaMonitorTest, ANameThatIsTakenAgainIsNotOneThatGoes) {
  there = {"mlx5_0"};
  send(device_notice(kUnregistered, "mlx5_0"));
  send(device_notice(kRegistered, "ibdev"));
  send(device_notice(kRenamed, "mlx5_0"));
  EXPECT_THAT(read(), IsEmpty());
  EXPECT_FALSE(source->ended());
}

TEST_F(RdmaMonitorTest, ASocketThatFailsIsGivenUp) {
  send(attach_notice());
  fail(EBADF);
  EXPECT_THAT(read(), ElementsAre("mlx5_0 port 1: net device eth2", "lost RDMA netlink"));
  EXPECT_TRUE(source->ended());
}

TEST_F(RdmaMonitorTest, AStormLeavesTheLoopToOthers) {
  for (int i = 0; i < 1000; ++i) send(attach_notice());
  EXPECT_FALSE(read().empty());
  EXPECT_FALSE(queue.empty()) << "the rest has the next turn";
  while (!queue.empty()) (void)source->read();
  EXPECT_FALSE(source->ended());
}

}  // namespace
}  // namespace rdmacfg::system::detail
