// SPDX-License-Identifier: Apache-2.0
#include "system/linux/files/disk_uses.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "model/limits.hpp"

namespace rdmacfg::system::detail {

namespace {

class DiskUses {
 public:
  DiskUses(const std::set<std::string>& disks, const std::filesystem::path& sysfs,
           const std::filesystem::path& proc, const std::filesystem::path& udev)
      : disks_(disks), sysfs_(sysfs), proc_(proc), udev_(udev), swaps_(lines_of(proc / "swaps", {})) {
    for (const auto& line : lines_of(proc / "1/mountinfo", proc / "self/mountinfo")) note_mount(line, "");
    note_namespaces();
    note_btrfs();  // after all mounts
    note_loops();
    note_lio();
    note_nvmet();
  }

  std::vector<DiskUse> list_uses() {
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

  struct Mount {
    std::string number, source, point;
    std::string process;  ///< in whose mount namespace; empty: in the host's
  };

  /// A disk that the kernel's targets offer to other hosts.
  struct Offer {
    std::string path, number;  ///< as it is configured; "8:16", where that is shown
    std::string by;            ///< "LIO (iblock_0/scratch)"
  };

  /// A block device, by all of its names.
  struct Device {
    std::string path;             ///< "/dev/sdb1"
    std::string number;           ///< "8:17"
    std::set<std::string> names;  ///< with udev's links
    std::string pool;             ///< of ZFS, as the label on it says
    std::string pool_guid;        ///< "1234…", likewise

    [[nodiscard]] bool is(const std::string& named, const std::string& numbered) const {
      return names.contains(named) || (!number.empty() && number == numbered);
    }
  };

  /// Whether any user can have mounted it, with any text as its source.
  static bool is_anybodys(std::string_view type, std::string_view options, const std::string& process) {
    if (!is_fuse(type)) return anybody_may_mount(type);
    const auto words = base::split(options, ',');  // in another namespace root may be anybody
    return !process.empty() || std::find(words.begin(), words.end(), "user_id=0") == words.end();
  }

  void note_mount(const std::string& line, const std::string& process) {
    const auto words = base::split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 5 || words.end() - dash < 3) return;
    if (is_anybodys(dash[1], words.end() - dash > 3 ? dash[3] : std::string_view(), process)) return;
    Mount mount{std::string(words[2]), base::unescape_octal(dash[2]), base::unescape_octal(words[4]),
                process};
    // Of other namespaces the first is told, however many there are.
    if (!process.empty() && !elsewhere_.emplace(mount.number, mount.source).second) return;
    mounts_.push_back(std::move(mount));
  }

  /// Reads the mount table of one process in each mount namespace that this process may read. Users' tables
  /// come last and are not all read: a user may have thousands of namespaces with 100,000 mounts each
  /// (fs.mount-max), but only root mounts a disk. The driver's folder (note_file_system()) or the disk itself
  /// (note()) reveals mounts in the tables that are not read.
  void note_namespaces() {
    std::error_code error;
    std::set<std::string> known;
    const auto name_of = [&](const std::string& process) {
      std::error_code gone;
      return std::filesystem::read_symlink(proc_ / process / "ns/mnt", gone).string();
    };
    known.insert(name_of("1"));
    known.insert(name_of("self"));
    known.insert("");  // of others' processes nobody is told
    std::vector<std::string> of_users;
    for (auto at = std::filesystem::directory_iterator(proc_, error);
         !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
      auto process = at->path().filename().string();
      if (process.find_first_not_of("0123456789") != std::string::npos) continue;
      if (!is_roots(at->path())) {
        of_users.push_back(std::move(process));
      } else if (known.insert(name_of(process)).second) {
        auto all = std::numeric_limits<std::size_t>::max();
        note_mounts_of(process, all);
      }
    }
    auto left = model::limits::kUserMountBytes;
    for (const auto& process : of_users) {
      if (left == 0) return;
      if (known.insert(name_of(process)).second) note_mounts_of(process, left);
    }
  }

  /// The folder of a process belongs to its effective user, whether or not it is dumpable; within a user
  /// namespace nobody is root here.
  static bool is_roots(const std::filesystem::path& process) {
    struct stat state {};
    return ::stat(process.c_str(), &state) == 0 && state.st_uid == 0;
  }

  /// @param left  bytes that may still be read; 0 afterwards if the table was not read completely
  void note_mounts_of(const std::string& process, std::size_t& left) {
    std::ifstream in(proc_ / process / "mountinfo");
    for (std::string line; std::getline(in, line);) {
      if (line.size() + 1 > left) {
        left = 0;
        return;
      }
      left -= line.size() + 1;
      note_mount(line, process);
    }
  }

  void note_lio() {
    FirstError ignored;
    const auto core = SysfsDir::open(sysfs_ / "kernel/config/target/core", &ignored);
    if (!core) return;
    for (const auto& group : core->list()) {
      const auto stores = core->sub(group);
      if (!stores) continue;
      for (const auto& name : stores->list()) {
        const auto store = stores->sub(name);
        if (!store || store->text("enable") != "1") continue;
        offers_.push_back({store->text("udev_path"), number_in(store->text("info")),
                           fmt::format("LIO ({}/{})", group, name)});
      }
    }
  }

  /// Of "… Major: 8 Minor: 16  CLAIMED: IBLOCK".
  static std::string number_in(std::string_view info) {
    std::vector<std::string_view> words;
    for (const auto word : base::split(info, ' ')) {
      if (!word.empty()) words.push_back(word);
    }
    for (std::size_t i = 0; i + 3 < words.size(); ++i) {
      if (words[i] == "Major:" && words[i + 2] == "Minor:")
        return fmt::format("{}:{}", words[i + 1], words[i + 3]);
    }
    return {};
  }

  void note_nvmet() {
    FirstError ignored;
    const auto all = SysfsDir::open(sysfs_ / "kernel/config/nvmet/subsystems", &ignored);
    if (!all) return;
    for (const auto& nqn : all->list()) {
      const auto namespaces = all->sub(nqn + "/namespaces");
      if (!namespaces) continue;
      for (const auto& id : namespaces->list()) {
        const auto nvme_namespace = namespaces->sub(id);
        if (nvme_namespace && nvme_namespace->text("enable") == "1")
          offers_.push_back(
              {nvme_namespace->text("device_path"), {}, fmt::format("nvmet ({}, namespace {})", nqn, id)});
      }
    }
  }

  /// udev's database: "S:disk/by-id/…", "E:ID_FS_TYPE=zfs_member", "E:ID_FS_LABEL=tank".
  [[nodiscard]] Device device_of(const std::string& name, const SysfsDir& folder) const {
    Device out{
        .path = "/dev/" + name, .number = folder.text("dev"), .names = {}, .pool = {}, .pool_guid = {}};
    out.names.insert(out.path);
    constexpr std::string_view kLink = "S:", kLabel = "E:ID_FS_LABEL=", kGuid = "E:ID_FS_UUID=";
    bool in_pool = false;
    for (const auto& line : lines_of(udev_ / ("b" + out.number), {})) {
      if (line.starts_with(kLink)) out.names.insert("/dev/" + line.substr(kLink.size()));
      if (line.starts_with(kLabel)) out.pool = line.substr(kLabel.size());
      if (line.starts_with(kGuid)) out.pool_guid = line.substr(kGuid.size());
      in_pool = in_pool || line == "E:ID_FS_TYPE=zfs_member";
    }
    if (!in_pool) out.pool.clear();
    return out;
  }

  /// Pools of ZFS that are imported have a folder; beside them are files of all.
  [[nodiscard]] bool is_imported(const Device& device) const {
    FirstError ignored;
    const auto all = SysfsDir::open(proc_ / "spl/kstat/zfs", &ignored);
    if (!all) return false;
    const auto names = all->list();
    if (std::find(names.begin(), names.end(), device.pool) == names.end()) return false;
    const auto pool = all->sub(device.pool);
    if (!pool) return false;
    // Another pool may have the same name; older releases of ZFS do not tell the GUID.
    const auto guid = pool->text("guid");
    return guid.empty() || device.pool_guid.empty() || guid == device.pool_guid;
  }

  /// A btrfs of several devices is mounted by the name of one of them, and its device number is none of
  /// theirs: its folder, named by its UUID, has all of them.
  void note_btrfs() {
    FirstError ignored;
    const auto all = SysfsDir::open(sysfs_ / "fs/btrfs", &ignored);
    if (!all) return;
    for (const auto& id : all->list()) {
      const auto devices = all->sub(id + "/devices");
      if (!devices) continue;  // "features"
      std::set<std::string> names;
      for (auto& device : devices->list()) {
        names.insert("/dev/" + device);
        if (const auto folder = SysfsDir::open(sysfs_ / "class/block" / device, &ignored))
          names.merge(device_of(device, *folder).names);
        btrfs_.emplace(std::move(device), id);
      }
      for (const auto& mount : mounts_) {
        auto& points = btrfs_points_[id];
        if (!names.contains(mount.source)) continue;
        if (mount.process.empty() || points.empty()) points.push_back(mount);
      }
    }
  }

  /// "/dev/sdb1 is mounted on / by process 7 in its mount namespace"
  static DiskUse use_of(const std::string& what, const Mount& mount) {
    const auto whose = mount.process.empty()
                           ? std::string()
                           : fmt::format(" by process {} in its mount namespace", mount.process);
    return {fmt::format("{} is mounted on {}{}", what, mount.point, whose),
            mount.process.empty() ? DiskUse::Sort::kMount : DiskUse::Sort::kOther, mount.point};
  }

  /// Where the file system is that a device is part of, of which another device was named at the mount.
  void note_part_of_btrfs(const std::string& device, const std::string& id) {
    const auto points = btrfs_points_.find(id);
    if (points == btrfs_points_.end() || points->second.empty()) {
      out_.push_back({device + " is part of a btrfs that is mounted", DiskUse::Sort::kBtrfs});
      return;
    }
    for (const auto& mount : points->second)
      out_.push_back(use_of(device + " is part of a btrfs that", mount));
  }

  /// No holder, and not alone: a loop device opens the other as it would a file.
  void note_loops() {
    FirstError ignored;
    const auto all = SysfsDir::open(sysfs_ / "class/block", &ignored);
    if (!all) return;
    for (const auto& name : all->list()) {
      const auto loop = name.starts_with("loop") ? all->sub(name + "/loop") : std::nullopt;
      if (loop) loops_.emplace(loop->text("backing_file"), name);
    }
  }

  /// A file system that is mounted anywhere, in another mount namespace, too.
  void note_file_system(const std::string& name, const std::string& device) {
    FirstError ignored;
    if (const auto part = btrfs_.find(name); part != btrfs_.end())
      return note_part_of_btrfs(device, part->second);
    for (const auto* driver : {"ext4", "xfs", "f2fs"}) {
      if (!SysfsDir::open(sysfs_ / "fs" / driver / name, &ignored)) continue;
      out_.push_back({device + " is mounted in another mount namespace"});
      return;
    }
  }

  void note(const std::string& disk) {
    FirstError ignored;
    const auto folder = SysfsDir::open(sysfs_ / "class/block" / disk, &ignored);
    if (!folder) return;
    const auto known = out_.size();
    const bool keeps_path = note_with_partitions(disk, *folder);
    if (out_.size() != known || keeps_path) return;
    // As mkfs does: it tells of every other user, such as a pool whose labels udev has not read. Services
    // that see no disks pass over it.
    const auto device = "/dev/" + disk;
    const base::UniqueFd alone(::open(device.c_str(), O_RDONLY | O_EXCL | O_NONBLOCK | O_CLOEXEC));
    if (!alone && errno == EBUSY) out_.push_back({device + " is in use"});
  }

  /// @return as note_device()
  bool note_with_partitions(const std::string& disk, const SysfsDir& folder) {
    bool keeps_path = note_device(disk, folder);
    for (const auto& entry : folder.list()) {
      const auto part = entry.starts_with(disk) ? folder.sub(entry) : std::nullopt;
      if (part && part->read("partition") && note_device(entry, *part)) keeps_path = true;
    }
    return keeps_path;
  }

  /// A file system on a volume, an array or a loop device goes with a disk below it.
  void note_holder(const std::string& holder) {
    FirstError ignored;
    if (!holders_.insert(holder).second) return;
    if (const auto folder = SysfsDir::open(sysfs_ / "class/block" / holder, &ignored))
      (void)note_with_partitions(holder, *folder);
  }

  /// @return whether a multipath device holds it that has another path
  bool note_device(const std::string& name, const SysfsDir& folder) {
    const auto known_as = device_of(name, folder);
    const auto& device = known_as.path;
    bool keeps_path = false;
    if (const auto holders = folder.sub("holders")) {
      for (const auto& holder : holders->list()) {
        if (has_other_path(holder)) {
          keeps_path = true;
        } else {
          out_.push_back({fmt::format("{} holds {}", holder, device)});
          note_holder(holder);
        }
      }
    }
    for (const auto& [file, loop] : loops_) {
      if (!known_as.is(file, {})) continue;
      out_.push_back({fmt::format("{} holds {}", loop, device)});
      note_holder(loop);
    }
    for (const auto& offer : offers_) {
      if (known_as.is(offer.path, offer.number))
        out_.push_back({fmt::format("{} offers {} to other hosts", offer.by, device)});
    }
    if (!known_as.pool.empty() && is_imported(known_as))
      out_.push_back({fmt::format("{} is part of {}, a ZFS pool", device, known_as.pool),
                      DiskUse::Sort::kPool, known_as.pool});
    const auto known = out_.size();
    for (const auto& mount : mounts_) {
      if (!known_as.is(mount.source, mount.number)) continue;
      // Most namespaces have the host's mounts, too.
      if (!mount.process.empty() && out_.size() != known) break;
      out_.push_back(use_of(device, mount));
    }
    if (out_.size() == known) note_file_system(name, device);
    for (const auto& line : swaps_) {
      if (known_as.is(base::unescape_octal(line.substr(0, line.find_first_of(" \t"))), {}))
        out_.push_back({device + " is swap space", DiskUse::Sort::kSwap});
    }
    return keeps_path;
  }

  [[nodiscard]] bool has_other_path(const std::string& holder) const {
    FirstError ignored;
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
  const std::filesystem::path &sysfs_, &proc_, &udev_;
  std::vector<Mount> mounts_;  ///< the host's first
  std::set<std::pair<std::string, std::string>>
      elsewhere_;  ///< numbers and sources of those in other namespaces
  std::vector<Offer> offers_;
  std::vector<std::string> swaps_;
  std::vector<DiskUse> out_;
  std::map<std::string, std::string> btrfs_;  ///< UUIDs of all that are mounted, by device: "sdb1"
  std::map<std::string, std::vector<Mount>> btrfs_points_;  ///< mounts of each, by UUID
  std::set<std::string> holders_;                           ///< those looked at
  std::multimap<std::string, std::string> loops_;  ///< by what is behind them: "/dev/sdb" → "loop0"
};

}  // namespace

std::vector<DiskUse> uses_of(const std::set<std::string>& disks, const std::filesystem::path& sysfs,
                             const std::filesystem::path& proc, const std::filesystem::path& udev) {
  return disks.empty() ? std::vector<DiskUse>{} : DiskUses(disks, sysfs, proc, udev).list_uses();
}

}  // namespace rdmacfg::system::detail
