// SPDX-License-Identifier: Apache-2.0
#include "system/linux/files/disk_uses.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "base/unique_fd.hpp"

namespace rdmacfg::system::detail {

namespace {

class DiskUses {
 public:
  DiskUses(const std::set<std::string>& disks, const std::filesystem::path& sysfs,
           const std::filesystem::path& proc)
      : disks_(disks),
        sysfs_(sysfs),
        mounts_(lines_of(proc / "1/mountinfo", proc / "self/mountinfo")),
        swaps_(lines_of(proc / "swaps", {})) {
    note_btrfs();
    note_loops();
  }

  std::vector<std::string> all() {
    for (const auto& disk : disks_) note(disk);
    return std::move(out_);
  }

 private:
  /// Of the first of the two files that can be read.
  static std::vector<std::string> lines_of(const std::filesystem::path& file,
                                           const std::filesystem::path& other) {
    std::ifstream in(file);
    if (!in && !other.empty()) in = std::ifstream(other);
    std::vector<std::string> out;
    for (std::string line; std::getline(in, line);) out.push_back(std::move(line));
    return out;
  }

  /// A btrfs of several devices is mounted by the name of one of them, and its device number is none of
  /// theirs.
  void note_btrfs() {
    Trouble ignored;
    const auto all = SysfsDir::open(sysfs_ / "fs/btrfs", &ignored);
    if (!all) return;
    for (const auto& id : all->list()) {
      const auto devices = all->sub(id + "/devices");
      if (!devices) continue;  // "features"
      for (auto& device : devices->list()) btrfs_.insert(std::move(device));
    }
  }

  /// No holder, and not alone: a loop device opens the other as it would a file.
  void note_loops() {
    Trouble ignored;
    const auto all = SysfsDir::open(sysfs_ / "class/block", &ignored);
    if (!all) return;
    for (const auto& name : all->list()) {
      const auto loop = name.starts_with("loop") ? all->sub(name + "/loop") : std::nullopt;
      if (loop) loops_.emplace(loop->text("backing_file"), name);
    }
  }

  /// A file system that is mounted anywhere, in another mount namespace, too.
  [[nodiscard]] bool has_file_system(const std::string& name) const {
    Trouble ignored;
    for (const auto* driver : {"ext4", "xfs", "f2fs"}) {
      if (SysfsDir::open(sysfs_ / "fs" / driver / name, &ignored)) return true;
    }
    return btrfs_.contains(name);
  }

  void note(const std::string& disk) {
    Trouble ignored;
    const auto folder = SysfsDir::open(sysfs_ / "class/block" / disk, &ignored);
    if (!folder) return;
    const auto known = out_.size();
    bool keeps_path = note_device(disk, *folder);
    for (const auto& entry : folder->list()) {
      const auto part = entry.starts_with(disk) ? folder->sub(entry) : std::nullopt;
      if (part && part->read("partition") && note_device(entry, *part)) keeps_path = true;
    }
    if (out_.size() != known || keeps_path) return;
    // As mkfs does: of ZFS, and of LIO's and others' targets, nothing else tells. Services that see no disks
    // pass over it.
    const auto device = "/dev/" + disk;
    const base::UniqueFd alone(::open(device.c_str(), O_RDONLY | O_EXCL | O_NONBLOCK | O_CLOEXEC));
    if (!alone && errno == EBUSY) out_.push_back(device + " is in use");
  }

  /// @return whether a multipath device holds it that has another path
  bool note_device(const std::string& name, const SysfsDir& folder) {
    const auto device = "/dev/" + name;
    bool keeps_path = false;
    if (const auto holders = folder.sub("holders")) {
      for (const auto& holder : holders->list()) {
        if (has_other_path(holder)) {
          keeps_path = true;
        } else {
          out_.push_back(fmt::format("{} holds {}", holder, device));
        }
      }
    }
    for (auto [at, end] = loops_.equal_range(device); at != end; ++at)
      out_.push_back(fmt::format("{} holds {}", at->second, device));
    const auto known = out_.size();
    const auto number = folder.text("dev");
    for (const auto& line : mounts_) {
      const auto words = base::split(line, ' ');
      const auto dash = std::find(words.begin(), words.end(), "-");
      if (words.size() < 5 || words.end() - dash < 3) continue;
      if (words[2] == number || dash[2] == device)
        out_.push_back(fmt::format("{} is mounted on {}", device, words[4]));
    }
    if (out_.size() == known && has_file_system(name))
      out_.push_back(btrfs_.contains(name) ? device + " is part of a btrfs that is mounted"
                                           : device + " is mounted in another mount namespace");
    for (const auto& line : swaps_) {
      if (line.substr(0, line.find_first_of(" \t")) == device) out_.push_back(device + " is swap space");
    }
    return keeps_path;
  }

  [[nodiscard]] bool has_other_path(const std::string& holder) const {
    Trouble ignored;
    const auto folder = SysfsDir::open(sysfs_ / "class/block" / holder, &ignored);
    if (!folder || !folder->text("dm/uuid").starts_with("mpath-")) return false;
    const auto slaves = folder->sub("slaves");
    if (!slaves) return false;
    const auto paths = slaves->list();
    return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
      if (disks_.contains(path)) return false;
      const auto disk = SysfsDir::open(sysfs_ / "class/block" / path / "device", &ignored);
      return disk && disk->text("state") == "running";
    });
  }

  const std::set<std::string>& disks_;
  const std::filesystem::path& sysfs_;
  std::vector<std::string> mounts_, swaps_, out_;
  std::set<std::string> btrfs_;                    ///< devices of all that are mounted
  std::multimap<std::string, std::string> loops_;  ///< by what is behind them: "/dev/sdb" → "loop0"
};

}  // namespace

std::vector<std::string> uses_of(const std::set<std::string>& disks, const std::filesystem::path& sysfs,
                                 const std::filesystem::path& proc) {
  return disks.empty() ? std::vector<std::string>{} : DiskUses(disks, sysfs, proc).all();
}

}  // namespace rdmacfg::system::detail
