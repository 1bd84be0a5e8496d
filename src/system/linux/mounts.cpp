// SPDX-License-Identifier: Apache-2.0
#include "system/linux/mounts.hpp"

#include <mntent.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>

namespace rdmacfg::system::detail {

namespace {

/// Whether `inner` is `outer`, or below it.
bool within(const std::filesystem::path& inner, const std::filesystem::path& outer) {
  const auto ends = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  return ends.first == outer.end();
}

struct MountedAs {
  std::string type;
  bool read_only = false;
};

/// How the file system is mounted that a folder lies on: the last one that is mounted there or on the nearest
/// folder above it.
MountedAs mount_of(const std::filesystem::path& table, const std::filesystem::path& folder) {
  constexpr std::size_t kLine = 8192;  // options of overlay file systems are long
  MountedAs out;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(::setmntent(table.c_str(), "re"), ::endmntent);
  if (!file) return out;
  std::filesystem::path nearest;
  mntent entry{};
  std::array<char, kLine> text{};
  while (::getmntent_r(file.get(), &entry, text.data(), static_cast<int>(text.size())) != nullptr) {
    const std::filesystem::path mounted = entry.mnt_dir;
    if (!within(folder, mounted) || !within(mounted, nearest)) continue;
    nearest = mounted;
    out = {entry.mnt_type, ::hasmntopt(&entry, "ro") != nullptr};
  }
  return out;
}

}  // namespace

bool mounted_read_only(const std::filesystem::path& table, const std::filesystem::path& folder) {
  return mount_of(table, folder).read_only;
}

bool awaits_mount(const std::filesystem::path& table, const std::filesystem::path& folder) {
  return mount_of(table, folder).type == "autofs";
}

}  // namespace rdmacfg::system::detail
