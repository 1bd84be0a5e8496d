// SPDX-License-Identifier: Apache-2.0
// Sources of the news that something on the host has changed. Events only wake: the change is found by
// observing.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::system {

struct Event {
  enum class Sort {
    kLink,          ///< an interface, an address, a route, DCB
    kDevice,        ///< an RDMA device or a kernel module came
    kDeviceChange,  ///< one went; or one that stays has another name, or was only announced again
    kPort,          ///< what a port of an RDMA device reports: its state, P_Keys, GIDs, its net device
    kFile,          ///< a file that we manage
    kSetting,       ///< a setting that is a file of the kernel's, or a unit
    kHandle,        ///< a folder was made through which others may read and write settings
    kLost,          ///< events were lost: anything may have changed
  };
  /// Queues of the kernel's that overflow.
  enum class Queue { kNone, kRtnetlink, kUdev, kRdmaNetlink, kInotify };

  Sort sort = Sort::kLink;
  std::string what;  ///< of kFile, kSetting and kHandle the path or the unit, else words: "mlx4_0 add"
  Queue overflowed = Queue::kNone;  ///< of kLost

  static Event lost(Queue queue) { return {Sort::kLost, std::string(name_of(queue)), queue}; }

 private:
  static constexpr std::string_view name_of(Queue queue) {
    switch (queue) {
      case Queue::kNone:
        break;
      case Queue::kRtnetlink:
        return "rtnetlink";
      case Queue::kUdev:
        return "udev";
      case Queue::kRdmaNetlink:
        return "RDMA netlink";
      case Queue::kInotify:
        return "inotify";
    }
    return {};
  }
};

/// One source of events.
class EventSource {
 public:
  virtual ~EventSource() = default;
  [[nodiscard]] virtual int fd() const = 0;
  /// Reads the pending events, without waiting. In a storm not all of them: the descriptor stays readable.
  virtual std::vector<Event> read() = 0;
  /// Why not all that is wanted is watched, and the remedy; empty when it is.
  [[nodiscard]] virtual std::string why_incomplete() const { return {}; }
};

/// The interfaces whose changes are told.
enum class WatchedLinks { kIpoib, kAll };

/// One that comes to its end by itself.
class EndingSource : public EventSource {
 public:
  /// There will be no more events, and the source is to be closed at once: while it is open, a module of the
  /// kernel cannot be unloaded.
  [[nodiscard]] virtual bool ended() const = 0;
};

/// One that tells of files.
class FileSource : public EventSource {
 public:
  /// Watches these folders too; those that are not there are passed over, those already watched stay so.
  virtual void watch(const std::vector<std::string>& folders) = 0;
};

/// Settings of which neither a message nor a uevent tells.
struct Settings {
  std::set<std::string> files{};    ///< of sysfs, configfs, /proc/sys
  std::set<std::string> handles{};  ///< folders in which folders of settings are made (configfs)
  std::set<std::string> folders{};  ///< of small files that a service keeps; files renamed into them count
  std::set<std::string> units{};    ///< of systemd
  bool operator==(const Settings&) const = default;
};

/// Detects programs that write such files. It does not see changes made by the kernel itself.
class SettingSource : public EventSource {
 public:
  /// From now on these and no others; missing ones are skipped. @return whether one of them was not
  /// watched before, so that earlier changes of it were missed.
  virtual bool watch(const Settings& wanted) = 0;

  /// How many folders have been made in handles, as far as events were read.
  [[nodiscard]] virtual std::size_t handles_made() const = 0;
};

}  // namespace rdmacfg::system
