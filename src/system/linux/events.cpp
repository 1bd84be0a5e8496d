// SPDX-License-Identifier: Apache-2.0
// Sources: rtnetlink(7), libudev, inotify(7).
#include "system/events.hpp"

#include <libudev.h>
#include <linux/if_arp.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>

#include "base/unique_fd.hpp"
#include "system/linux/linux_host.hpp"
#include "system/linux/netlink_message.hpp"

namespace rdmacfg::system {

namespace {

using base::Result;
using base::UniqueFd;

constexpr int kReceiveBuffer = 4 << 20;

class LinkEvents final : public EventSource {
 public:
  LinkEvents(UniqueFd fd, bool all) : fd_(std::move(fd)), all_(all) {}

  [[nodiscard]] int fd() const override { return fd_.get(); }

  std::vector<Event> read() override {
    std::vector<Event> events;
    for (;;) {
      const auto count = ::recv(fd_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == ENOBUFS) {
        events.push_back({Event::Sort::kLost, "rtnetlink"});
        continue;
      }
      if (count <= 0) return events;
      const auto size = static_cast<std::size_t>(count);
      for (std::size_t at = 0; at + sizeof(nlmsghdr) <= size;) {
        const auto& header = *reinterpret_cast<const nlmsghdr*>(buffer_.data() + at);
        if (header.nlmsg_len < sizeof(nlmsghdr) || header.nlmsg_len > size - at) break;
        note(header, events);
        at += (header.nlmsg_len + 3U) & ~std::size_t{3};
      }
    }
  }

 private:
  void note(const nlmsghdr& header, std::vector<Event>& events) const {
    if (header.nlmsg_type == RTM_SETDCB || header.nlmsg_type == RTM_GETDCB) {
      events.push_back({Event::Sort::kLink, "dcb"});
      return;
    }
    if (header.nlmsg_type != RTM_NEWLINK && header.nlmsg_type != RTM_DELLINK) return;
    const auto link = detail::Parsed<ifinfomsg>::of(header);
    if (!link || (link->family.ifi_type != ARPHRD_INFINIBAND && !all_)) return;
    auto name = link->attributes.text(IFLA_IFNAME);
    if (events.empty() || events.back().what != name) events.push_back({Event::Sort::kLink, std::move(name)});
  }

  UniqueFd fd_;
  bool all_;
  alignas(nlmsghdr) std::array<char, 65536> buffer_{};
};

class UdevEvents final : public EventSource {
 public:
  UdevEvents(udev* context, udev_monitor* monitor) : context_(context), monitor_(monitor) {}
  UdevEvents(const UdevEvents&) = delete;
  UdevEvents& operator=(const UdevEvents&) = delete;
  ~UdevEvents() override {
    udev_monitor_unref(monitor_);
    udev_unref(context_);
  }

  [[nodiscard]] int fd() const override { return udev_monitor_get_fd(monitor_); }

  std::vector<Event> read() override {
    std::vector<Event> events;
    while (auto* device = udev_monitor_receive_device(monitor_)) {
      const char* name = udev_device_get_sysname(device);
      const char* action = udev_device_get_action(device);
      events.push_back({Event::Sort::kDevice,
                        std::string(name == nullptr ? "" : name) + " " + (action == nullptr ? "" : action)});
      udev_device_unref(device);
    }
    return events;
  }

 private:
  udev* context_;
  udev_monitor* monitor_;
};

class FileEvents final : public EventSource {
 public:
  explicit FileEvents(UniqueFd fd) : fd_(std::move(fd)) {}

  void watch(const std::string& folder) {
    const int watch = ::inotify_add_watch(
        fd_.get(), folder.c_str(), IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_ONLYDIR);
    if (watch >= 0) folders_[watch] = folder;
  }

  [[nodiscard]] int fd() const override { return fd_.get(); }

  std::vector<Event> read() override {
    std::vector<Event> events;
    for (;;) {
      const auto count = ::read(fd_.get(), buffer_.data(), buffer_.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return events;
      for (std::size_t at = 0; at + sizeof(inotify_event) <= static_cast<std::size_t>(count);) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer_.data() + at);
        at += sizeof(inotify_event) + event->len;
        if ((event->mask & IN_Q_OVERFLOW) != 0) events.push_back({Event::Sort::kLost, "inotify"});
        const std::string name = event->len == 0 ? "" : static_cast<const char*>(event->name);
        // Temporary files of ours and files of others are no matter.
        if (name.starts_with('.') ||
            (name.find("rdma-configd") == std::string::npos && name != "generations.json"))
          continue;
        const auto folder = folders_.find(event->wd);
        events.push_back({Event::Sort::kFile, (folder == folders_.end() ? "" : folder->second + "/") + name});
      }
    }
  }

 private:
  UniqueFd fd_;
  std::map<int, std::string> folders_;
  alignas(inotify_event) std::array<char, 16384> buffer_{};
};

}  // namespace

Result<std::unique_ptr<EventSource>> watch_links(bool all) {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (!fd) return base::fail_errno(errno, "opening rtnetlink");
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return base::fail_errno(errno, "binding rtnetlink");
  }
  for (const int group : {RTNLGRP_LINK, RTNLGRP_DCB}) {
    if (::setsockopt(fd.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0) {
      return base::fail_errno(errno, "joining a group of rtnetlink");
    }
  }
  return std::make_unique<LinkEvents>(std::move(fd), all);
}

Result<std::unique_ptr<EventSource>> watch_devices() {
  auto* context = udev_new();
  if (context == nullptr) return base::fail_errno(ENOMEM, "libudev");
  auto* monitor = udev_monitor_new_from_netlink(context, "udev");
  if (monitor == nullptr) {
    udev_unref(context);
    return base::fail_errno(errno, "listening to udev");
  }
  auto events = std::make_unique<UdevEvents>(context, monitor);
  for (const char* subsystem : {"infiniband", "module"}) {
    (void)udev_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, nullptr);
  }
  (void)udev_monitor_set_receive_buffer_size(monitor, kReceiveBuffer);
  if (const int status = udev_monitor_enable_receiving(monitor); status < 0) {
    return base::fail_errno(-status, "listening to udev");
  }
  return events;
}

Result<std::unique_ptr<EventSource>> watch_files(const std::vector<std::string>& folders) {
  UniqueFd fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!fd) return base::fail_errno(errno, "inotify");
  auto events = std::make_unique<FileEvents>(std::move(fd));
  for (const auto& folder : folders) events->watch(folder);
  return events;
}

}  // namespace rdmacfg::system
