// SPDX-License-Identifier: Apache-2.0
// A user of a disk that a session or controller leads to, and mounts that are none.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace rdmacfg::system {

struct DiskUse {
  enum class Sort {
    kOther,
    kMount,  ///< in the host's mount namespace
    kBtrfs,  ///< one of several devices of a btrfs that is mounted, which no mount names
    kPool,   ///< of ZFS, imported
    kSwap,
  };
  std::string text;  ///< for people: "/dev/sdb1 is mounted on /scratch"
  Sort sort = Sort::kOther;
  std::string name{};  ///< of kMount the mount point, of kPool the pool

  bool operator==(const DiskUse&) const = default;
};

/// Whether a program provides the file system; "user_id" among its options is the user who mounted it.
inline bool is_fuse(std::string_view type) { return type == "fuse" || type.starts_with("fuse."); }

/// Whether every user may mount such a file system in a namespace of their own, with any text as its source
/// (FS_USERNS_MOUNT in Linux; FUSE as well). No disk is behind it.
inline bool anybody_may_mount(std::string_view type) {
  constexpr std::array<std::string_view, 11> kTypes{"tmpfs",   "ramfs",  "overlay",    "proc",
                                                    "sysfs",   "devpts", "mqueue",     "cgroup",
                                                    "cgroup2", "bpf",    "binfmt_misc"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

/// Their texts for people.
inline std::vector<std::string> use_texts(const std::vector<DiskUse>& uses) {
  std::vector<std::string> out;
  out.reserve(uses.size());
  for (const auto& use : uses) out.push_back(use.text);
  return out;
}

}  // namespace rdmacfg::system
