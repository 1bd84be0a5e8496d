// SPDX-License-Identifier: Apache-2.0
// Source: inotify(7). The VFS tells of every write(2) and mkdir(2), whatever the file system
// (fsnotify_modify() in fs/read_write.c, fsnotify_mkdir() in fs/namei.c), so of what programs do to sysfs,
// configfs and /proc/sys too.
#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "base/unique_fd.hpp"
#include "system/events.hpp"
#include "system/linux/files/inotify.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::Result;
using base::UniqueFd;

constexpr int kHandleDepth = 3;  // rdma_cm/DEVICE/ports/PORT
/// Without a user the kernel may forget the entry of a folder in its cache, and here it makes another inode
/// the next time, of which the watch knows nothing.
constexpr std::string_view kForgetful = "/proc/";
/// In the daemon's unit systemd mounts a /proc of its own, whose inodes are others than those that programs
/// write to; the unit has the host's here.
constexpr const char* kSysctl = "/proc/sys/";
constexpr const char* kHostSysctl = "/run/rdma-configd-sysctl/";

/// The files wanted of one folder.
struct Wanted {
  std::set<std::string> names;  ///< files in it that are written
  bool handles = false;         ///< folders that are made in it
  bool in_handle = false;       ///< whatever is written in it
  bool renames = false;         ///< whatever is renamed into it or removed
  bool operator==(const Wanted&) const = default;
};

struct Watched {
  std::string path;
  Wanted wanted;
  UniqueFd pin;
};

std::map<std::string, Wanted> by_folder(const Settings& settings) {
  std::map<std::string, Wanted> out;
  for (const auto& file : settings.files) {
    const auto slash = file.rfind('/');
    if (slash != std::string::npos) out[file.substr(0, slash)].names.insert(file.substr(slash + 1));
  }
  for (const auto& folder : settings.handles) out[folder].handles = true;
  for (const auto& folder : settings.folders) out[folder].renames = true;
  return out;
}

class SettingEvents final : public SettingSource {
 public:
  explicit SettingEvents(UniqueFd fd) : fd_(std::move(fd)) {}

  bool watch(const Settings& settings) override {
    wanted_ = by_folder(settings);
    return watch_again();
  }

  [[nodiscard]] int fd() const override { return fd_.get(); }
  [[nodiscard]] std::size_t handles_made() const override { return made_; }
  [[nodiscard]] std::string why_incomplete() const override { return why_incomplete_; }

  std::vector<Event> read() override {
    std::vector<Event> events;
    const auto made = made_;
    for (;;) {
      const auto count = ::read(fd_.get(), buffer_.data(), buffer_.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      for (std::size_t at = 0; at + sizeof(inotify_event) <= static_cast<std::size_t>(count);) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer_.data() + at);
        at += sizeof(inotify_event) + event->len;
        note(*event, events);
      }
    }
    // Files in such a folder can be written from now on: before anybody looks at the host for it.
    if (made_ != made || std::exchange(lost_, false)) (void)watch_again();
    return events;
  }

 private:
  bool watch_again() {
    bool fresh = false;
    why_incomplete_.clear();
    std::map<int, Watched> now;
    auto all = wanted_;
    for (const auto& [path, wanted] : wanted_) {
      if (wanted.handles) add_handles(path, all);
    }
    for (const auto& [path, wanted] : all) {
      const auto place = place_of(path);
      const int watch = ::inotify_add_watch(fd_.get(), place.c_str(), mask_of(wanted));
      if (watch < 0) {
        if (why_incomplete_.empty()) why_incomplete_ = detail::why_unwatched(path, errno);
        continue;
      }
      const auto known = watched_.find(watch);
      fresh = fresh || known == watched_.end() || known->second.wanted != wanted;
      auto& entry = now[watch];
      entry.path = path;
      entry.wanted = wanted;
      if (known != watched_.end()) entry.pin = std::move(known->second.pin);
      if (!entry.pin && path.starts_with(kForgetful))
        entry.pin = UniqueFd(::open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
    // Of a device that has gone its folder is kept by the watch alone.
    for (const auto& [watch, entry] : watched_) {
      if (!now.contains(watch)) (void)::inotify_rm_watch(fd_.get(), watch);
    }
    watched_ = std::move(now);
    return fresh;
  }

  static std::string place_of(const std::string& path) {
    if (!path.starts_with(kSysctl) || ::access(kHostSysctl, F_OK) != 0) return path;
    return kHostSysctl + path.substr(std::strlen(kSysctl));
  }

  /// The folders that are in a handle already.
  static void add_handles(const std::string& path, std::map<std::string, Wanted>& all) {
    std::error_code error;
    auto at = std::filesystem::recursive_directory_iterator(path, error);
    for (const std::filesystem::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
      if (at.depth() >= kHandleDepth - 1) at.disable_recursion_pending();
      if (at->is_directory(error) && !error) all[at->path().native()].in_handle = true;
    }
  }

  static std::uint32_t mask_of(const Wanted& wanted) {
    std::uint32_t mask = IN_ONLYDIR;
    if (!wanted.names.empty() || wanted.in_handle) mask |= IN_MODIFY;
    if (wanted.handles) mask |= IN_CREATE;
    if (wanted.renames) mask |= IN_MOVED_TO | IN_DELETE;
    return mask;
  }

  void note(const inotify_event& event, std::vector<Event>& events) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
      lost_ = true;  // the lost event may have been about a folder that came or went
      events.push_back(Event::lost(Event::Queue::kInotify));
      return;
    }
    const auto at = watched_.find(event.wd);
    if (at == watched_.end()) return;
    if ((event.mask & IN_IGNORED) != 0) {
      watched_.erase(at);
      return;
    }
    if (event.len == 0) return;
    const std::string name(static_cast<const char*>(event.name));
    const auto path = at->second.path + "/" + name;
    const auto& wanted = at->second.wanted;
    if ((event.mask & IN_CREATE) != 0) {
      ++made_;
      events.push_back({Event::Sort::kHandle, path});
    } else if ((event.mask & IN_MODIFY) != 0 ? wanted.in_handle || wanted.names.contains(name)
                                             : wanted.renames) {
      if (events.empty() || events.back().what != path) events.push_back({Event::Sort::kSetting, path});
    }
  }

  UniqueFd fd_;
  std::size_t made_ = 0;
  bool lost_ = false;
  std::string why_incomplete_;
  std::map<std::string, Wanted> wanted_;
  std::map<int, Watched> watched_;
  alignas(inotify_event) std::array<char, 16384> buffer_{};
};

}  // namespace

Result<std::unique_ptr<SettingSource>> watch_settings() {
  auto fd = detail::new_inotify();
  if (!fd) return base::fail(fd.error());
  return std::make_unique<SettingEvents>(std::move(*fd));
}

}  // namespace rdmacfg::system
