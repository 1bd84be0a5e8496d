// SPDX-License-Identifier: Apache-2.0
// A user of a disk that a session or controller leads to.
#pragma once

#include <string>
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

/// Their texts for people.
inline std::vector<std::string> use_texts(const std::vector<DiskUse>& uses) {
  std::vector<std::string> out;
  out.reserve(uses.size());
  for (const auto& use : uses) out.push_back(use.text);
  return out;
}

}  // namespace rdmacfg::system
