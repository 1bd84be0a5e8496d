// SPDX-License-Identifier: Apache-2.0
#include "system/linux/netlink/rdma_monitor.hpp"

#include <fmt/format.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "system/linux/netlink/netlink_message.hpp"

namespace rdmacfg::system {

namespace {

// The headers of Debian 12 do not have these yet.
constexpr int kNotifyGroup = 4;        // RDMA_NL_GROUP_NOTIFY
constexpr int kMonitorCommand = 28;    // RDMA_NLDEV_CMD_MONITOR
constexpr int kEventTypeAttr = 102;    // RDMA_NLDEV_ATTR_EVENT_TYPE
constexpr int kMonitorModeAttr = 103;  // RDMA_NLDEV_SYS_ATTR_MONITOR_MODE

constexpr int kDatagramsAtOnce = 256;  // then whoever else waits for the loop has a turn
constexpr int kAnswersRead = 8;        // to one question
constexpr std::size_t kDatagramBytes =
    16384;  // the kernel sends one message of at most NLMSG_GOODSIZE, 8 KiB
constexpr int kMonitorQueue = 1 << 20;

/// RDMA_NL_GET_TYPE() without its signed shifts.
constexpr std::uint16_t nldev_message_type(int command) {
  return static_cast<std::uint16_t>((static_cast<unsigned>(RDMA_NL_NLDEV) << 10U) +
                                    static_cast<unsigned>(command));
}

/// Hands each message of a type to `visit`, by its attributes. @return false when the datagram ends within a
/// message
template <class Visit>
bool each_nldev_message(std::span<const std::byte> datagram, std::uint16_t type, Visit visit) {
  while (!datagram.empty()) {
    nlmsghdr header{};
    if (datagram.size() < sizeof header) return false;
    std::memcpy(&header, datagram.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > datagram.size()) return false;
    const std::size_t length = header.nlmsg_len;
    if (header.nlmsg_type == type)
      visit(detail::Attributes(datagram.subspan(sizeof header, length - sizeof header)));
    datagram = datagram.subspan(std::min(datagram.size(), (length + 3U) & ~std::size_t{3}));
  }
  return true;
}

ssize_t receive_from_kernel(int socket, std::span<std::byte> buffer) {
  sockaddr_nl from{};
  socklen_t size = sizeof from;
  const auto count = ::recvfrom(socket, buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC,
                                reinterpret_cast<sockaddr*>(&from), &size);
  if (count < 0) return -errno;
  return from.nl_pid == 0 ? count : 0;
}

class RdmaMonitor final : public EndingSource {
 public:
  explicit RdmaMonitor(detail::RdmaMonitorParts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] int fd() const override { return parts_.socket.get(); }
  [[nodiscard]] bool ended() const override { return ended_; }

  std::vector<Event> read() override {
    std::vector<Event> events;
    bool lost = false, one_goes = false;
    for (int i = 0; i < kDatagramsAtOnce; ++i) {
      const auto count = parts_.receive(parts_.socket.get(), buffer_);
      if (count == -EAGAIN) break;
      if (count == 0 || count == -EINTR) continue;
      if (count < 0 && count != -ENOBUFS) {
        ended_ = lost = true;  // it would stay readable for ever
        break;
      }
      if (count < 0 || static_cast<std::size_t>(count) > buffer_.size()) {
        lost = true;
        continue;
      }
      const auto found = detail::rdma_notifications_in(
          std::span<const std::byte>(buffer_).first(static_cast<std::size_t>(count)));
      if (!found.whole) lost = true;
      for (const auto& notification : found.all) {
        one_goes = note(notification) || one_goes;
        if (auto event = detail::event_of(notification)) events.push_back(std::move(*event));
      }
    }
    if (one_goes && all_go()) ended_ = true;
    if (lost) events.push_back(Event::lost(Event::Queue::kRdmaNetlink));
    return events;
  }

 private:
  /// @return whether a device goes
  bool note(const detail::RdmaNotification& notification) {
    if (notification.notice == detail::RdmaNotice::kUnregister) {
      going_.insert(notification.device);
      return true;
    }
    if (notification.notice == detail::RdmaNotice::kRegister ||
        notification.notice == detail::RdmaNotice::kRename)
      going_.erase(notification.device);
    return false;
  }

  /// The kernel tells that a device goes before the device leaves sysfs.
  bool all_go() {
    const auto there = parts_.devices();
    std::erase_if(going_, [&](const auto& device) { return !there.contains(device); });
    return there.size() == going_.size();
  }

  detail::RdmaMonitorParts parts_;
  std::set<std::string> going_;  ///< devices that the kernel has taken back, as far as they are in sysfs
  bool ended_ = false;
  std::array<std::byte, kDatagramBytes> buffer_{};
};

/// Whether the kernel sends notifications. The answer is there when send(2) returns.
bool asks_has_monitor(int socket) {
  const detail::Message question(nldev_message_type(RDMA_NLDEV_CMD_SYS_GET), NLM_F_REQUEST,
                                 std::span<const std::byte>{}, "asking for notifications of RDMA devices", 0);
  if (::send(socket, question.header(), question.header()->nlmsg_len, MSG_NOSIGNAL) < 0) return false;
  std::array<std::byte, kDatagramBytes> buffer{};
  for (int i = 0; i < kAnswersRead; ++i) {
    const auto count = receive_from_kernel(socket, buffer);
    if (count == 0 || count == -EINTR) continue;
    if (count < 0 || static_cast<std::size_t>(count) > buffer.size()) return false;
    return detail::has_monitor(std::span<const std::byte>(buffer).first(static_cast<std::size_t>(count)));
  }
  return false;
}

}  // namespace

detail::RdmaNotifications detail::rdma_notifications_in(std::span<const std::byte> datagram) {
  RdmaNotifications found;
  const auto take = [&](const Attributes& attributes) {
    const auto type = attributes.number<std::uint8_t>(kEventTypeAttr);
    if (!type || *type > static_cast<std::uint8_t>(RdmaNotice::kNetdevRename)) return;
    found.all.push_back({static_cast<RdmaNotice>(*type),
                         attributes.number<std::uint32_t>(RDMA_NLDEV_ATTR_DEV_INDEX),
                         attributes.text(RDMA_NLDEV_ATTR_DEV_NAME),
                         attributes.number<std::uint32_t>(RDMA_NLDEV_ATTR_PORT_INDEX),
                         attributes.number<std::uint32_t>(RDMA_NLDEV_ATTR_NDEV_INDEX),
                         attributes.text(RDMA_NLDEV_ATTR_NDEV_NAME)});
  };
  found.whole = each_nldev_message(datagram, nldev_message_type(kMonitorCommand), take);
  return found;
}

std::optional<Event> detail::event_of(const RdmaNotification& notification) {
  const auto netdev = !notification.netdev.empty() ? notification.netdev
                      : notification.netdev_index  ? std::to_string(*notification.netdev_index)
                                                   : std::string();
  if (notification.notice == RdmaNotice::kNetdevRename) {
    if (!notification.netdev_index) return std::nullopt;
    return Event{Event::Sort::kPort, fmt::format("net device {} has a new name", netdev)};
  }
  const bool attached = notification.notice == RdmaNotice::kNetdevAttach;
  if (!attached && notification.notice != RdmaNotice::kNetdevDetach) return std::nullopt;
  if (!notification.device_index || !notification.port) return std::nullopt;
  const auto device = notification.device.empty() ? fmt::format("RDMA device {}", *notification.device_index)
                                                  : notification.device;
  const auto what = attached && !netdev.empty() ? "net device " + netdev : std::string("no net device");
  return Event{Event::Sort::kPort, fmt::format("{} port {}: {}", device, *notification.port, what)};
}

bool detail::has_monitor(std::span<const std::byte> datagram) {
  bool has = false;
  (void)each_nldev_message(datagram, nldev_message_type(RDMA_NLDEV_CMD_SYS_GET),
                           [&](const Attributes& attributes) {
                             if (attributes.number<std::uint8_t>(kMonitorModeAttr).value_or(0) != 0)
                               has = true;
                           });
  return has;
}

std::unique_ptr<EndingSource> detail::make_rdma_monitor(RdmaMonitorParts parts) {
  return std::make_unique<RdmaMonitor>(std::move(parts));
}

std::set<std::string> rdma_device_names() {
  std::set<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/sys/class/infiniband", error), end; !error && at != end;
       at.increment(error))
    names.insert(at->path().filename().string());
  return names;
}

base::Result<std::unique_ptr<EndingSource>> watch_rdma() {
  base::UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_RDMA));
  if (!fd) return base::fail_errno(errno, "opening RDMA netlink");
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kMonitorQueue, sizeof kMonitorQueue);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return base::fail_errno(errno, "binding RDMA netlink");
  if (!asks_has_monitor(fd.get()))
    return base::fail(base::Code::kUnsupported, "this kernel sends no notifications of RDMA netlink");
  if (::setsockopt(fd.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &kNotifyGroup, sizeof kNotifyGroup) != 0)
    return base::fail_errno(errno, "joining the notifications of RDMA netlink");
  return detail::make_rdma_monitor({std::move(fd), receive_from_kernel, rdma_device_names});
}

}  // namespace rdmacfg::system
