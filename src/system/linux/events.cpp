// SPDX-License-Identifier: Apache-2.0
// Sources: rtnetlink(7), libudev, inotify(7).
#include "system/events.hpp"

#include <libudev.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <string_view>
#include <utility>

#include "base/unique_fd.hpp"
#include "system/linux/files/inotify.hpp"
#include "system/linux/linux_host.hpp"
#include "system/linux/netlink/link_dump.hpp"
#include "system/linux/netlink/link_filter.hpp"
#include "system/linux/uevent.hpp"

namespace rdmacfg::system {

namespace {

using base::Result;
using base::UniqueFd;

constexpr int kReceiveBuffer = 4 << 20;

constexpr int kMessagesAtOnce = 4096;  // then whoever else waits for the loop has a turn

class LinkEvents final : public EventSource {
 public:
  LinkEvents(UniqueFd fd, WatchedLinks links) : fd_(std::move(fd)), filter_(links) {}

  [[nodiscard]] int fd() const override { return fd_.get(); }

  std::vector<Event> read() override {
    std::vector<Event> events;
    for (int i = 0; i < kMessagesAtOnce; ++i) {
      sockaddr_nl from{};
      socklen_t from_size = sizeof from;
      const auto count = ::recvfrom(fd_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT,
                                    reinterpret_cast<sockaddr*>(&from), &from_size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == ENOBUFS) {
        events.push_back(Event::lost(Event::Queue::kRtnetlink));
        relist_ = true;
        continue;
      }
      if (count < 0) break;
      if (from.nl_pid != 0) continue;  // not from the kernel
      const auto size = static_cast<std::size_t>(count);
      for (std::size_t at = 0; at + sizeof(nlmsghdr) <= size;) {
        const auto& header = *reinterpret_cast<const nlmsghdr*>(buffer_.data() + at);
        if (header.nlmsg_len < sizeof(nlmsghdr) || header.nlmsg_len > size - at) break;
        auto what = filter_.take(header);
        const auto state = list_.take(header);
        if (state != detail::LinkList::State::kUnderWay) what = list_ended(state);
        if (what && (events.empty() || events.back().what != *what))
          events.push_back({Event::Sort::kLink, std::move(*what)});
        at += (header.nlmsg_len + 3U) & ~std::size_t{3};
      }
    }
    if (relist_ && !listing_) (void)list();
    return events;
  }

  /// Asks for the interfaces that there are: addresses and routes only have the index of theirs.
  Result<void> list() {
    const auto dump = detail::link_dump_request();
    if (::send(fd_.get(), dump.header(), dump.header()->nlmsg_len, 0) < 0)
      return base::fail_errno(errno, "asking for the interfaces");
    listing_ = true;
    again_ = relist_;
    relist_ = false;
    return {};
  }

 private:
  /// Until a list is complete that was asked for after an overrun, addresses and routes of an interface that
  /// came meanwhile were passed over.
  std::optional<std::string> list_ended(detail::LinkList::State state) {
    const bool whole = state == detail::LinkList::State::kWhole;
    listing_ = false;
    if (!whole) relist_ = true;  // interrupted, or refused (EBUSY): asked for again
    return whole && std::exchange(again_, false) ? std::optional<std::string>("interfaces") : std::nullopt;
  }

  UniqueFd fd_;
  bool listing_ = false;  ///< the kernel has not told all of a list yet; it makes one at a time
  bool relist_ = false;   ///< a list is needed: interfaces may have come that nothing told of
  bool again_ = false;    ///< the list that is under way is such a one
  detail::LinkFilter filter_;
  detail::LinkList list_;
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
    for (;;) {
      errno = 0;
      auto* device = udev_monitor_receive_device(monitor_);
      if (device == nullptr && errno == ENOBUFS) {
        events.push_back(Event::lost(Event::Queue::kUdev));
        continue;
      }
      if (device == nullptr) break;
      const char* name = udev_device_get_sysname(device);
      const char* told = udev_device_get_action(device);
      const std::string action(told == nullptr ? "" : told);
      const bool synthetic = udev_device_get_property_value(device, "SYNTH_UUID") != nullptr;
      const auto uevent = synthetic ? detail::Uevent::kSynthetic : detail::Uevent::kOfKernel;
      // That of a device which has been told of, or will be.
      const char* subsystem = udev_device_get_subsystem(device);
      const std::string_view sort(subsystem == nullptr ? "" : subsystem);
      const bool more =
          sort == "infiniband_verbs" || sort == "infiniband_mad" || sort == "nvme" || sort == "iscsi_session";
      events.push_back(
          {detail::device_came(action, uevent) && !more ? Event::Sort::kDevice : Event::Sort::kDeviceChange,
           std::string(name == nullptr ? "" : name) + " " + action});
      udev_device_unref(device);
    }
    return events;
  }

 private:
  udev* context_;
  udev_monitor* monitor_;
};

class FileEvents final : public FileSource {
 public:
  FileEvents(UniqueFd fd, std::function<bool(const std::string&)> ours)
      : fd_(std::move(fd)), ours_(std::move(ours)) {}

  void watch(const std::vector<std::string>& folders) override {
    why_incomplete_.clear();
    for (const auto& folder : folders) {
      const int watch = ::inotify_add_watch(
          fd_.get(), folder.c_str(),
          IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVE_SELF | IN_ONLYDIR);
      if (watch >= 0) {
        folders_[watch] = folder;
      } else if (why_incomplete_.empty()) {
        why_incomplete_ = detail::why_unwatched(folder, errno);
      }
    }
  }

  [[nodiscard]] int fd() const override { return fd_.get(); }
  [[nodiscard]] std::string why_incomplete() const override { return why_incomplete_; }

  std::vector<Event> read() override {
    std::vector<Event> events;
    for (;;) {
      const auto count = ::read(fd_.get(), buffer_.data(), buffer_.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return events;
      for (std::size_t at = 0; at + sizeof(inotify_event) <= static_cast<std::size_t>(count);) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer_.data() + at);
        at += sizeof(inotify_event) + event->len;
        note(*event, events);
      }
    }
  }

 private:
  void note(const inotify_event& event, std::vector<Event>& events) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
      events.push_back(Event::lost(Event::Queue::kInotify));
      return;
    }
    const auto folder = folders_.find(event.wd);
    if (folder == folders_.end()) return;
    if ((event.mask & IN_IGNORED) != 0) {  // the folder has gone, and the watch with it
      folders_.erase(folder);
    } else if ((event.mask & IN_MOVE_SELF) != 0) {
      events.push_back({Event::Sort::kFile, folder->second});
      (void)::inotify_rm_watch(fd_.get(), event.wd);
    } else if (event.len > 0) {
      auto path = folder->second + "/" + static_cast<const char*>(event.name);
      if (ours_(path)) events.push_back({Event::Sort::kFile, std::move(path)});
    }
  }

  UniqueFd fd_;
  std::function<bool(const std::string&)> ours_;
  std::map<int, std::string> folders_;
  std::string why_incomplete_;
  alignas(inotify_event) std::array<char, 16384> buffer_{};
};

}  // namespace

Result<std::unique_ptr<EventSource>> watch_links(WatchedLinks links) {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (!fd) return base::fail_errno(errno, "opening rtnetlink");
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return base::fail_errno(errno, "binding rtnetlink");
  }
  for (const int group : {RTNLGRP_LINK, RTNLGRP_DCB, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
                          RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE}) {
    if (::setsockopt(fd.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0) {
      return base::fail_errno(errno, "joining a group of rtnetlink");
    }
  }
  auto events = std::make_unique<LinkEvents>(std::move(fd), links);
  if (auto done = events->list(); !done) return base::fail(done.error());
  return events;
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
  // A subnet manager whose port came back is known by its MAD device, of which udev has no record before.
  for (const char* subsystem :
       {"infiniband", "infiniband_verbs", "infiniband_mad", "module", "nvme", "iscsi_session"}) {
    (void)udev_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, nullptr);
  }
  (void)udev_monitor_set_receive_buffer_size(monitor, kReceiveBuffer);
  if (const int status = udev_monitor_enable_receiving(monitor); status < 0) {
    return base::fail_errno(-status, "listening to udev");
  }
  return events;
}

Result<std::unique_ptr<FileSource>> watch_files(const std::vector<std::string>& folders,
                                                std::function<bool(const std::string& path)> ours) {
  auto fd = detail::new_inotify();
  if (!fd) return base::fail(fd.error());
  auto events = std::make_unique<FileEvents>(std::move(*fd), std::move(ours));
  events->watch(folders);
  return events;
}

}  // namespace rdmacfg::system
